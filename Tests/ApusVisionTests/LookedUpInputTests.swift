// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

/// Models whose inputs are words or other items, which a table looks up: no picture and no sound has such numbers.
@Suite struct LookedUpInputTests {
  private static let cast: Int32 = 53
  private static let gather: Int32 = 36
  private static let add: Int32 = 0

  /// The largest numbers of the rows that the input's numbers name.
  ///
  /// - Parameter computes: Whether another output adds 1 to the input's numbers.
  private func table(of count: Int32, computes: Bool = false) -> DetectorModel {
    let rows = DetectorModel.data((0..<512).map { Float($0) / 512 })
    return DetectorModel(
      tensors: [
        .init(name: "words", shape: [1, count]),
        .init(name: "numbers", shape: [1, count], type: DetectorModel.int32),
        .init(name: "table", shape: [256, 2], data: rows), .init(name: "rows", shape: [1, count, 2]),
        .init(name: "axis", shape: [1], type: DetectorModel.int32, data: [1, 0, 0, 0]),
        .init(name: "scores", shape: [1, 2]), .init(name: "one", shape: [1], data: DetectorModel.data([1])),
        .init(name: "more", shape: [1, count]),
      ],
      operators: [
        .init(code: Self.cast, inputs: [0], outputs: [1], options: [1: .byte(DetectorModel.int32)]),
        .init(code: Self.gather, inputs: [2, 1], outputs: [3]),
        .init(code: DetectorModel.reduceMax, inputs: [3, 4], outputs: [5]),
      ] + (computes ? [.init(code: Self.add, inputs: [0, 6], outputs: [7])] : []),
      outputs: computes ? [5, 7] : [5])
  }

  @Test("numbers that the graph only looks up are no pixels, unless the caller says so")
  func refusesPictures() throws {
    let model = try table(of: 16).model()
    let error = #expect(throws: ApusError.self) { try ImageClassifier(model: model) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("GATHER looks up") == true, "\(error?.message ?? "")")
    var options = ImageClassifier.Options()
    options.baseOptions.inputSize = (4, 4)
    options.baseOptions.normalization = .raw
    let picture = try ImageBuffer(
      bytes: (0..<16).map { UInt8($0) }, width: 4, height: 4, format: .gray)
    let classes = try ImageClassifier(model: model, options: options).classify(picture).categories
    let scores: [Float] = [31.0 / 512, 30.0 / 512]
    #expect(classes.map(\.score) == scores)
    // A model that computes with them leaves it open.
    #expect(try !ImageClassifier(model: table(of: 16, computes: true).model()).assumptions.warnings.isEmpty)
  }

  @Test("numbers that the graph only looks up are no samples, unless the caller says so")
  func refusesSounds() throws {
    let model = try table(of: 500).model()
    let error = #expect(throws: ApusError.self) { try AudioClassifier(model: model) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("GATHER looks up") == true, "\(error?.message ?? "")")
    var options = AudioClassifier.Options()
    options.sampleRate = 8_000
    _ = try AudioClassifier(model: model, options: options)
    _ = try AudioClassifier(model: table(of: 500, computes: true).model())
  }
}
