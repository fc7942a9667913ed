// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import FoundationEssentials

/// `apus transform`: pictures that models make of pictures.
struct TransformCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "transform", abstract: "Turns pictures into pictures, or into depth.",
    discussion: """
      For models of style, super-resolution, deblurring and depth. A .png has 8 bits
      for each color; of one number for each pixel, such as depth, 16 bits from the
      smallest to the largest, which --json prints. A .npy has the model's numbers
      as float32.

      For example:
        apus transform street.jpg --model style.tflite --output out.png --fit-output
        apus transform photos --model depth.tflite --output-dir depths --json
      """)

  @OptionGroup var pictures: PictureOptions

  @Option(name: .long, help: "The .tflite model whose output is a picture or one number for each pixel.")
  var model: String

  @Option(name: .long, help: "Where to write the result, for one picture: .png or .npy.")
  var output: String?

  @Option(name: .long, help: "The folder to write the result of every picture to, as .png.")
  var outputDir: String?

  @Flag(help: "Resize the result to the picture; otherwise it has the size of the model's output.")
  var fitOutput = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "How the model's numbers were made of pixels: unit, signed, raw or MEAN:STD, as --pixels; by default what the model says, or else as its input.",
      valueName: "range"))
  var outputPixels: String?

  @OptionGroup var input: ModelInputOptions

  func validate() throws {
    try ValidationError.check(output: output, endings: [".png", ".npy"])
    if output != nil, outputDir != nil {
      throw ValidationError("--output and --output-dir exclude each other")
    }
    if output == nil, outputDir == nil, !pictures.json {
      throw ValidationError("--output, --output-dir or --json is needed")
    }
    do throws(ApusError) { _ = try outputNormalization } catch {
      throw ValidationError("--output-pixels: \(error.message)")
    }
  }

  private var outputNormalization: Normalization? {
    get throws(ApusError) {
      guard let outputPixels else { return nil }
      return try Normalization(parsing: outputPixels)
    }
  }

  func run() throws {
    let sources = try pictures.sources()
    if output != nil, sources.count != 1 {
      throw ValidationError("--output takes one picture, not \(sources.count); use --output-dir")
    }
    let files =
      output.map { [$0] } ?? outputDir.map { folder in
        AnnotationOptions.stems(of: sources).map { "\(folder)/\($0).png" }
      } ?? []
    try sources.protect(from: files, of: output == nil ? "--output-dir" : "--output")
    if let outputDir { sources.warn(ofReplaced: files, in: outputDir) }
    let region = try input.regionRect
    var options = PictureTransformer.Options(baseOptions: try input.baseOptions(pictures: sources.count))
    options.outputPixels = try outputNormalization
    options.fitsOutput = fitOutput
    let transformer = try PictureTransformer(model: Model(contentsOfFile: model), options: options)
    if let outputDir {
      do {
        try FileManager.default.createDirectory(atPath: outputDir, withIntermediateDirectories: true)
      } catch {
        throw ApusError(.unwritableFile, "cannot make the folder '\(outputDir)'")
      }
    }
    try PictureRunner(
      sources: sources, options: pictures, outputs: outputDir == nil ? [] : files,
      reduction: input.reduction(for: transformer),
      copiesPicture: true,
      warnings: TaskWarnings { transformer.assumptions.warnings },
      answer: { image, _ throws(ApusError) in try transformer.transform(image, in: region) }, text: Self.text,
      finish: { place, _, result throws(ApusError) in
        guard files.indices.contains(place) else { return }
        try Self.write(result, to: files[place])
      }
    ).run()
  }

  private static func write(_ result: TransformedPicture, to path: String) throws(ApusError) {
    try writeWholeFile(
      path.lowercased().hasSuffix(".npy") ? result.encodedNumPy() : result.encodedPNG(), to: path)
  }

  private static func text(_ result: TransformedPicture) -> String {
    let kind = result.isPicture ? "a picture" : "one number for each pixel"
    return "\(kind) of \(result.width) × \(result.height), from \(result.minimum) to \(result.maximum)"
  }
}
