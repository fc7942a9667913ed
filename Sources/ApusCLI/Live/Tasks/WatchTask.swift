// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// The tasks of `apus watch`.
///
/// A new task is a case, a function that makes its ``Finder`` in a file of its own, and a line in ``finder(_:)``.
enum WatchTask: String, CaseIterable, ExpressibleByArgument {
  case detect, classify, faces, segment, keypoints, hands
  case faceMesh = "face-mesh"
  case pose, holistic

  /// The tasks of several models, which follow what they found from frame to frame.
  static let withLandmarks: Set<WatchTask> = [.hands, .faceMesh, .pose, .holistic]

  /// A task with its model.
  struct Finder {
    /// Warnings about the task so far.
    let warnings: TaskWarnings
    /// Looks at a frame, which is shown at a time in seconds.
    let find: (_ picture: ImageBuffer, _ time: Double) throws(ApusError) -> WatchFinding

    /// Makes a finder of a task, whose warnings it has.
    init(
      _ task: some VisionTask,
      find: @escaping (_ picture: ImageBuffer, _ time: Double) throws(ApusError) -> WatchFinding
    ) {
      warnings = TaskWarnings { task.assumptions.warnings }
      self.find = find
    }
  }

  /// Whether the task finds objects with boxes, which can be followed and counted.
  var findsObjects: Bool { self != .classify && self != .segment }

  /// Whether a model must be given: none is embedded, and it is one file.
  var needsModel: Bool { self != .detect && !Self.withLandmarks.contains(self) }

  /// The finder that looks at frames with the model that the command names.
  ///
  /// - Throws: If the model cannot be read, or does not do the task.
  func finder(_ command: WatchCommand) throws -> Finder {
    // The command has refused a missing model, if the task needs one.
    let file = command.model ?? ""
    return switch self {
    case .detect: try detectFinder(command.model, command)
    case .classify: try classifyFinder(file, command)
    case .faces: try facesFinder(file, command)
    case .segment: try segmentFinder(file, command)
    case .keypoints: try keypointsFinder(file, command)
    case .hands: try handsFinder(command)
    case .faceMesh: try faceMeshFinder(command)
    case .pose: try poseFinder(command)
    case .holistic: try holisticFinder(command)
    }
  }

  /// How often a task's model is used, as limits count it: the frames of a source have no end, and are limited as two are.
  static let pictures = 2
}
