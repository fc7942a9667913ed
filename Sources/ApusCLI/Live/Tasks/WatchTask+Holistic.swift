// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

extension WatchTask {
  func holisticFinder(_ command: WatchCommand) throws -> Finder {
    let (choices, models) = (command.detectorOptions, command.landmarks)
    var options = HolisticLandmarker.Options()
    options.interpreter = try interpreterOptions(command)
    options.minPoseDetectionConfidence = models.detectionThreshold ?? options.minPoseDetectionConfidence
    options.minPosePresenceConfidence = choices.scoreThreshold ?? options.minPosePresenceConfidence
    let region = try command.input.regionRect
    let tracker = HolisticTracker(
      try HolisticLandmarker(
        models.others.models(bundle: command.model ?? "", body: models.pair), options: options),
      smoothing: models.smoothing(for: self))
    return Finder(tracker) { picture, time throws(ApusError) in
      let result = try tracker.track(picture, at: time, in: region)
      let person = result.pose.flatMap { pose in
        Self.detection(
          Category(index: 0, score: pose.score, label: "person"), around: pose.landmarks,
          width: result.imageWidth, height: result.imageHeight)
      }
      return WatchFinding(
        detections: person.map { [$0] } ?? [], result: result, timings: result.timings
      ) { picture throws(ApusError) in try picture.drawing(person: result) }
    }
  }
}
