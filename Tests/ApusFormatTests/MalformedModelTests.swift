// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Testing

/// One way to break the sample model, and what the error must say.
struct Breakage: Sendable, CustomTestStringConvertible {
  let message: String
  let apply: @Sendable (inout SampleModel) -> Void

  init(_ message: String, _ apply: @escaping @Sendable (inout SampleModel) -> Void) {
    self.message = message
    self.apply = apply
  }

  var testDescription: String { message }

  static let all: [Breakage] = [
    Breakage("the schema version is 4, not 3") { $0.version = 4 },
    Breakage("subgraph 0, tensor 1 (conv/weights): shape has 9 dimensions, at most 8") {
      $0.tensors[1][0] = .int32s(Array(repeating: 1, count: 9))
    },
    Breakage("subgraph 0, tensor 0 (image): shape [1, -2] has a negative dimension") {
      $0.tensors[0][0] = .int32s([1, -2])
      $0.tensors[0][7] = nil
    },
    Breakage("subgraph 0, tensor 0 (image): shape [65536, 32768] has more than 2147483647 elements") {
      $0.tensors[0][0] = .int32s([65536, 32768])
      $0.tensors[0][7] = nil
    },
    Breakage(
      "subgraph 0, tensor 0 (image): shape [0, 2147483647, 2147483647, 4] has more than 2147483647 elements"
    ) {
      $0.tensors[0][0] = .int32s([0, .max, .max, 4])
    },
    Breakage("subgraph 0, tensor 0 (image): the type 23 is unknown") { $0.tensors[0][1] = .int8(23) },
    Breakage("subgraph 0, tensor 0 (image): the type -1 is unknown") { $0.tensors[0][1] = .int8(-1) },
    Breakage("subgraph 0, tensor 0 (image): it refers to buffer 5 of 5") { $0.tensors[0][2] = .uint32(5) },
    Breakage(
      "subgraph 0, tensor 1 (conv/weights): INT8 of shape [2, 3, 4, 1] needs 24 bytes, and its buffer has 18"
    ) {
      $0.tensors[1][0] = .int32s([2, 3, 4, 1])
    },
    Breakage("subgraph 0, tensor 1 (conv/weights): it has data, and its shape [2, -1] is not known") {
      $0.tensors[1][0] = .int32s([2, -1])
    },
    Breakage("subgraph 0, tensor 2 (conv/bias): it is variable and has constant data") {
      $0.tensors[2][5] = .uint8(1)
    },
    Breakage("subgraph 0, tensor 2 (conv/bias): its data is in another file, which is not supported") {
      $0.tensors[2][10] = .uint32(1)
    },
    Breakage(
      "subgraph 0, tensor 1 (conv/weights): the quantization has 2 scales and 1 zero points"
    ) {
      $0.tensors[1][4] = .table([2: .floats([1, 2]), 3: .int64s([0])])
    },
    Breakage(
      "subgraph 0, tensor 1 (conv/weights): the quantized dimension is 4, and the shape is [2, 3, 3, 1]"
    ) {
      $0.tensors[1][4] = .table([2: .floats([1]), 3: .int64s([0]), 6: .int32(4)])
    },
    Breakage(
      "subgraph 0, tensor 1 (conv/weights): the quantization has 2 scales, and dimension 1 of the shape is 3"
    ) {
      $0.tensors[1][4] = .table([2: .floats([1, 2]), 3: .int64s([0, 0]), 6: .int32(1)])
    },
    Breakage("subgraph 0, tensor 1 (conv/weights): the kind of quantization 4 is unknown") {
      $0.tensors[1][4] = .table([4: .uint8(4)])
    },
    Breakage("subgraph 0, tensor 4 (sparse), sparsity: the traversal order [0, 0] is not a permutation") {
      $0.tensors[4][6] = .table([0: .int32s([0, 0]), 2: .tables([[1: .int32(2)], [1: .int32(4)]])])
    },
    Breakage(
      "subgraph 0, tensor 4 (sparse), sparsity: dimension 1 has 2 segments for 2 parents and 3 indices"
    ) {
      $0.tensors[4][6] = SampleModel.sparsity(segments: [0, 3], indices: [0, 2, 3])
    },
    Breakage("subgraph 0, tensor 4 (sparse), sparsity: dimension 1 has segments out of order") {
      $0.tensors[4][6] = SampleModel.sparsity(segments: [0, 4, 3], indices: [0, 2, 3])
    },
    Breakage("subgraph 0, tensor 4 (sparse), sparsity: dimension 1 has an index outside its size 4") {
      $0.tensors[4][6] = SampleModel.sparsity(segments: [0, 2, 3], indices: [0, 2, 4])
    },
    Breakage(
      "subgraph 0, tensor 4 (sparse): UINT8 of shape [2, 4], sparse, needs 2 bytes, and its buffer has 3"
    ) {
      $0.tensors[4][6] = SampleModel.sparsity(segments: [0, 1, 2], indices: [0, 2])
    },
    Breakage("operator code 1: the custom operator has no name") { $0.codes[1][1] = nil },
    Breakage("operator code 0: the code is -5") { $0.codes[0] = [0: .int8(-5), 3: .int32(-9)] },
    Breakage("subgraph 0, operator 0: it refers to operator code 2 of 2") {
      $0.operators[0][0] = .uint32(2)
    },
    Breakage("subgraph 0, operator 0 (CONV_2D): input 1 is tensor 6, and there are 6") {
      $0.operators[0][1] = .int32s([0, 6, 2])
    },
    Breakage("subgraph 0, operator 0 (CONV_2D): input 1 is tensor -2, and there are 6") {
      $0.operators[0][1] = .int32s([0, -2, 2])
    },
    Breakage("subgraph 0, operator 0 (CONV_2D): output 0 is tensor -1, and there are 6") {
      $0.operators[0][2] = .int32s([-1])
    },
    Breakage(
      "subgraph 0, operator 1 (TFLite_Detection_PostProcess): intermediate 0 is tensor 7, and there are 6"
    ) {
      $0.operators[1][8] = .int32s([7])
    },
    Breakage("subgraph 0: input 0 is tensor -1, and there are 6") { $0.inputs = [-1] },
    Breakage("subgraph 0: output 1 is tensor 6, and there are 6") { $0.outputs = [5, 6] },
    Breakage("signature 0: 'serving_default' refers to subgraph 1 of 1") {
      $0.signatures[0][4] = .uint32(1)
    },
    Breakage("signature 0, input 0: 'x' refers to tensor 6 of 6") {
      $0.signatures[0][0] = .tables([[0: .string("x"), 1: .uint32(6)]])
    },
    Breakage("signature 0: it has no key") { $0.signatures[0][2] = nil },
  ]
}

