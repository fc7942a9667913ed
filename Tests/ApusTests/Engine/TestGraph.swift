// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// A graph that a test builds operator by operator, in the words of TensorFlow's API.
///
/// ```swift
/// var graph = TestGraph()
/// let x = graph.input("x", [1, 8, 8, 3])
/// let filter = graph.constant("filter", [16, 3, 3, 3], floats: weights)
/// let y = graph.conv2D(x, filter: filter, stride: 2, activation: .relu)
/// let model = graph.model(outputs: [y])
/// ```
///
/// Results have the type and the quantization of their operand unless `as:` says otherwise. The file states no shape for them, so that the
/// engine has to infer it. Tensors are numbered in the order in which they are made.
struct TestGraph {
  /// A tensor of one graph.
  struct Tensor: Hashable {
    /// The place of an optional operand that is not there.
    static let none = Tensor(index: -1)
    let index: Int32
  }

  /// A result in the file; a property that is nil is the operand's. A string is a name.
  struct Result: ExpressibleByStringLiteral {
    var name: String?
    var type: TensorType?
    var shape: [Int] = []
    var scale: Float?
    var zeroPoint: Int64 = 0

    init(
      _ name: String? = nil, type: TensorType? = nil, shape: [Int] = [], scale: Float? = nil,
      zeroPoint: Int64 = 0
    ) {
      (self.name, self.type, self.shape) = (name, type, shape)
      (self.scale, self.zeroPoint) = (scale, zeroPoint)
    }

    init(stringLiteral name: String) { self.init(name) }
  }

  /// The activation that an operator applies to its result, by its number in the schema.
  enum Activation: UInt8 { case none, relu, reluN1To1, relu6, tanh }

  enum Padding { case same, valid }

  private(set) var tensors: [TestModel.TensorSpec] = []
  private(set) var operators: [TestModel.OperatorSpec] = []
  private var inputs: [Tensor] = []
  private var subgraphs: [TestModel] = []

  /// A tensor in the file.
  subscript(tensor: Tensor) -> TestModel.TensorSpec {
    get { tensors[Int(tensor.index)] }
    set { tensors[Int(tensor.index)] = newValue }
  }

  /// The model, whose inputs are in the order in which they were made.
  func model(outputs: [Tensor], signature: (inputs: [String], outputs: [String])? = nil) -> TestModel {
    TestModel(
      tensors: tensors, operators: operators, inputs: inputs.map(\.index), outputs: outputs.map(\.index),
      signature: signature, children: subgraphs)
  }

  /// Adds a subgraph, for operators of any graph of the model to call; `build` returns its outputs.
  ///
  /// - Returns: Its number; the first is 1, as the main graph is 0.
  @discardableResult
  mutating func subgraph(_ build: (inout TestGraph) -> [Tensor]) -> Int32 {
    var graph = TestGraph()
    let outputs = build(&graph)
    precondition(graph.subgraphs.isEmpty, "only the main graph has subgraphs")
    subgraphs.append(graph.model(outputs: outputs))
    return Int32(subgraphs.count)
  }

  // MARK: Tensors that no operator makes

  /// Adds a tensor, which is neither an input nor a constant unless `spec` has data.
  mutating func tensor(_ spec: TestModel.TensorSpec) -> Tensor {
    tensors.append(spec)
    return Tensor(index: Int32(tensors.count - 1))
  }

  mutating func tensor(
    _ name: String, _ shape: [Int], type: TensorType = .float32, scale: Float? = nil, zeroPoint: Int64 = 0,
    bytes: [UInt8]? = nil
  ) -> Tensor {
    tensor(
      .init(
        name: name, type: Int32(type.rawValue), shape: shape.map { Int32($0) }, data: bytes, scale: scale,
        zeroPoint: zeroPoint))
  }

  /// Adds an input; `signature` has −1 for dimensions that are open.
  mutating func input(
    _ name: String, _ shape: [Int], signature: [Int]? = nil, type: TensorType = .float32, scale: Float? = nil,
    zeroPoint: Int64 = 0
  ) -> Tensor {
    let input = tensor(name, shape, type: type, scale: scale, zeroPoint: zeroPoint)
    self[input].signature = signature?.map { Int32($0) }
    inputs.append(input)
    return input
  }

  /// Adds a tensor that keeps its value from run to run.
  mutating func variable(_ name: String, _ shape: [Int]) -> Tensor {
    let variable = tensor(name, shape)
    self[variable].isVariable = true
    return variable
  }

  mutating func constant(_ name: String, _ shape: [Int], floats: [Float]) -> Tensor {
    tensor(name, shape, bytes: TestModel.bytes(floats))
  }

  /// Adds a constant of `int32`, a vector unless `shape` says otherwise. Equal constants are one, as converters write them.
  mutating func constant(_ name: String, _ shape: [Int]? = nil, integers: [Int]) -> Tensor {
    let shape = shape ?? [integers.count]
    let bytes = integers.flatMap { value in
      withUnsafeBytes(of: Int32(value).littleEndian) { Array($0) }
    }
    let same = tensors.firstIndex {
      $0.type == TestModel.int32 && $0.data == bytes && $0.shape == shape.map { Int32($0) }
    }
    if let same { return Tensor(index: Int32(same)) }
    return tensor(name, shape, type: .int32, bytes: bytes)
  }

  // MARK: Any operator

  /// Adds an operator that writes tensors which are there.
  mutating func add(
    _ code: OperatorCode, inputs: [Tensor], options: TestOptions = .none, into outputs: [Tensor]
  ) {
    operators.append(
      .init(code: code, inputs: inputs.map(\.index), outputs: outputs.map(\.index), options: options))
  }

  /// Adds an operator with several results; what they do not say is as in `operand`, or else the first input.
  mutating func add(
    _ code: OperatorCode, inputs: [Tensor], options: TestOptions = .none, results: [Result],
    like operand: Tensor? = nil
  ) -> [Tensor] {
    let model = (operand ?? inputs.first).map { self[$0] }
    let outputs = results.map { result in
      tensor(
        .init(
          name: result.name ?? "t\(tensors.count)",
          type: result.type.map { Int32($0.rawValue) } ?? model?.type ?? TestModel.float32,
          shape: result.shape.map { Int32($0) },
          scale: result.scale ?? (result.type == nil ? model?.scale : nil),
          zeroPoint: result.scale == nil && result.type == nil ? model?.zeroPoint ?? 0 : result.zeroPoint))
    }
    add(code, inputs: inputs, options: options, into: outputs)
    return outputs
  }

  /// Adds an operator with one result, which is like `operand`, or else the first input.
  mutating func add(
    _ code: OperatorCode, inputs: [Tensor], options: TestOptions = .none, as result: Result = Result(),
    like operand: Tensor? = nil
  ) -> Tensor {
    add(code, inputs: inputs, options: options, results: [result], like: operand)[0]
  }
}
