// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import Synchronization

/// `apus embed`: pictures as points in space.
struct EmbedCommand: PictureCommand {
  static let configuration = CommandConfiguration(
    commandName: "embed", abstract: "Turns pictures into embeddings.",
    discussion: """
      Embeddings have length 1 unless --raw is given. A picture that fails is a row
      of NaN.

      For example:
        apus embed photos --model embedder.tflite --output photos.npy
        apus embed face.jpg --model facenet.tflite --json
      """)

  @OptionGroup var pictures: PictureOptions

  @Option(name: .long, help: "The .tflite embedder.")
  var model: String

  @Option(name: .long, help: "The .npy file for the embeddings: a row of float32 for each picture.")
  var output: String?

  @Flag(help: "Do not normalize embeddings.")
  var raw = false

  @OptionGroup var input: ModelInputOptions

  func validate() throws {
    guard output != nil || pictures.json else {
      throw ValidationError("--output or --json is needed")
    }
    try ValidationError.check(output: output, endings: [".npy"])
  }

  func run() throws {
    let sources = try pictures.sources()
    if let output { try sources.protect(from: [output], of: "--output") }
    let region = try input.regionRect
    var options = ImageEmbedder.Options(baseOptions: try input.baseOptions(pictures: sources.count))
    options.normalizesEmbeddings = !raw
    let embedder = try ImageEmbedder(model: Model(contentsOfFile: model), options: options)
    guard output == nil || embedder.dimensions.count == 1 else {
      throw ApusError(
        .invalidArgument,
        "the model has \(embedder.dimensions.count) outputs, but --output takes one embedding a picture; use --json"
      )
    }
    let columns = embedder.dimensions[0]
    let (count, overflow) = sources.count.multipliedReportingOverflow(by: columns)
    guard output == nil || !overflow && count <= 1 << 28 else {
      throw ApusError(
        .resourceLimit, "\(sources.count) embeddings of \(columns) numbers are too many for a file")
    }
    if let output { try checkWritable(output) }
    // The numbers, their bytes, and the file's.
    try requireMemory(output == nil ? 0 : 12 * count, for: "\(sources.count) embeddings")
    let rows = Mutex([Float](repeating: .nan, count: output == nil ? 0 : count))
    let collects = output != nil
    let failure = try PictureRunner(
      sources: sources, options: pictures, reduction: input.reduction(for: embedder),
      warnings: TaskWarnings { embedder.assumptions.warnings },
      answer: { image, _ throws(ApusError) in try embedder.embed(image, in: region) },
      text: { "\($0.embeddings.map { "\($0.values.count)" }.joined(separator: " + ")) coordinates" },
      finish: { place, _, result in
        guard collects, let values = result.embeddings.first?.values, values.count == columns else { return }
        rows.withLock { $0.replaceSubrange(place * columns..<(place + 1) * columns, with: values) }
      }
    ).runToEnd()
    if let output {
      let values = rows.withLock { $0 }
      let array = NumPyArray(floats: values, shape: [sources.count, columns])
      try writeWholeFile(array.file, to: output)
    }
    if let failure { throw failure }
  }
}
