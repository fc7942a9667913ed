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
  init(of instance: ModelInstance) {
    for kind in Self.tasks {
      if let task = try? PreparedTask(kind, on: instance, settings: .init()), let input = task.input {
        self = .task(input)
        return
      }
    }
    self = .file
  }
}
