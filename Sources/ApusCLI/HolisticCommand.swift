// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus holistic`: one person's body, hands and face.
struct HolisticCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "holistic", abstract: "Finds the body, the hands and the face of one person in pictures.",
    discussion: """
      For example:
        apus holistic dancer.jpg --model holistic_landmarker.task \\
          --annotate person.png
      Instead of a bundle, each model can be given: --detector, --landmarks (of the
      body), --hand, --hand-region, --face-detector and --face.
      """)

  @OptionGroup var pictures: PictureOptions

  @OptionGroup var models: BundleOptions

  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds the points of a hand.")
  var hand: String?

  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds the region of a hand.")
  var handRegion: String?

  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds faces.")
  var faceDetector: String?

  @Option(name: .long, help: "Beside --landmarks: the .tflite model that finds the points of a face.")
  var face: String?

  @Flag(help: "The pictures are the frames of one video: the person is tracked from one to the next.")
  var frames = false

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: RegionInputOptions

  func validate() throws {
    let others = [hand, handRegion, faceDetector, face]
    if models.model != nil, others.contains(where: { $0 != nil }) {
      throw ValidationError("--model excludes --hand, --hand-region, --face-detector and --face")
    }
    if models.model == nil, others.contains(where: { $0 == nil }) {
      throw ValidationError(
        "models are missing: --model, or --detector, --landmarks, --hand, --hand-region, --face-detector and --face"
      )
    }
  }

  func run() throws {
    var options = HolisticLandmarker.Options()
    let sources = try pictures.sources()
    options.interpreter = try input.interpreterOptions(pictures: sources.count)
    let landmarker = try HolisticLandmarker(taskModels, options: options)
    let (region, isVideo) = (input.region, frames)
    let tracker = HolisticTracker(landmarker)
    try PictureRunner(
      sources: sources, options: pictures, annotations: try annotation.files(for: sources),
      annotationFolder: annotation.annotateDir, assumptions: { landmarker.assumptions },
      // Frames are processed in their order.
      isUndecided: { isVideo },
      answer: { image throws(ApusError) in
        isVideo
          ? try tracker.answer(image, in: region, cancellation: nil)
          : try landmarker.detect(image, in: region)
      }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(person: result) }
    ).run()
  }

  private var taskModels: HolisticLandmarker.Models {
    get throws(ApusError) {
      guard let (detector, landmarks) = try models.pair, let hand, let handRegion, let faceDetector, let face
      else { return try HolisticLandmarker.Models(TaskBundle(contentsOfFile: models.bundle)) }
      return HolisticLandmarker.Models(
        personDetector: detector, pose: landmarks, hand: try Model(contentsOfFile: hand),
        handRegion: try Model(contentsOfFile: handRegion),
        faceDetector: try Model(contentsOfFile: faceDetector), face: try Model(contentsOfFile: face))
    }
  }

  private static func text(_ result: HolisticResult) -> String {
    guard let pose = result.pose else { return "nobody" }
    func part(_ name: String, _ score: Float?) -> [String] {
      [name, score.map { decimal(Double($0), 3) } ?? "not found"]
    }
    return "1 person\n"
      + table(
        [
          ["  part", "score"], part("  body", pose.score), part("  left hand", result.leftHand?.score),
          part("  right hand", result.rightHand?.score), part("  face", result.face?.score),
        ], rightAligned: [1]) + "\n" + landmarkTable(pose.landmarks)
  }
}
