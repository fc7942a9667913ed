// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import Testing

/// Inputs and outputs of every form that pictures have, against LiteRT on inputs that NumPy prepared.
@Suite struct InputCaseTests {
  /// Whether numbers agree but for the last digits of float32 arithmetic.
  private func agree(_ one: [Float], _ other: [Float]) -> Bool {
    one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) <= 1e-5 * max(1, abs($1)) }
  }

  private func embedder(_ expected: InputCase) throws -> ImageEmbedder {
    try ImageEmbedder(
      model: Model(bytes: Array(expected.model)), options: .init(baseOptions: expected.base))
  }

  private func segmenter(_ expected: InputCase) throws -> ImageSegmenter {
    try ImageSegmenter(
      model: Model(bytes: Array(expected.model)), labels: expected.labels.map { LabelMap($0) },
      options: .init(baseOptions: expected.base))
  }

  private func transformer(_ expected: InputCase) throws -> PictureTransformer {
    var options = PictureTransformer.Options(baseOptions: try expected.base)
    options.outputPixels = try expected.options.outputPixels.map { try Normalization(parsing: $0) }
    options.fitsOutput = expected.options.fitsOutput ?? false
    return try PictureTransformer(model: Model(bytes: Array(expected.model)), options: options)
  }

  @Test func hasCases() {
    #expect(InputCase.all.count >= 90)
    #expect(Set(InputCase.all.map(\.task)) == ["embedder", "segmenter", "transformer"])
  }

  @Test("pixels reach inputs of every shape and type", arguments: InputCase.answering("embedder"))
  func writesInputs(expected: InputCase) throws {
    let found = try embedder(expected).embed(expected.picture.image).embeddings[0].values
    #expect(agree(found, try #require(expected.floats)), "\(found.prefix(8))")
  }

  @Test(
    "masks follow what the graph and the scale say about numbers", arguments: InputCase.answering("segmenter")
  )
  func segments(expected: InputCase) throws {
    let found = try segmenter(expected).segment(expected.picture.image).categoryMask
    #expect(found.map { UInt8($0) } == Array(try #require(expected.mask)))
  }

  @Test("the mask of a picture reaches the next one", arguments: InputCase.all.filter { $0.video != nil })
  func feedsMasksBack(expected: InputCase) async throws {
    let masks = try #require(expected.video).map { Array($0) }
    let segmenter = try segmenter(expected)
    #expect(segmenter.usesPreviousMask)
    let picture = try expected.picture.image
    var last: SegmentationResult?
    let video = VideoSegmenter(segmenter)
    for mask in masks {
      last = try await segmenter.segment(picture, after: last)
      #expect(last?.categoryMask.map { UInt8($0) } == mask)
      #expect(try await video.answer(picture).categoryMask == last?.categoryMask)
    }
    // Without what came before, every picture is the first.
    #expect(try await segmenter.segment(picture).categoryMask.map { UInt8($0) } == masks[0])
    video.reset()
    #expect(try await video.answer(picture).categoryMask.map { UInt8($0) } == masks[0])
  }

  @Test("pictures and numbers are those of LiteRT", arguments: InputCase.answering("transformer"))
  func transforms(expected: InputCase) throws {
    let found = try transformer(expected).transform(expected.picture.image)
    let numbers = try #require(expected.floats)
    #expect(agree(found.values, numbers))
    #expect([found.width, found.height] == expected.size)
    #expect(found.minimum == found.values.min() && found.maximum == found.values.max())
    #expect(found.isPicture == (expected.drawn != nil))
    // A number whose last digits differ may round the other way.
    if let drawn = expected.drawn {
      let bytes = found.picture.bytes
      #expect(bytes.count == drawn.count && zip(bytes, drawn).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
      #expect(zip(bytes, drawn).filter { $0 != $1 }.count <= bytes.count / 50)
    } else {
      let steps = try #require(found.steps)
      let data = try #require(expected.steps)
      let wanted = stride(from: 0, to: data.count, by: 2).map { Int(data[$0]) | Int(data[$0 + 1]) << 8 }
      #expect(steps.count == wanted.count && zip(steps, wanted).allSatisfy { abs(Int($0) - $1) <= 1 })
      #expect(steps.min() == 0 && steps.max() == 65_535)
    }
  }

  @Test(
    "models of another kind are refused with what to do", arguments: InputCase.all.filter { $0.error != nil })
  func refusesModels(expected: InputCase) throws {
    let error = #expect(throws: ApusError.self) {
      switch expected.task {
      case "embedder": _ = try embedder(expected)
      case "segmenter": _ = try segmenter(expected)
      default: _ = try transformer(expected)
      }
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(expected.error ?? "?") == true, "\(error?.message ?? "")")
  }

  @Test(
    "answers that their reading cannot have are refused with the option that decides",
    arguments: InputCase.all.filter { $0.answerError != nil })
  func refusesAnswers(expected: InputCase) throws {
    let picture = try expected.picture.image
    let error = try #require(
      #expect(throws: ApusError.self) {
        if expected.task == "segmenter" {
          _ = try segmenter(expected).segment(picture)
        } else {
          _ = try transformer(expected).transform(picture)
        }
      })
    #expect(error.code == .invalidData)
    #expect(error.message.contains(expected.answerError ?? "?"), "\(error.message)")
  }

  @Test("guesses about shapes are readings, and doubtful ones are warnings")
  func saysWhatIsGuessed() throws {
    func assumptions(_ name: String) throws -> TaskAssumptions {
      try embedder(#require(InputCase.all.first { $0.name == name })).assumptions
    }
    let square = try assumptions("a square in a row (1, 36)")
    let reading = try #require(square.readings.first { $0.subject == "picture" })
    #expect(reading.source == .guess && reading.value == "6 × 6 gray pixels")
    #expect(square.warnings.contains { $0.contains("they may be features") })
    #expect(try assumptions("gray (1, 5, 7)").warnings.contains { $0.contains("spectrogram") })
    #expect(try assumptions("gray (1, 5, 7, 1)").warnings.isEmpty)
    #expect(try assumptions("a row of a given size").warnings.isEmpty)
    #expect(
      try assumptions("alpha").readings.contains { $0.subject == "fourth channel" && $0.value == "alpha" })
    #expect(try assumptions("a batch of four pictures").readings.contains { $0.subject == "batch" })
  }
}
