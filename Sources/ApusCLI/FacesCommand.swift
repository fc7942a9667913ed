// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import FoundationEssentials
import Synchronization

/// `apus faces`: faces with eyes, nose, mouth and ears.
struct FacesCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "faces", abstract: "Finds faces in pictures.",
    discussion: """
      For example:
        apus faces team.jpg --model blazeface.tflite --annotate found.png
        apus faces photos --model blazeface.tflite --align-dir faces --json
      """)

  @OptionGroup var pictures: PictureOptions

  @Option(name: .long, help: "The .tflite model: BlazeFace for short or full range, or the back camera.")
  var model: String

  @Option(name: .long, help: "The minimum score.")
  var scoreThreshold: Float = 0.5

  @Option(name: .long, help: "The overlap above which candidates are one face.")
  var iouThreshold: Float = 0.3

  @Option(name: .long, help: "The maximum number of faces; by default all.")
  var maxResults: Int?

  @Option(name: .long, help: "The folder to write each face to, upright and centered, as .png.")
  var alignDir: String?

  @Option(name: .long, help: "The side of aligned faces, in pixels; 112.")
  var alignSize: Int?

  @OptionGroup var scores: ScoreOptions

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var input: ModelInputOptions

  func validate() throws {
    if let alignSize {
      guard (8...4096).contains(alignSize) else {
        throw ValidationError("--align-size is \(alignSize), not 8 to 4096")
      }
      if alignDir == nil { throw ValidationError("--align-size is for faces: --align-dir is missing") }
    }
    if input.reduced, alignDir != nil {
      throw ValidationError("--reduced excludes --align-dir: faces are cut out of every pixel")
    }
  }

  func run() throws {
    let sources = try pictures.sources()
    let files = try annotation.files(for: sources)
    let stems = alignDir == nil ? [] : AnnotationOptions.stems(of: sources)
    try sources.protect(fromFilesIn: alignDir, stems: stems, of: "--align-dir")
    try AnnotationOptions.check(files, apartFromFilesIn: alignDir, stems: stems, of: "--align-dir")
    let region = try input.regionRect
    var options = FaceDetector.Options(baseOptions: try input.baseOptions(pictures: sources.count))
    options.scores = scores.scores
    options.minDetectionConfidence = scoreThreshold
    options.maximumOverlap = iouThreshold
    options.maxResults = maxResults
    let detector = try FaceDetector(model: Model(contentsOfFile: model), options: options)
    if let alignDir {
      do {
        try FileManager.default.createDirectory(atPath: alignDir, withIntermediateDirectories: true)
      } catch {
        throw ApusError(.unwritableFile, "cannot make the folder '\(alignDir)'")
      }
    }
    let size = alignSize ?? 112
    let limits = input.limits
    try PictureRunner(
      sources: sources, options: pictures, annotations: files, annotationFolder: annotation.annotateDir,
      reduction: input.reduction(for: detector), copiesPicture: alignDir != nil,
      warnings: TaskWarnings { detector.assumptions.warnings }, isUndecided: { detector.isUndecided },
      answer: { image, _ throws(ApusError) in try detector.detect(image, in: region) }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(faces: result.faces) },
      finish: { place, image, result throws(ApusError) in
        guard let alignDir, !result.faces.isEmpty else { return }
        // Once, rather than for each face.
        let picture = image.oriented().converted(to: .rgb)
        let watch = limits.time.watch("aligning \(result.faces.count) faces", isShared: stems.count > 1)
        for (number, face) in result.faces.enumerated() {
          try watch()
          guard let aligned = face.aligned(in: picture, size: size) else { continue }
          try aligned.write(toFile: "\(alignDir)/\(stems[place])-\(number).png")
        }
      }
    ).run()
  }

  private static func text(_ result: FaceDetectionResult) -> String {
    let title = "\(result.faces.count) \(result.faces.count == 1 ? "face" : "faces")"
    if result.faces.isEmpty { return title }
    var rows = [["score", "x", "y", "width", "height"]]
    rows += result.faces.map { face in
      [decimal(Double(face.score), 3)]
        + [face.rect.x, face.rect.y, face.rect.width, face.rect.height].map { decimal(Double($0), 1) }
    }
    return title + "\n" + table(rows, rightAligned: [0, 1, 2, 3, 4])
  }
}
