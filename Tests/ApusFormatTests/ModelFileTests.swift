// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Foundation
import TestSupport
import Testing

@Suite struct ModelFileTests {
  @Test func decodesEveryPartOfAModel() throws {
    let file = try SampleModel().decoded()
    #expect(file.schemaVersion == 3)
    #expect(file.description == "a sample")
    #expect(file.operatorCodes.map(\.name) == ["CONV_2D", "TFLite_Detection_PostProcess"])
    #expect(file.operatorCodes.map(\.code) == [.conv2D, .custom])
    #expect(file.operatorCodes.map(\.version) == [2, 1])
    #expect(file.buffers.map(\.count) == [0, 18, 8, 3, SampleModel.metadata.count])

    let graph = try #require(file.subgraphs.first)
    #expect(file.subgraphs.count == 1)
    #expect(graph.name == "main")
    #expect(graph.inputs == [0])
    #expect(graph.outputs == [5])
    let image = graph.tensors[0]
    #expect(image.name == "image")
    #expect(image.type == .uint8)
    #expect(image.shape == [1, 4, 4, 1])
    #expect(image.shapeSignature == [-1, 4, 4, 1])
    #expect(image.hasRank)
    #expect(image.data == nil)
    let quantization = try #require(image.quantization)
    #expect(quantization.scales == [0.0078125])
    #expect(quantization.zeroPoints == [128])
    #expect(quantization.minimums == [-1])
    #expect(quantization.maximums == [1])
    let weights = graph.tensors[1]
    #expect(weights.quantization?.scales == [0.5, 0.25])
    let data = try #require(weights.data)
    #expect(try file.withBytes(of: data) { Array($0) } == Array(0..<18))
    #expect(graph.tensors[5].shape == [] && !graph.tensors[5].hasRank && graph.tensors[5].quantization == nil)
  }

  /// As in the reference, which reads as many bytes of a buffer as the shape needs.
  @Test func takesTheFirstBytesOfALongerBuffer() throws {
    var model = SampleModel()
    model.buffers[1] = [0: .bytes(Array(0..<21))]
    let file = try model.decoded()
    let data = try #require(file.subgraphs[0].tensors[1].data)
    #expect(try file.withBytes(of: data) { Array($0) } == Array(0..<18))
  }

  @Test func ignoresAShapeSignatureOfAnotherLength() throws {
    var model = SampleModel()
    model.tensors[0][7] = .int32s([-1])
    #expect(try model.decoded().subgraphs[0].tensors[0].shapeSignature == [])
  }

