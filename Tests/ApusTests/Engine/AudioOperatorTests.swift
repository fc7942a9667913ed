// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport
import Testing

/// The refusals of RFFT2D, AudioSpectrogram and Mfcc; goldens show that answers are right.
@Suite struct AudioOperatorTests {
  private static func bytes(_ values: [Int32]) -> [UInt8] {
    values.flatMap { withUnsafeBytes(of: $0.littleEndian) { Array($0) } }
  }

  private static func transform(_ shape: [Int32], lengths: [Int32]) -> TestModel {
    TestModel(
      tensors: [
        .init(name: "x", shape: shape),
        .init(name: "lengths", type: TestModel.int32, shape: [Int32(lengths.count)], data: bytes(lengths)),
        .init(name: "y", type: TestModel.complex64, shape: []),
      ],
      operators: [.init(code: .rfft2D, inputs: [0, 1], outputs: [2])], inputs: [0], outputs: [2])
  }

  private static func spectrogram(_ options: [String: Double], shape: [Int32] = [100, 1]) -> TestModel {
    TestModel(
      tensors: [.init(name: "x", shape: shape), .init(name: "y", shape: [])],
      operators: [
        .init(
          code: .custom, inputs: [0], outputs: [1], customName: "AudioSpectrogram",
          customOptions: flexBuffer(options))
      ],
      inputs: [0], outputs: [1])
  }

  private static func cepstrum(
    _ changes: [String: Double] = [:], shape: [Int32] = [1, 2, 65], rate: Int32 = 16000
  ) -> TestModel {
    let options: [String: Double] = [
      "upper_frequency_limit": 4000, "lower_frequency_limit": 20, "filterbank_channel_count": 40,
      "dct_coefficient_count": 13,
    ]
    return TestModel(
      tensors: [
        .init(name: "x", shape: shape),
        .init(name: "rate", type: TestModel.int32, shape: [], data: bytes([rate])),
        .init(name: "y", shape: []),
      ],
      operators: [
        .init(
          code: .custom, inputs: [0, 1], outputs: [2], customName: "Mfcc",
          customOptions: flexBuffer(options.merging(changes) { $1 }))
      ],
      inputs: [0], outputs: [2])
  }

  private static func refusal(of model: TestModel) -> ApusError? {
    #expect(throws: ApusError.self) { try Interpreter(model: model.model()) }
  }

  @Test(
    "lengths of a transform that are not two powers of two are refused",
    arguments: [[3, 4], [4, 6], [0, 4], [4, 0], [-4, 4], [4, .min], [4], [4, 4, 4]] as [[Int32]])
  func refusesLengths(lengths: [Int32]) {
    let error = Self.refusal(of: Self.transform([4, 4], lengths: lengths))
    #expect(error?.code == .malformedModel)
    #expect(error?.message.hasPrefix("operator #0, RFFT2D: the lengths of the transform are [") == true)
  }

  @Test(
    "transforms that no memory holds are refused",
    arguments: [[1, 1 << 30], [1 << 30, 1], [1 << 22, 1 << 22], [1 << 15, 1 << 15]] as [[Int32]])
  func refusesLongTransforms(lengths: [Int32]) {
    #expect(Self.refusal(of: Self.transform([1, 1], lengths: lengths))?.code == .resourceLimit)
  }

  @Test("a transform of a vector is refused")
  func refusesVectors() {
    #expect(Self.refusal(of: Self.transform([4], lengths: [1, 4]))?.code == .malformedModel)
  }

  @Test(
    "windows and strides that cannot be are refused",
    arguments: [
      [:], ["window_size": 16], ["stride": 4], ["window_size": 1, "stride": 4],
      ["window_size": -16, "stride": 4],
      ["window_size": 16, "stride": 0], ["window_size": 16, "stride": -1],
      ["window_size": 1_073_741_824, "stride": 1], ["window_size": 1e30, "stride": 1],
    ] as [[String: Double]])
  func refusesWindows(options: [String: Double]) {
    let error = Self.refusal(of: Self.spectrogram(options))
    #expect(error?.code == .malformedModel)
    #expect(error?.message.hasPrefix("operator #0, AudioSpectrogram: ") == true)
  }

  @Test("sound that is shorter than a window has no spectra")
  func isEmpty() throws {
    let model = Self.spectrogram(["window_size": 101, "stride": 1])
    let interpreter = try Interpreter(model: model.model())
    #expect(interpreter.outputs[0].shape == [1, 0, 65])
    try interpreter.invoke()
  }

  @Test(
    "bands and limits that cannot be are refused",
    arguments: [
      ["filterbank_channel_count": 0], ["filterbank_channel_count": 1e6], ["dct_coefficient_count": 0],
      ["dct_coefficient_count": 41], ["lower_frequency_limit": -1], ["lower_frequency_limit": 4000],
      ["upper_frequency_limit": 20], ["upper_frequency_limit": 1e12],
    ] as [[String: Double]])
  func refusesBands(changes: [String: Double]) {
    let error = Self.refusal(of: Self.cepstrum(changes))
    #expect(error?.code == .malformedModel)
    #expect(error?.message.hasPrefix("operator #0, Mfcc: ") == true)
  }

  @Test("a sample rate of zero, and spectra of one frequency, are refused")
  func refusesRates() {
    #expect(Self.refusal(of: Self.cepstrum(rate: 0))?.code == .malformedModel)
    #expect(Self.refusal(of: Self.cepstrum(rate: -16000))?.code == .malformedModel)
    #expect(Self.refusal(of: Self.cepstrum(shape: [1, 2, 1]))?.code == .malformedModel)
  }

  @Test("complex tensors are read as pairs of floats")
  func transformsAnImpulse() throws {
    let interpreter = try Interpreter(model: Self.transform([1, 8], lengths: [1, 8]).model())
    try interpreter.copy([0, 1, 0, 0, 0, 0, 0, 0] as [Float], toInputAt: 0)
    try interpreter.invoke()
    #expect(interpreter.outputs[0].type == .complex64)
    #expect(interpreter.outputs[0].shape == [1, 5])
    let pairs = try interpreter.output(at: 0, as: ComplexFloat.self)
    let half = Float(0.5).squareRoot()
    let expected = [(1, 0), (half, -half), (0, -1), (-half, -half), (-1, 0)] as [(Float, Float)]
    for (pair, (real, imaginary)) in zip(pairs, expected) {
      #expect(abs(pair.real - real) < 1e-6 && abs(pair.imaginary - imaginary) < 1e-6)
    }
  }
}
