// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import FoundationEssentials

/// `apus segment`: the class of every pixel.
struct SegmentCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "segment", abstract: "Says what each pixel of pictures shows.",
    discussion: """
      A mask has the picture's size and a class index for each pixel, as 8-bit gray
      .png or as uint8 .npy. Models that may have more than 256 classes, which is
      also so where the file does not say how many, give 16-bit gray and uint16.
      Shares are those of the pixels that the model saw; with --region, the rest of
      the mask has the class of the region's edge.

      For example:
        apus segment street.jpg --model deeplabv3.tflite --annotate overlay.png
        apus segment photos --model selfie.tflite --output-dir masks --json
      """)

  @OptionGroup var pictures: PictureOptions

  @Option(name: .long, help: "The .tflite segmenter.")
  var model: String

  @Option(name: .long, help: "The label file; without it, the labels inside the model.")
  var labels: String?

  @Option(name: .long, help: "Where to write the mask, for one picture: .png or .npy.")
  var output: String?

  @Option(name: .long, help: "The folder to write the mask of every picture to, as .png.")
  var outputDir: String?

  @Flag(
    help: """
      The pictures are those of one video, those of a folder in the order of the numbers in their names: models that take the mask before \
      get it.
      """)
  var video = false

  @OptionGroup var annotation: AnnotationOptions

  @OptionGroup var mask: MaskOptions

  @OptionGroup var scores: ScoreOptions

  @OptionGroup var input: ModelInputOptions

  func validate() throws {
    try ValidationError.check(output: output, endings: [".png", ".npy"])
    if output != nil, outputDir != nil {
      throw ValidationError("--output and --output-dir exclude each other")
    }
  }

  func run() throws {
    let sources = try pictures.sources(areFrames: video)
    let files = try annotation.files(for: sources)
    if output != nil, sources.count != 1 {
      throw ValidationError("--output takes one picture, not \(sources.count); use --output-dir")
    }
    let masks =
      output.map { [$0] } ?? outputDir.map { folder in
        AnnotationOptions.stems(of: sources).map { "\(folder)/\($0).png" }
      } ?? []
    let option = output == nil ? "--output-dir" : "--output"
    try sources.protect(from: masks, of: option)
    if let outputDir { sources.warn(ofReplaced: masks, in: outputDir) }
    try AnnotationOptions.check(files, apartFrom: masks, of: option)
    if let outputDir {
      do {
        try FileManager.default.createDirectory(atPath: outputDir, withIntermediateDirectories: true)
      } catch {
        throw ApusError(.unwritableFile, "cannot make the folder '\(outputDir)'")
      }
    }
    let region = try input.regionRect
    var options = ImageSegmenter.Options(baseOptions: try input.baseOptions(pictures: sources.count))
    options.scores = scores.scores
    options.outputIndex = mask.outputIndex
    let map = try labels.map { path throws(ApusError) in try LabelMap(contentsOfFile: path) }
    let segmenter = try ImageSegmenter(model: Model(contentsOfFile: model), labels: map, options: options)
    let videoSegmenter = VideoSegmenter(segmenter)
    var pictures = pictures
    // Each picture waits for the mask of the one before.
    if video { pictures.jobs = 1 }
    try PictureRunner(
      sources: sources, options: pictures, annotations: files, annotationFolder: annotation.annotateDir,
      outputs: outputDir == nil ? [] : masks, reduction: input.reduction(for: segmenter),
      warnings: TaskWarnings { segmenter.assumptions.warnings },
      answer: { [video] image, _ throws(ApusError) in
        video
          ? try videoSegmenter.answer(image, in: region, cancellation: nil)
          : try segmenter.segment(image, in: region)
      }, text: Self.text,
      draw: { image, result throws(ApusError) in try image.drawing(segmentation: result) },
      finish: { place, _, result throws(ApusError) in
        guard masks.indices.contains(place) else { return }
        try Self.write(result, to: masks[place])
      }
    ).run()
  }

  private static func write(_ result: SegmentationResult, to path: String) throws(ApusError) {
    try writeWholeFile(
      path.lowercased().hasSuffix(".npy") ? result.encodedNumPy() : result.encodedPNG(), to: path)
  }

  private static func text(_ result: SegmentationResult) -> String {
    var rows = [["class", "share"]]
    rows += result.classes.map { [$0.label ?? "class \($0.index)", decimal($0.share * 100, 1) + " %"] }
    let title = "\(result.classes.count) \(result.classes.count == 1 ? "class" : "classes")"
    return title + "\n" + table(rows, rightAligned: [1])
  }
}
