// SPDX-License-Identifier: Apache-2.0
extension WatchCommand {
  /// Throws wrong usage for an option that the task does not read: it would change nothing.
  func checkOptionsOfTasks() throws {
    for option in optionsOfOneModel + landmarks.optionsOfTasks { try option.check(task) }
  }

  /// The options that single models share, and the tasks that read them.
  private var optionsOfOneModel: [TaskOption<WatchTask>] {
    let (choices, classes) = (detectorOptions, detectorOptions.categories)
    let all = Set(WatchTask.allCases)
    let ofOneModel = all.subtracting(WatchTask.withLandmarks)
    return [
      TaskOption("--labels", classes.labels != nil, for: [.detect, .classify, .segment]),
      TaskOption("--label-offset", classes.labelOffset != nil, for: [.detect, .classify]),
      TaskOption("--locale", classes.locale != nil, for: [.detect, .classify]),
      TaskOption("--allow", !classes.allow.isEmpty, for: [.detect, .classify]),
      TaskOption("--deny", !classes.deny.isEmpty, for: [.detect, .classify]),
      TaskOption("--score-threshold", choices.scoreThreshold != nil, for: all.subtracting([.segment])),
      // Holistic finds one person.
      TaskOption(
        "--max-results", choices.maxResults != nil, for: all.subtracting([.segment, .holistic])),
      TaskOption(
        "--iou-threshold", choices.iouThreshold != nil, for: [.detect, .keypoints, .faces, .faceMesh]),
      TaskOption("--class-agnostic", choices.classAgnostic, for: [.detect]),
      TaskOption("--multi-label", choices.multiLabel, for: [.detect]),
      TaskOption("--layout", choices.layout != nil, for: [.detect, .keypoints]),
      TaskOption("--scores", choices.scores.scores != nil, for: ofOneModel),
      TaskOption("--box-units", choices.units.boxUnits != nil, for: [.detect, .keypoints]),
      TaskOption("--candidates", choices.units.candidates != nil, for: [.detect, .keypoints]),
      TaskOption("--anchors", choices.anchors.anchors != nil, for: [.detect]),
      TaskOption("--output-index", mask.outputIndex != nil, for: [.segment]),
      TaskOption("--box-order", choices.order.boxOrder != nil, for: [.detect]),
      TaskOption("--keypoints", pose.keypoints != nil, for: [.keypoints]),
      TaskOption(input.givenForModel ?? "--fit", input.givenForModel != nil, for: ofOneModel),
    ]
  }
}
