// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus face-mesh`: faces with the points of a mesh.
struct FaceMeshCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "face-mesh", abstract: "Finds faces and the 468 or 478 points of a mesh over them.",
    discussion: """
      For example:
        apus face-mesh portrait.jpg --model face_landmarker.task --annotate mesh.png
        apus face-mesh frames --detector blazeface.tflite --landmarks mesh.tflite --fps 30
      """)

  @OptionGroup var pictures: PictureOptions

  @OptionGroup var models: BundleOptions

  @Option(name: .long, help: "Beside --landmarks: the .tflite model of expressions.")
  var blendshapes: String?

  @Option(name: .long, help: "The maximum number of faces.")
  var maxResults = 1

  @Option(name: .long, help: "The minimum score of a detected face.")
  var detectionThreshold: Float = 0.5

  @Option(name: .long, help: "The minimum score of a face in its region.")
  var scoreThreshold: Float = 0.5

  @Option(
    name: .long,
    help:
      "The overlap above which detected boxes are one face; 0.3 gives the results of mp.solutions.face_mesh.")
  var iouThreshold: Float = 0.5

  @OptionGroup var frames: FrameOptions

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: RegionInputOptions

  func validate() throws {
    if blendshapes != nil, models.model != nil {
      throw ValidationError("--model has the blendshapes: it excludes --blendshapes")
    }
  }

  func run() throws {
    var options = FaceLandmarker.Options()
    options.maxFaces = maxResults
    options.minDetectionConfidence = detectionThreshold
    options.minPresenceConfidence = scoreThreshold
    options.maximumOverlap = iouThreshold
    if let threshold = frames.trackingThreshold { options.minTrackingConfidence = threshold }
    let sources = try pictures.sources(areFrames: frames.fps != nil)
    options.interpreter = try input.interpreterOptions(pictures: sources.count)
    let landmarker =
      if let (detector, landmarks) = try models.pair {
        try FaceLandmarker(
          detector: detector, landmarks: landmarks,
          blendshapes: blendshapes.map { try Model(contentsOfFile: $0) }, options: options)
      } else {
        try FaceLandmarker(modelFile: models.bundle, options: options)
      }
    try LandmarkRunner(
      task: landmarker, sources: sources, pictures: pictures, frames: frames, annotation: annotation,
      input: input, isUndecided: { landmarker.isUndecided }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(faceMeshes: result.faces) }
    ).run()
  }

  private static func text(_ result: FaceMeshResult) -> String {
    let title = "\(result.faces.count) \(result.faces.count == 1 ? "face" : "faces")"
    return ([title] + result.faces.map(text)).joined(separator: "\n")
  }

  /// Hundreds of points are for programs: people see where the face is, and its expressions.
  private static func text(_ face: FaceMesh) -> String {
    let region = face.region
    let numbers = [region.center.x, region.center.y, region.width].map { decimal(Double($0), 1) }
    var lines = [
      "face, score \(decimal(Double(face.score), 3)), \(face.landmarks.count) points around (\(numbers[0]), \(numbers[1])) "
        + "in a square of \(numbers[2])"
    ]
    if let matrix = face.matrix, matrix.count == 16 {
      let place = [3, 7, 11].map { decimal(Double(matrix[$0]), 1) }.joined(separator: ", ")
      lines.append("  head at (\(place)) cm from the camera")
    }
    let expressions = face.blendshapes.dropFirst().filter { $0.score >= 0.1 }.sorted { $0.score > $1.score }
    if !expressions.isEmpty {
      lines.append(
        table(
          [["  expression", "score"]] + expressions.map { ["  " + $0.name, decimal(Double($0.score), 3)] },
          rightAligned: [1]))
    }
    return lines.joined(separator: "\n")
  }
}
