// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

extension WatchTask {
  func handsFinder(_ command: WatchCommand) throws -> Finder {
    let (choices, models) = (command.detectorOptions, command.landmarks)
    var options = HandLandmarker.Options()
    options.interpreter = try interpreterOptions(command)
    options.maxHands = choices.maxResults ?? options.maxHands
    options.minDetectionConfidence = models.detectionThreshold ?? options.minDetectionConfidence
    options.minPresenceConfidence = choices.scoreThreshold ?? options.minPresenceConfidence
    options.minTrackingConfidence = models.trackingThreshold ?? options.minTrackingConfidence
    if let gallery = models.gallery {
      var gestures = try GestureModel.classifier(ofFile: gallery)
      gestures.maximumDistance = models.distance
      options.gestures = gestures
    }
    let landmarker =
      if let (detector, landmarks) = try models.pair {
        try HandLandmarker(detector: detector, landmarks: landmarks, options: options)
      } else {
        try HandLandmarker(modelFile: command.model ?? "", options: options)
      }
    return try follow(landmarker, command) { hand in
      // Tracks and counts are of hands, whichever they are; people see more.
      let side = "\(hand.handedness.rawValue.lowercased()) hand"
      return Category(
        index: 0, score: hand.score, label: "hand",
        displayName: hand.gesture.map { "\(side): \($0.name ?? "unknown")" } ?? side)
    } draw: { picture, result throws(ApusError) in
      try picture.drawing(hands: result.hands)
    }
  }
}
