// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

/// How encoded pictures become the elements of a model's input.
enum PictureReading: Sendable {
  /// As the task does it that the model is for.
  case task(PictureInput)
  /// As the file alone says: no task takes the model.
  case file

  /// The tasks in the order in which they are tried: those that recognize their models come before those that take any.
  private static let tasks: [VisionTaskKind] = [
    .faces, .detect, .keypoints, .segment, .classify, .embed, .transform,
  ]

  /// Finds the task of a model. That takes as long as preparing the model for each of the tasks.
  ///
  /// - Throws: What says nothing about the model, such as `resourceLimit` where the system refuses memory.
  init(of instance: ModelInstance) throws(ApusError) {
    for kind in Self.tasks {
      do throws(ApusError) {
        guard let input = try PreparedTask(kind, on: instance, settings: .init()).input else { continue }
        self = .task(input)
        return
      } catch {
        if [.resourceLimit, .cancelled].contains(error.code) { throw error }
      }
    }
    self = .file
  }
}
