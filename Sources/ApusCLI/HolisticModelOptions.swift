// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// The models that a person's hands and face need beside those of the body.
struct HolisticModelOptions: ParsableArguments {
  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds the points of a hand.")
  var hand: String?

  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds the region of a hand.")
  var handRegion: String?

  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds faces.")
  var faceDetector: String?

  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds the points of a face.")
  var face: String?

  /// The first option that is given.
  var given: String? {
    let all = [
      ("--hand", hand), ("--hand-region", handRegion), ("--face-detector", faceDetector), ("--face", face),
    ]
    return all.first { $0.1 != nil }?.0
  }

  /// Throws wrong usage unless there is a bundle alone, or every model.
  func check(bundle: String?) throws {
    if bundle != nil, given != nil {
      throw ValidationError("--model excludes --hand, --hand-region, --face-detector and --face")
    }
    if bundle == nil, [hand, handRegion, faceDetector, face].contains(where: { $0 == nil }) {
      throw ValidationError(
        "models are missing: --model, or --detector, --landmarks, --hand, --hand-region, --face-detector and --face"
      )
    }
  }

  /// The models of a bundle, or those of the options together with the body's.
  func models(bundle: String, body: (detector: Model, landmarks: Model)?) throws(ApusError)
    -> HolisticLandmarker.Models
  {
    guard let body, let hand, let handRegion, let faceDetector, let face else {
      return try HolisticLandmarker.Models(TaskBundle(contentsOfFile: bundle))
    }
    return HolisticLandmarker.Models(
      personDetector: body.detector, pose: body.landmarks, hand: try Model(contentsOfFile: hand),
      handRegion: try Model(contentsOfFile: handRegion),
      faceDetector: try Model(contentsOfFile: faceDetector), face: try Model(contentsOfFile: face))
  }
}
