// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus compare`: how alike two pictures are.
struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Measures how alike two pictures are.",
    usage: "apus compare <image> <image> --model <model> [<options>]",
    discussion: """
      Embeddings are scaled to length 1. Their distance is 0 for the same picture,
      and at most 2.

      For example:
        apus compare one.jpg other.jpg --model embedder.tflite
      """)

  @Argument(help: "The two pictures.")
  var image: [String]

  @Option(name: .long, help: "The .tflite embedder.")
  var model: String

  @OptionGroup var size: PictureLimitOptions

  @OptionGroup var input: ModelInputOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  private struct Report: Encodable {
    let euclidean: Double?
    let cosine: Double?

    private enum CodingKeys: CodingKey {
      case euclidean, cosine
    }

    /// Encodes what is missing as null, so that both fields are always there.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(euclidean, forKey: .euclidean)
      try container.encode(cosine, forKey: .cosine)
    }
  }

  func validate() throws {
    guard image.count == 2 else { throw ValidationError("two pictures are compared, not \(image.count)") }
  }

  func run() throws {
    var options = ImageEmbedder.Options(baseOptions: try input.baseOptions(pictures: 1))
    options.normalizesEmbeddings = true
    let region = try input.regionRect
    let embedder = try ImageEmbedder(model: Model(contentsOfFile: model), options: options)
    let reduction = input.reduction(for: embedder)
    let warnings = TaskWarnings { embedder.assumptions.warnings }
    warnings.write()
    var points: [Embedding] = []
    for name in image {
      do throws(ApusError) {
        let picture = try ImageBuffer(
          decoding: PictureSource(name: name).bytes(), limits: size.limits, reduction: reduction)
        if let flaw = picture.flawWarning(of: name) { Output.writeError("warning: " + flaw) }
        let values = try embedder.embed(picture, in: region).embeddings.flatMap(\.values)
        let point = Embedding(values)
        guard !point.isZero else {
          throw ApusError(
            .invalidData,
            "every coordinate of its embedding is zero, so it has no direction and cannot be compared: use another picture or model"
          )
        }
        points.append(point.l2Normalized())
        warnings.write()
      } catch {
        Output.writeError("error: \(name): \(error.message(isPicture: true))")
        throw ExitCode(2)
      }
    }
    let report = Report(
      euclidean: points[0].euclideanDistance(to: points[1]), cosine: points[0].cosineSimilarity(to: points[1])
    )
    if json { return try Output.writeJSON(report) }
    Output.write("euclidean distance \(decimal(report.euclidean, 4)), cosine \(decimal(report.cosine, 4))")
  }
}
