// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

extension WatchTask {
  func poseFinder(_ command: WatchCommand) throws -> Finder {
    let (choices, models) = (command.detectorOptions, command.landmarks)
    var options = PoseLandmarker.Options()
    options.interpreter = try interpreterOptions(command)
    options.maxPoses = choices.maxResults ?? options.maxPoses
    options.minDetectionConfidence = models.detectionThreshold ?? options.minDetectionConfidence
    options.minPresenceConfidence = choices.scoreThreshold ?? options.minPresenceConfidence
    options.minTrackingConfidence = models.trackingThreshold ?? options.minTrackingConfidence
    let landmarker =
      if let (detector, landmarks) = try models.pair {
        try PoseLandmarker(detector: detector, landmarks: landmarks, options: options)
      } else {
        try PoseLandmarker(modelFile: command.model ?? "", options: options)
      }
    return try follow(landmarker, command) { pose in
      Category(index: 0, score: pose.score, label: "person")
    } draw: { picture, result throws(ApusError) in
      try picture.drawing(bodies: result.poses)
    }
  }
}
