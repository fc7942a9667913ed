// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

extension WatchTask {
  func faceMeshFinder(_ command: WatchCommand) throws -> Finder {
    let (choices, models) = (command.detectorOptions, command.landmarks)
    var options = FaceLandmarker.Options()
    options.interpreter = try interpreterOptions(command)
    options.maxFaces = choices.maxResults ?? options.maxFaces
    options.minDetectionConfidence = models.detectionThreshold ?? options.minDetectionConfidence
    options.minPresenceConfidence = choices.scoreThreshold ?? options.minPresenceConfidence
    options.maximumOverlap = choices.iouThreshold ?? options.maximumOverlap
    options.minTrackingConfidence = models.trackingThreshold ?? options.minTrackingConfidence
    let landmarker =
      if let (detector, landmarks) = try models.pair {
        try FaceLandmarker(
          detector: detector, landmarks: landmarks,
          blendshapes: models.blendshapes.map { try Model(contentsOfFile: $0) }, options: options)
      } else {
        try FaceLandmarker(modelFile: command.model ?? "", options: options)
      }
    return try follow(landmarker, command) { face in
      Category(index: 0, score: face.score, label: "face")
    } draw: { picture, result throws(ApusError) in
      try picture.drawing(faceMeshes: result.faces)
    }
  }
}
