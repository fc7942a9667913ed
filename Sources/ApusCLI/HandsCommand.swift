// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus hands`: hands with their points.
struct HandsCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "hands", abstract: "Finds hands and their 21 points in pictures.",
    discussion: """
      For example:
        apus hands wave.jpg --model hand_landmarker.task --annotate hands.png
        apus hands frames --detector palm.tflite --landmarks hand.tflite --fps 30
        apus gallery add victory v1.jpg v2.jpg --gallery signs.gallery \\
          --hands hand_landmarker.task
        apus hands wave.jpg --model hand_landmarker.task \\
          --gallery signs.gallery --distance 0.4
      Of a bundle of MediaPipe's GestureRecognizer, only the models of hands are used:
      --gallery names gestures by examples of your own.
      """)

  @OptionGroup var pictures: PictureOptions

  @OptionGroup var models: BundleOptions

  @Option(name: .long, help: "The maximum number of hands.")
  var maxResults = 2

  @Option(name: .long, help: "The minimum score of a palm.")
  var detectionThreshold: Float = 0.5

  @Option(name: .long, help: "The minimum score of a hand.")
  var scoreThreshold: Float = 0.5

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The direction of the middle finger in a palm's region, in degrees; 5156.62 gives the results of MediaPipe's HandLandmarker, which states 90 in radians.",
      valueName: "DEGREES"))
  var palmAngle: Float = 90

  @Option(
    name: .long,
    help: "A gallery of gestures, made with apus gallery add --hands: each hand gets the nearest one's name.")
  var gallery: String?

  @Option(name: .long, help: "With --gallery, the distance beyond which a gesture is unknown.")
  var distance: Double?

  @OptionGroup var frames: FrameOptions

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: RegionInputOptions

  func validate() throws {
    guard let distance else { return }
    if gallery == nil { throw ValidationError("--distance is for gestures: --gallery is missing") }
    if !(distance >= 0) { throw ValidationError("--distance is \(distance), not 0 or more") }
  }

  func run() throws {
    var options = HandLandmarker.Options()
    options.maxHands = maxResults
    options.minDetectionConfidence = detectionThreshold
    options.minPresenceConfidence = scoreThreshold
    if let threshold = frames.trackingThreshold { options.minTrackingConfidence = threshold }
    options.palmAngle = palmAngle
    if let gallery {
      var gestures = try GestureModel.classifier(ofFile: gallery)
      gestures.maximumDistance = distance
      options.gestures = gestures
    }
    let sources = try pictures.sources(areFrames: frames.fps != nil)
    options.interpreter = try input.interpreterOptions(pictures: sources.count)
    let landmarker =
      if let (detector, landmarks) = try models.pair {
        try HandLandmarker(detector: detector, landmarks: landmarks, options: options)
      } else {
        try HandLandmarker(modelFile: models.bundle, options: options)
      }
    try LandmarkRunner(
      task: landmarker, sources: sources, pictures: pictures, frames: frames, annotation: annotation,
      input: input, isUndecided: { landmarker.isUndecided }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(hands: result.hands) }
    ).run()
  }

  private static func text(_ result: HandLandmarkResult) -> String {
    let title = "\(result.hands.count) \(result.hands.count == 1 ? "hand" : "hands")"
    return ([title] + result.hands.map(text)).joined(separator: "\n")
  }

  private static func text(_ hand: Hand) -> String {
    let title =
      "\(hand.handedness.rawValue.lowercased()) hand, score \(decimal(Double(hand.score), 3)), "
      + "side \(decimal(Double(hand.handednessScore), 3))"
      + (hand.gesture.map { ", \(oneLine($0.name ?? "unknown")) (\(decimal($0.distance, 3)))" } ?? "")
    return title + "\n" + landmarkTable(hand.landmarks)
  }
}