  @Test func decodesASparseConstant() throws {
    let sparsity = try #require(try SampleModel().decoded().subgraphs[0].tensors[4].sparsity)
    #expect(sparsity.traversalOrder == [0, 1])
    #expect(sparsity.blockMap == [])
    #expect(
      sparsity.dimensions.map(\.format) == [
        .dense(size: 2), .sparseCSR(segments: [0, 2, 3], indices: [0, 2, 3]),
      ])
  }

  @Test func decodesOperators() throws {
    let file = try SampleModel().decoded()
    let convolution = file.subgraphs[0].operators[0]
    #expect(convolution.inputs == [0, 1, 2])
    #expect(convolution.outputs == [3])
    #expect(convolution.optionsType == 1)
    #expect(try convolution.options.int8(0, default: 0) == 1)
    #expect(try convolution.options.int32(1, default: 0) == 2)
    #expect(try convolution.options.int32(2, default: 0) == 3)
    #expect(try convolution.options.int32(4, default: 1) == 1)
    #expect(convolution.customOptions == nil)
    #expect(convolution.options2.isEmpty)
    let custom = file.subgraphs[0].operators[1]
    #expect(custom.inputs == [3, -1, 4])
    #expect(custom.intermediates == [4])
    #expect(custom.mutatingVariableInputs == [false, true, false])
    #expect(custom.customOptions?.count == Fixtures.flexBuffer.count)
    #expect(custom.options.isEmpty)
  }

  @Test func decodesSignaturesAndMetadata() throws {
    let file = try SampleModel().decoded()
    let signature = try #require(file.signatures.first)
    #expect(signature.key == "serving_default")
    #expect(signature.inputs.map(\.name) == ["x"] && signature.inputs.map(\.tensor) == [0])
    #expect(signature.outputs.map(\.name) == ["y"] && signature.outputs.map(\.tensor) == [5])
    #expect(file.metadata.map(\.name) == ["TFLITE_METADATA"])
    #expect(file.metadata.map(\.buffer) == [4])
  }

  @Test("misaligned bytes read as aligned ones do", arguments: 1...7)
  func readsMisalignedBytes(shift: Int) throws {
    // The offsets stay right when all tables move by less than their alignment.
    let bytes = SampleModel().bytes
    let root = UInt32(bytes[0]) | UInt32(bytes[1]) << 8
    var moved = bytes
    moved.insert(contentsOf: Array(repeating: 0, count: shift), at: 8)
    moved[0] = UInt8(truncatingIfNeeded: root + UInt32(shift))
    moved[1] = UInt8(truncatingIfNeeded: (root + UInt32(shift)) >> 8)
    #expect(try ModelFile(FileBytes(copying: moved)).summary == SampleModel().decoded().summary)
  }

  @Test("a file that is read in parts is the same, and cut off while it is decoded, unreadable")
  func readsInParts() throws {
    try withTemporaryFolder { folder in
      let path = folder.appending(path: "model.tflite").path
      let bytes = SampleModel().bytes + Array(repeating: 1, count: 300_000)
      try Data(bytes).write(to: URL(filePath: path))
      let file = try FileBytes(readingFileAt: path, keepsOpen: true)
      #expect(try ModelFile(file).summary == SampleModel().decoded().summary)
      #expect(file.contains(0..<bytes.count))
      let cut = try FileBytes(readingFileAt: path, keepsOpen: true)
      let handle = try FileHandle(forWritingTo: URL(filePath: path))
      try handle.truncate(atOffset: 100)
      let error = #expect(throws: FormatError.self) { try ModelFile(cut) }
      #expect(error?.isUnreadable == true, "\(error?.message ?? "")")
    }
  }

  @Test func takesTheGreaterOperatorCode() throws {
    var model = SampleModel()
    model.codes[0] = [0: .int8(127), 3: .int32(128)]
    #expect(try model.decoded().operatorCodes[0].code == .cumsum)
    model.codes[0] = [0: .int8(9)]
    #expect(try model.decoded().operatorCodes[0].code == .fullyConnected)
    model.codes[0] = [3: .int32(209)]
    #expect(try model.decoded().operatorCodes[0].code == .stablehloCase)
  }

  @Test func listsAnUnknownOperatorInsteadOfRefusingIt() throws {
    var model = SampleModel()
    model.codes[0] = [3: .int32(4711)]
    let entry = try model.decoded().operatorCodes[0]
    #expect(entry.code == nil)
    #expect(entry.name == "UNKNOWN_4711")
  }

  @Test func findsDataBehindTheFlatBuffer() throws {
    var model = SampleModel()
    model.buffers[1] = [1: .uint64(1 << 40), 2: .uint64(18)]
    model.operators[1][5] = nil
    model.operators[1][9] = .uint64(1 << 40)
    model.operators[1][10] = .uint64(4)
    let length = model.bytes.count
    model.buffers[1] = [1: .uint64(UInt64(length)), 2: .uint64(18)]
    model.operators[1][9] = .uint64(UInt64(length + 18))
    let file = try ModelFile(FileBytes(copying: model.bytes + Array(100..<122)))
    let data = try #require(file.subgraphs[0].tensors[1].data)
    #expect(try file.withBytes(of: data) { Array($0) } == Array(100..<118))
    let options = try #require(file.subgraphs[0].operators[1].customOptions)
    #expect(try file.withBytes(of: options) { Array($0) } == Array(118..<122))
    #expect(throws: FormatError.self) { try ModelFile(FileBytes(copying: model.bytes + Array(100..<121))) }
  }

  @Test func keepsAnEmptyConstantApartFromNoConstant() throws {
    var model = SampleModel()
    model.buffers.append([0: .bytes([])])
    model.tensors.append([0: .int32s([0]), 1: .int8(2), 2: .uint32(5), 3: .string("empty")])
    model.tensors.append([0: .int32s([0]), 1: .int8(2), 3: .string("computed")])
    let tensors = try model.decoded().subgraphs[0].tensors
    #expect(tensors[6].data?.isEmpty == true)
    #expect(tensors[7].data == nil)
  }

  @Test(
    "packed elements need the bytes that hold the last one",
    arguments: [(Int8(17), 5, 3), (20, 4, 2), (19, 5, 2), (8, 1, 8), (11, 2, 32), (21, 3, 3)])
  func countsPackedBytes(type: Int8, elements: Int, bytes: Int) throws {
    func model(_ count: Int) -> SampleModel {
      var model = SampleModel()
      model.buffers.append([0: .bytes(Array(repeating: 1, count: count))])
      model.tensors.append([0: .int32s([Int32(elements)]), 1: .int8(type), 2: .uint32(5)])
      return model
    }
    #expect(try model(bytes).decoded().subgraphs[0].tensors[6].data?.count == bytes)
    #expect(try model(bytes + 1).decoded().subgraphs[0].tensors[6].data?.count == bytes)
    #expect(throws: FormatError.self) { try model(bytes - 1).decoded() }
  }

  @Test func readsBlockwiseQuantization() throws {
    var model = SampleModel()
    model.tensors[3][4] = .table([4: .uint8(2), 5: .table([0: .int32(1), 1: .int32(-1), 2: .int32(32)])])
    let entry = try #require(try model.decoded().subgraphs[0].tensors[3].quantization?.blockwise)
    #expect(entry.scales == 1 && entry.zeroPoints == -1 && entry.blockSize == 32)
    model.tensors[3][4] = .table([4: .uint8(2), 5: .table([0: .int32(6)])])
    #expect(throws: FormatError.self) { try model.decoded() }
  }

  @Test func damagedMetadataEntriesAreLeftOut() throws {
    var model = SampleModel()
    model.metadataEntries = [
      [0: .string("a"), 1: .uint32(99)], [0: .string("b"), 1: .uint32(0)], [1: .uint32(UInt32.max)],
    ]
    #expect(try model.decoded().metadata.map(\.name) == ["b"])
  }
}
