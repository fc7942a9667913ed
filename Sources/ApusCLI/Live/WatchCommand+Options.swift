// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// An option of `apus watch` that only some tasks read.
struct WatchTaskOption {
  let name: String
  let isGiven: Bool
  let tasks: Set<WatchTask>

  init(_ name: String, _ isGiven: Bool, for tasks: Set<WatchTask>) {
    self.name = name
    self.isGiven = isGiven
    self.tasks = tasks
  }
}

extension WatchCommand {
  /// Throws wrong usage for an option that the task does not read: it would change nothing.
  func checkOptionsOfTasks() throws {
    for option in optionsOfOneModel + landmarks.optionsOfTasks
    where option.isGiven && !option.tasks.contains(task) {
      let names = WatchTask.allCases.filter(option.tasks.contains).map(\.rawValue).joined(separator: ", ")
      throw ValidationError("\(option.name) is for --task \(names), not for \(task.rawValue)")
    }
  }

  /// The options that single models share, and the tasks that read them.
  private var optionsOfOneModel: [WatchTaskOption] {
    let (choices, classes) = (detectorOptions, detectorOptions.categories)
    let all = Set(WatchTask.allCases)
    let ofOneModel = all.subtracting(WatchTask.withLandmarks)
    return [
      WatchTaskOption("--labels", classes.labels != nil, for: [.detect, .classify, .segment]),
      WatchTaskOption("--label-offset", classes.labelOffset != nil, for: [.detect, .classify]),
      WatchTaskOption("--locale", classes.locale != nil, for: [.detect, .classify]),
      WatchTaskOption("--allow", !classes.allow.isEmpty, for: [.detect, .classify]),
      WatchTaskOption("--deny", !classes.deny.isEmpty, for: [.detect, .classify]),
      WatchTaskOption("--score-threshold", choices.scoreThreshold != nil, for: all.subtracting([.segment])),
      // Holistic finds one person.
      WatchTaskOption(
        "--max-results", choices.maxResults != nil, for: all.subtracting([.segment, .holistic])),
      WatchTaskOption("--iou-threshold", choices.iouThreshold != nil, for: [.detect, .faces, .faceMesh]),
      WatchTaskOption("--class-agnostic", choices.classAgnostic, for: [.detect]),
      WatchTaskOption("--multi-label", choices.multiLabel, for: [.detect]),
      WatchTaskOption("--layout", choices.layout != nil, for: [.detect, .keypoints]),
      WatchTaskOption("--scores", choices.scores.scores != nil, for: ofOneModel),
      WatchTaskOption("--box-units", choices.units.boxUnits != nil, for: [.detect, .keypoints]),
      WatchTaskOption("--candidates", choices.units.candidates != nil, for: [.detect, .keypoints]),
      WatchTaskOption("--anchors", choices.anchors.anchors != nil, for: [.detect]),
      WatchTaskOption("--keypoints", pose.keypoints != nil, for: [.keypoints]),
      WatchTaskOption(input.givenForModel ?? "--fit", input.givenForModel != nil, for: ofOneModel),
    ]
  }
}
