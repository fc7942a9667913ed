// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import TestSupport

/// A model described in a test, and written as a `.tflite` file.
struct TestModel {
  struct TensorSpec {
    var name: String
    var type: Int32 = TestModel.float32
    var shape: [Int32]
    var signature: [Int32]?
    var data: [UInt8]?
    var scale: Float?
    var zeroPoint: Int64 = 0
    var isVariable = false
  }

  struct OperatorSpec {
    /// The number in the schema.
    var number: Int32
    var inputs: [Int32]
    var outputs: [Int32]
    var options: TestOptions
    /// The options' number in the schema's union; nil for the operator's own.
    var optionsType: Int?
    /// The options' number in the schema's second union; nil for operators with options of the first.
    var options2Type: Int?
    var customName: String?
    var customOptions: [UInt8]?
    var version: Int32

    init(
      code: OperatorCode, inputs: [Int32], outputs: [Int32], options: TestOptions = .none,
      optionsType: Int? = nil,
      customName: String? = nil, customOptions: [UInt8]? = nil, version: Int32 = 1
    ) {
      self.init(number: code.number, inputs: inputs, outputs: outputs)
      self.options = options
      self.optionsType = optionsType ?? code.optionsType
      options2Type = code.options2Type
      self.customName = customName
      self.customOptions = customOptions
      self.version = version
    }

    /// An operator without options, of any number.
    init(number: Int32, inputs: [Int32], outputs: [Int32]) {
      self.number = number
      self.inputs = inputs
      self.outputs = outputs
      options = .none
      version = 1
    }
  }

  // Numbers of the schema.
  static let float32: Int32 = 0
  static let int32: Int32 = 2
  static let uint8: Int32 = 3
  static let int8: Int32 = 9
  static let bool: Int32 = 6
  static let string: Int32 = 5
  static let complex64: Int32 = 8

  var tensors: [TensorSpec]
  var operators: [OperatorSpec]
  var inputs: [Int32]
  var outputs: [Int32]
  /// The main signature's names of inputs and outputs.
  var signature: (inputs: [String], outputs: [String])?

  /// Subgraphs that operators or signatures call, numbered from 1.
  var children: [TestModel] = []
  /// Signatures of children by key, with tensors' names as those of arguments.
  var childSignatures: [(key: String, subgraph: Int)] = []

  private func subgraph(_ buffers: inout [FlatTable], _ codes: inout [OperatorSpec]) -> FlatTable {
    let tensorTables = tensors.map { tensor in
      var fields: [Int: FlatTable.Field] = [
        0: .ints(tensor.shape), 1: .byte(UInt8(tensor.type)), 3: .text(tensor.name),
      ]
      if let data = tensor.data, !data.isEmpty {
        fields[2] = .int(Int32(buffers.count))
        buffers.append(FlatTable([0: .bytes(data)]))
      }
      if let scale = tensor.scale {
        fields[4] = .table(FlatTable([2: .floats([scale]), 3: .longs([tensor.zeroPoint])]))
      }
      if tensor.isVariable { fields[5] = .byte(1) }
      if let signature = tensor.signature { fields[7] = .ints(signature) }
      return FlatTable(fields)
    }
    var operatorTables: [FlatTable] = []
    for node in operators {
      var fields: [Int: FlatTable.Field] = [
        0: .int(Int32(codes.count)), 1: .ints(node.inputs), 2: .ints(node.outputs),
        3: .byte(UInt8(node.optionsType ?? 1)),
        4: .table(FlatTable(node.options.fields)),
      ]
      if let type = node.options2Type {
        fields[11] = .byte(UInt8(type))
        fields[12] = .table(FlatTable(node.options.fields))
      }
      if let bytes = node.customOptions { fields[5] = .bytes(bytes) }
      operatorTables.append(FlatTable(fields))
      codes.append(node)
    }
    return FlatTable([
      0: .tables(tensorTables), 1: .ints(inputs), 2: .ints(outputs), 3: .tables(operatorTables),
      4: .text("main"),
    ])
  }

  /// The file.
  var bytes: [UInt8] {
    var buffers = [FlatTable()]
    var codes: [OperatorSpec] = []
    var subgraphs: [FlatTable] = []
    for graph in [self] + children { subgraphs.append(graph.subgraph(&buffers, &codes)) }
    let codeTables = codes.map { node in
      var fields: [Int: FlatTable.Field] = [
        0: .byte(UInt8(min(node.number, 127))), 2: .int(node.version), 3: .int(node.number),
      ]
      if let name = node.customName { fields[1] = .text(name) }
      return FlatTable(fields)
    }
    var model: [Int: FlatTable.Field] = [
      0: .int(3), 1: .tables(codeTables), 2: .tables(subgraphs), 3: .text("a test"), 4: .tables(buffers),
    ]
    func maps(_ names: [String], _ tensors: [Int32]) -> FlatTable.Field {
      .tables(zip(names, tensors).map { FlatTable([0: .text($0), 1: .int($1)]) })
    }
    var signatures: [FlatTable] = []
    if let signature {
      signatures.append(
        FlatTable([
          0: maps(signature.inputs, inputs), 1: maps(signature.outputs, outputs), 2: .text("serving_default"),
          4: .int(0),
        ]))
    }
    for (key, subgraph) in childSignatures {
      let child = children[subgraph - 1]
      func named(_ indices: [Int32]) -> FlatTable.Field {
        maps(indices.map { child.tensors[Int($0)].name }, indices)
      }
      signatures.append(
        FlatTable([0: named(child.inputs), 1: named(child.outputs), 2: .text(key), 4: .int(Int32(subgraph))]))
    }
    if !signatures.isEmpty { model[7] = .tables(signatures) }
    return FlatTable(model).file(identifier: "TFL3")
  }

  /// The model, read back.
  func model() throws(ApusError) -> Model {
    try Model(bytes: bytes)
  }

  /// Little-endian bytes of floats.
  static func bytes(_ values: [Float]) -> [UInt8] {
    values.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian) { Array($0) } }
  }

  /// `relu(x) + x`, then `relu` of that: `x` of the shape given.
  static func chain(shape: [Int32] = [1, 4], signature: [Int32]? = nil) -> TestModel {
    TestModel(
      tensors: [
        TensorSpec(name: "x", shape: shape, signature: signature), TensorSpec(name: "a", shape: shape),
        TensorSpec(name: "b", shape: shape), TensorSpec(name: "y", shape: shape),
      ],
      operators: [
        OperatorSpec(code: .relu, inputs: [0], outputs: [1]),
        OperatorSpec(code: .add, inputs: [1, 0], outputs: [2]),
        OperatorSpec(code: .relu, inputs: [2], outputs: [3]),
      ],
      inputs: [0], outputs: [3], signature: (["pixels"], ["answer"]))
  }

  /// `relu(reshape(x, shape))`, where both are inputs.
  static var dynamic: TestModel {
    TestModel(
      tensors: [
        TensorSpec(name: "x", shape: [2, 3]), TensorSpec(name: "shape", type: int32, shape: [2]),
        TensorSpec(name: "reshaped", shape: [2, 3], signature: [-1, -1]),
        TensorSpec(name: "a", shape: [2, 3], signature: [-1, -1]),
        TensorSpec(name: "y", shape: [2, 3], signature: [-1, -1]),
      ],
      operators: [
        OperatorSpec(code: .reshape, inputs: [0, 1], outputs: [2]),
        OperatorSpec(code: .relu, inputs: [2], outputs: [3]),
        OperatorSpec(code: .add, inputs: [3, 2], outputs: [4]),
      ],
      inputs: [0, 1], outputs: [4])
  }
}
