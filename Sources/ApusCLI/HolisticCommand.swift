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

  @OptionGroup var others: HolisticModelOptions

  @Option(name: .long, help: "The minimum score of a detected person.")
  var detectionThreshold: Float = 0.5

  @Option(name: .long, help: "The minimum score of the person's body in a region.")
  var scoreThreshold: Float = 0.5

  @Option(name: .long, help: "The minimum score of a hand in its region.")
  var handThreshold: Float = 0.5

  @Option(name: .long, help: "The minimum score of a detected face, and of a face in its region.")
  var faceThreshold: Float = 0.5

  @Option(
    name: .long,
    help:
      "How many cells a side of a heat map a point is moved to the mean of; 9 gives the results of mp.solutions.holistic."
  )
  var refinementCells = 7

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The pictures are the frames of one video at this rate: the person is tracked from one to the next.",
      valueName: "RATE"))
  var fps: Double?

  @Flag(help: "The pictures are the frames of one video, at 30 a second unless --fps says otherwise.")
  var frames = false

  @Flag(help: "Do not smooth the body's landmarks of frames.")
  var noSmoothing = false

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: RegionInputOptions

  func validate() throws {
    try others.check(bundle: models.model)
    try FrameOptions.check(fps: fps)
    if noSmoothing, !frames, fps == nil {
      throw ValidationError("--no-smoothing is for frames: --fps is missing")
    }
  }

  func run() throws {
    var options = HolisticLandmarker.Options()
    options.minPoseDetectionConfidence = detectionThreshold
    options.minPosePresenceConfidence = scoreThreshold
    options.minHandConfidence = handThreshold
    options.minFaceConfidence = faceThreshold
    options.refinementCells = refinementCells
    let sources = try pictures.sources(areFrames: frames || fps != nil)
    options.interpreter = try input.interpreterOptions(pictures: sources.count)
    let landmarker = try HolisticLandmarker(
      others.models(bundle: models.bundle, body: models.pair), options: options)
    let (region, rate) = (input.region, fps ?? (frames ? 30 : nil))
    let tracker = HolisticTracker(landmarker, smoothing: noSmoothing ? nil : .withRegions)
    try PictureRunner(
      sources: sources, options: pictures, annotations: try annotation.files(for: sources),
      annotationFolder: annotation.annotateDir, warnings: TaskWarnings { landmarker.assumptions.warnings },
      // Frames are processed in their order.
      isUndecided: { rate != nil || landmarker.isUndecided },
      answer: { image, place throws(ApusError) in
        guard let rate else { return try landmarker.detect(image, in: region) }
        return try tracker.track(image, at: Double(place) / rate, in: region)
      }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(person: result) }
    ).run()
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
