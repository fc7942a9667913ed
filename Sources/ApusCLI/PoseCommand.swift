// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import FoundationEssentials

/// `apus pose`: people with the points of their bodies.
struct PoseCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "pose", abstract: "Finds people and 33 points of their bodies in pictures.",
    discussion: """
      For example:
        apus pose dancer.jpg --model pose_landmarker_full.task --annotate pose.png
        apus pose frames --detector person.tflite --landmarks pose.tflite --fps 30
      Models with 17 points, such as MoveNet, are for 'apus keypoints'.
      """)

  @OptionGroup var pictures: PictureOptions

  @OptionGroup var models: BundleOptions

  @Option(name: .long, help: "The maximum number of people.")
  var maxResults = 1

  @Option(name: .long, help: "The minimum score of a detected person.")
  var detectionThreshold: Float = 0.5

  @Option(name: .long, help: "The minimum score of a person in a region.")
  var scoreThreshold: Float = 0.5

  @Option(
    name: .long,
    help: "The overlap above which detected boxes are one person; 0.3 gives the results of mp.solutions.pose."
  )
  var iouThreshold: Float = 0.5

  @Option(
    name: .long,
    help:
      "How many cells a side of a heat map a point is moved to the mean of; 9 gives the results of mp.solutions.pose."
  )
  var refinementCells = 7

  @Option(
    name: .long, help: "Where to write the mask of the person, for one picture: a gray .png of its size.")
  var output: String?

  @Option(name: .long, help: "The folder for the mask of each person: a gray .png of the picture's size.")
  var maskDir: String?

  @OptionGroup var frames: FrameOptions

  @Flag(
    help: "With --fps, smooth also where a person is looked for in the next frame, as mp.solutions.pose does."
  )
  var smoothRegions = false

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: RegionInputOptions

  func validate() throws {
    try ValidationError.check(output: output, endings: [".png"])
    if output != nil, maskDir != nil { throw ValidationError("--output excludes --mask-dir") }
    if output != nil, maxResults != 1 {
      throw ValidationError("--output takes the mask of one person: with --max-results, use --mask-dir")
    }
    if smoothRegions, frames.fps == nil {
      throw ValidationError("--smooth-regions is for frames: --fps is missing")
    }
    if smoothRegions, frames.noSmoothing {
      throw ValidationError("--no-smoothing excludes --smooth-regions")
    }
  }

  func run() throws {
    var options = PoseLandmarker.Options()
    options.maxPoses = maxResults
    options.minDetectionConfidence = detectionThreshold
    options.minPresenceConfidence = scoreThreshold
    options.maximumOverlap = iouThreshold
    if let threshold = frames.trackingThreshold { options.minTrackingConfidence = threshold }
    options.outputsMasks = maskDir != nil || output != nil
    options.refinementCells = refinementCells
    let sources = try pictures.sources(areFrames: frames.fps != nil)
    let stems = maskDir == nil ? [] : AnnotationOptions.stems(of: sources)
    try sources.protect(fromFilesIn: maskDir, stems: stems, of: "--mask-dir")
    if let maskDir {
      try AnnotationOptions.check(
        annotation.files(for: sources), apartFromFilesIn: maskDir, stems: stems, of: "--mask-dir")
    }
    if let output {
      guard sources.count == 1 else {
        throw ValidationError("--output takes one picture, not \(sources.count); use --mask-dir")
      }
      try sources.protect(from: [output], of: "--output")
      try AnnotationOptions.check(annotation.files(for: sources), apartFrom: [output], of: "--output")
    }
    options.interpreter = try input.interpreterOptions(pictures: sources.count)
    let landmarker =
      if let (detector, landmarks) = try models.pair {
        try PoseLandmarker(detector: detector, landmarks: landmarks, options: options)
      } else {
        try PoseLandmarker(modelFile: models.bundle, options: options)
      }
    var runner = LandmarkRunner(
      task: landmarker, sources: sources, pictures: pictures, frames: frames, annotation: annotation,
      input: input, isUndecided: { landmarker.isUndecided }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(bodies: result.poses) })
    if smoothRegions { runner.smoothing = .withRegions }
    if let maskDir {
      do {
        try FileManager.default.createDirectory(atPath: maskDir, withIntermediateDirectories: true)
      } catch {
        throw ApusError(.unwritableFile, "cannot make the folder '\(maskDir)'")
      }
    }
    if options.outputsMasks {
      runner.complete = { [output, maskDir] place, result in
        for number in result.poses.indices where result.poses[number].mask != nil {
          result.poses[number].maskFile = output ?? "\(maskDir ?? ".")/\(stems[place])-\(number).png"
        }
      }
      runner.finish = { [output] _, _, result throws(ApusError) in
        if let output, result.poses.isEmpty {
          Output.writeError("warning: nobody was found, so '\(oneLine(output))' is not written")
        }
        for pose in result.poses {
          if let file = pose.maskFile { try pose.mask?.write(toFile: file) }
        }
      }
    }
    try runner.run()
  }

  private static func text(_ result: PoseLandmarkResult) -> String {
    let title = "\(result.poses.count) \(result.poses.count == 1 ? "person" : "people")"
    return
      ([title]
      + result.poses.map {
        "person, score \(decimal(Double($0.score), 3))\n" + landmarkTable($0.landmarks)
      })
      .joined(separator: "\n")
  }
}
