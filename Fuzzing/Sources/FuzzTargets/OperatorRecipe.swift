// SPDX-License-Identifier: Apache-2.0

@_spi(Fuzzing) import Apus

/// Makes a well-formed file with one operator of bytes that say which, and with what.
struct OperatorRecipe {
  /// The file.
  let model: [UInt8]

  /// The operators of the schema.
  private static let codeCount = 210
  private static let types: [Int8] = [0, 0, 0, 3, 3, 9, 9, 2, 2, 7, 4, 6, 1, 8, 10, 12, 15, 16, 17]

  /// Reads which operator, then its options, inputs and outputs.
  init(_ bytes: [UInt8]) {
    var source = ByteSource(bytes)
    var tensors: [[Int: FlatValue]] = []
    var buffers: [[Int: FlatValue]] = [[:]]
    var inputs: [Int32] = []
    var graphInputs: [Int32] = []

    let code = Int32(source.below(Self.codeCount))
    let version = Int32(1 + source.below(6))
    let sharedType = Self.types[source.below(Self.types.count)]
    let sharedShape = Self.shape(&source)
    func tensor(_ source: inout ByteSource, mayBeConstant: Bool) -> Int32 {
      let choices = source.byte()
      let type = choices & 3 == 0 ? Self.types[source.below(Self.types.count)] : sharedType
      let shape = choices & 12 == 0 ? Self.shape(&source) : sharedShape
      var fields: [Int: FlatValue] = [0: .int32s(shape), 1: .int8(type), 3: .string("t\(tensors.count)")]
      if choices & 16 != 0 || type == 3 || type == 9 {
        let count = choices & 32 == 0 ? 1 : source.below(5)
        fields[4] = .table([
          2: .floats((0..<count).map { _ in source.float() }),
          3: .int64s((0..<count).map { _ in Int64(source.number()) }), 6: .int32(source.number()),
        ])
      }
      if mayBeConstant, choices & 64 != 0, let size = Self.byteCount(type, shape), size <= 4096 {
        fields[2] = .uint32(UInt32(buffers.count))
        let values =
          type == 2 || type == 4
          ? (0..<size / (type == 2 ? 4 : 8)).flatMap { _ -> [UInt8] in
            let value = Int64(source.number())
            return (0..<(type == 2 ? 4 : 8)).map { UInt8(truncatingIfNeeded: value >> Int64(8 * $0)) }
          } : source.rest(size)
        buffers.append([0: .bytes(values)])
      }
      tensors.append(fields)
      return Int32(tensors.count - 1)
    }

    for _ in 0..<source.below(7) {
      let choice = source.byte()
      if choice < 8 {
        inputs.append(-1)
      } else if choice < 16, !tensors.isEmpty {
        inputs.append(Int32(Int(choice) % tensors.count))
      } else {
        inputs.append(tensor(&source, mayBeConstant: true))
        if tensors[tensors.count - 1][2] == nil { graphInputs.append(Int32(tensors.count - 1)) }
      }
    }
    var outputs: [Int32] = []
    for _ in 0..<(1 + source.below(4)) { outputs.append(tensor(&source, mayBeConstant: false)) }

    var options: [Int: FlatValue] = [:]
    for field in 0..<source.below(12) {
      switch source.below(6) {
      case 0: break
      case 1: options[field] = .float(source.float())
      case 2: options[field] = .uint8(source.byte() & 3)
      case 3: options[field] = .int32s((0..<source.below(6)).map { _ in source.number() })
      case 4: options[field] = .int64s((0..<source.below(8)).map { _ in Int64(source.number()) })
      default: options[field] = .int32(source.number())
      }
    }
    var node: [Int: FlatValue] = [0: .uint32(0), 1: .int32s(inputs), 2: .int32s(outputs)]
    // Options of another type are not read at all.
    let types = optionsTypes(ofOperator: code)
    if types.options != 0 { (node[3], node[4]) = (.uint8(UInt8(types.options)), .table(options)) }
    if types.options2 != 0 { (node[11], node[12]) = (.uint8(UInt8(types.options2)), .table(options)) }
    if code == 32 { node[5] = .bytes(source.rest(source.below(64))) }
    model = Self.file(
      codes: [
        [
          0: .int8(Int8(min(code, 127))), 1: .string(Self.customName(source.byte())), 2: .int32(version),
          3: .int32(code),
        ]
      ],
      tensors: tensors, buffers: buffers, inputs: graphInputs, outputs: outputs, operators: [node])
  }

  /// A detector's last operator with these options.
  static func detection(options: [UInt8]) -> [UInt8] {
    func tensor(_ shape: [Int32]) -> [Int: FlatValue] { [0: .int32s(shape), 1: .int8(0)] }
    return file(
      codes: [[0: .int8(32), 1: .string("TFLite_Detection_PostProcess"), 2: .int32(1), 3: .int32(32)]],
      tensors: [
        tensor([1, 6, 4]), tensor([1, 6, 3]), tensor([6, 4]), tensor([1, 2, 4]), tensor([1, 2]),
        tensor([1, 2]),
        tensor([1]),
      ], buffers: [[:]], inputs: [0, 1, 2], outputs: [3, 4, 5, 6],
      operators: [[0: .uint32(0), 1: .int32s([0, 1, 2]), 2: .int32s([3, 4, 5, 6]), 5: .bytes(options)]])
  }

  private static func file(
    codes: [[Int: FlatValue]], tensors: [[Int: FlatValue]], buffers: [[Int: FlatValue]], inputs: [Int32],
    outputs: [Int32], operators: [[Int: FlatValue]]
  ) -> [UInt8] {
    FlatBufferWriter.file(
      "TFL3",
      [
        0: .uint32(3), 1: .tables(codes),
        2: .tables([
          [0: .tables(tensors), 1: .int32s(inputs), 2: .int32s(outputs), 3: .tables(operators)]
        ]), 4: .tables(buffers),
      ])
  }

  private static func shape(_ source: inout ByteSource) -> [Int32] {
    (0..<source.below(6)).map { _ in
      let choice = source.byte()
      return choice < 250 ? Int32(choice % 9) : source.number()
    }
  }

  private static func byteCount(_ type: Int8, _ shape: [Int32]) -> Int? {
    let widths: [Int8: Int] = [
      0: 4, 1: 2, 2: 4, 3: 1, 4: 8, 6: 1, 7: 2, 8: 8, 9: 1, 10: 8, 12: 8, 15: 4, 16: 2,
    ]
    guard let width = widths[type] else { return nil }
    var count = width
    for size in shape {
      let (product, overflow) = count.multipliedReportingOverflow(by: Int(size))
      guard size >= 0, !overflow else { return nil }
      count = product
    }
    return count
  }

  private static func customName(_ choice: UInt8) -> String {
    let names = [
      "TFLite_Detection_PostProcess", "AudioSpectrogram", "Mfcc", "MaxPoolingWithArgmax2D", "MaxUnpooling2D",
      "Convolution2DTransposeBias", "TransformTensorBilinear", "TransformLandmarks",
      "Landmarks2TransformMatrix",
      "PosenetDecoderOp", "TransformTensor",
    ]
    return names[Int(choice) % names.count]
  }
}