extension SampleModel {
  static func sparsity(segments: [UInt8], indices: [UInt8]) -> FlatValue {
    .table([
      0: .int32s([0, 1]),
      2: .tables([
        [1: .int32(2)],
        [
          0: .int8(1), 2: .uint8(3), 3: .table([0: .bytes(segments)]), 4: .uint8(3),
          5: .table([0: .bytes(indices)]),
        ],
      ]),
    ])
  }
}

@Suite struct MalformedModelTests {
  @Test("a broken part is named", arguments: Breakage.all)
  func namesWhatIsBroken(breakage: Breakage) throws {
    var model = SampleModel()
    breakage.apply(&model)
    #expect(message(of: model.bytes) == breakage.message)
  }

  private func message(of bytes: [UInt8]) -> String? {
    do throws(FormatError) {
      _ = try ModelFile(FileBytes(copying: bytes))
      return nil
    } catch {
      return error.message
    }
  }

  @Test func refusesWhatIsNoModel() {
    #expect(
      message(of: Array(repeating: 0, count: 7))
        == "7 bytes are too few for a FlatBuffer")
    #expect(
      message(of: FlatBufferWriter.file("TFL4", [0: .uint32(3)]))
        == "the file identifier is 'TFL4', not 'TFL3'")
    #expect(
      message(of: FlatBufferWriter.file("TFL3", [0: .uint32(3)]))
        == "the model has no subgraph")
    #expect(
      message(of: FlatBufferWriter.file("TFL3", [:]))
        == "the schema version is 0, not 3")
  }

  @Test func refusesTablesThatLeaveTheirBounds() throws {
    // root → table at 12, vtable at 8 of four bytes.
    let head: [UInt8] = [12, 0, 0, 0] + Array("TFL3".utf8)
    func root(_ vtableSize: UInt8, _ inlineSize: UInt8, _ distance: UInt8 = 4) -> [UInt8] {
      head + [vtableSize, 0, inlineSize, 0, distance, 0, 0, 0]
    }
    #expect(
      message(of: root(4, 4))
        == "the schema version is 0, not 3")
    #expect(
      message(of: root(5, 4))
        == "root table: the table at byte 12 has a vtable of 5 bytes at 8")
    #expect(
      message(of: root(2, 4))
        == "root table: the table at byte 12 has a vtable of 2 bytes at 8")
    #expect(
      message(of: root(10, 4))
        == "root table: the table at byte 12 has a vtable of 10 bytes at 8")
    #expect(
      message(of: root(4, 8))
        == "root table: the table at byte 12 has 8 bytes, and the file 16")
    #expect(
      message(of: root(4, 3))
        == "root table: the table at byte 12 has 3 bytes, and the file 16")
    #expect(
      message(of: root(4, 4, 13))
        == "root table: 2 bytes at offset -1 reach outside the 16 bytes")
    // A field at the table's very end does not fit it.
    let field: [UInt8] = [14, 0, 0, 0] + Array("TFL3".utf8) + [6, 0, 4, 0, 4, 0, 6, 0, 0, 0]
    #expect(
      message(of: field)
        == "field 0 of the table at byte 14 lies at 4, outside its 4 bytes")
  }

  @Test func refusesVectorsThatLeaveTheFile() throws {
    var bytes = SampleModel().bytes
    // The length of the weights' buffer: 18 as a little-endian count before the values 0, 1, 2, ….
    let index = try #require(bytes.indices.first { Array(bytes[$0...].prefix(7)) == [18, 0, 0, 0, 0, 1, 2] })
    bytes[index + 3] = 0xFF
    #expect(throws: FormatError.self) { try ModelFile(FileBytes(copying: bytes)) }
  }

  @Test("references to one table cannot describe more than the file has room for", arguments: [1, 2, 4, 7])
  func limitsWhatOverlappingTablesDescribe(field: Int) {
    let model = FlatBufferWriter.file("TFL3", [0: .uint32(3), field: .tables([[:]])])
    // The file ends with the vector's count, its slot, the table's vtable and the table.
    let vector = model.indices.last { Array(model[$0...].prefix(4)) == [1, 0, 0, 0] } ?? 0
    let count = 1 << 20
    var bytes = Array(model[..<vector]) + [0, 0, 16, 0]
    for index in 0..<count {
      // Each slot leads to the one table behind all of them.
      withUnsafeBytes(of: UInt32(4 * (count - index) + 4).littleEndian) { bytes += $0 }
    }
    bytes += [4, 0, 4, 0, 4, 0, 0, 0]
    #expect(throws: FormatError.self) { try ModelFile(FileBytes(copying: bytes)) }
  }

  @Test func keepsToTheLimitsThatItIsGiven() throws {
    let bytes = FileBytes(copying: SampleModel().bytes)
    var limits = Limits()
    limits.maximumTensors = 6
    limits.maximumOperators = 2
    limits.maximumRank = 4
    limits.maximumElements = 32
    limits.maximumBuffers = 5
    limits.maximumSubgraphs = 1
    limits.maximumSignatures = 1
    limits.maximumOperatorCodes = 2
    #expect(throws: Never.self) { try ModelFile(bytes, limits: limits) }
    for path: WritableKeyPath<Limits, Int> in [
      \.maximumTensors, \.maximumOperators, \.maximumRank, \.maximumElements, \.maximumBuffers,
      \.maximumSubgraphs, \.maximumSignatures, \.maximumOperatorCodes,
    ] {
      var tighter = limits
      tighter[keyPath: path] -= 1
      #expect(throws: FormatError.self) { try ModelFile(bytes, limits: tighter) }
    }
  }
}
