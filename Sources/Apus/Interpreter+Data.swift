// SPDX-License-Identifier: Apache-2.0

/// Reading and writing what tensors hold.
extension Interpreter {
  /// Lets `body` write an input's elements in place.
  ///
  /// - Throws: `invalidArgument` if there is no such input or it is not of `T`; whatever `body` throws.
  public func withInput<T: TensorElement, R>(
    at position: Int, as type: T.Type = T.self, _ body: (inout MutableSpan<T>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let index = try inputTensor(position)
    let slot = try slot(index, as: type, role: "input \(position)")
    return try graph.withTable { table throws(ApusError) in
      var span = table.write(slot, as: type)
      return try body(&span)
    }
  }

  /// Lets `body` write an input's bytes in place, whatever its type.
  public func withInputBytes<R>(
    at position: Int, _ body: (inout MutableRawSpan) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let tensor = try inputTensor(position)
    return try graph.withTable { table throws(ApusError) in
      var span = table.writeBytes(at: tensor)
      return try body(&span)
    }
  }

  /// Lets `body` read an output's bytes in place, whatever its type.
  public func withOutputBytes<R>(
    at position: Int, _ body: (RawSpan) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let tensor = try outputTensor(position)
    return try graph.withTable { table throws(ApusError) in try body(table.readBytes(at: tensor)) }
  }

  /// Lets `body` read an output's elements in place.
  ///
  /// - Throws: `invalidArgument` if there is no such output or it is not of `T`; whatever `body` throws.
  public func withOutput<T: TensorElement, R>(
    at position: Int, as type: T.Type = T.self, _ body: (Span<T>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    try withTensor(outputTensor(position), role: "output \(position)", body)
  }

  /// Lets `body` read any tensor's elements: after a run with ``Options/preservesAllTensors``, what it holds.
  public func withTensor<T: TensorElement, R>(
    at index: Int, as type: T.Type = T.self, _ body: (Span<T>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    guard graph.subgraph.tensors.indices.contains(index) else {
      throw ApusError(.invalidArgument, "there is no tensor \(index), only \(graph.subgraph.tensors.count)")
    }
    try graph.present(index)
    return try withTensor(index, role: "tensor \(index)", body)
  }

  private func withTensor<T: TensorElement, R>(
    _ index: Int, role: String, _ body: (Span<T>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let slot = try slot(index, as: T.self, role: role)
    return try graph.withTable { table throws(ApusError) in try body(table.read(slot)) }
  }

  private func slot<T: TensorElement>(_ index: Int, as type: T.Type, role: String) throws(ApusError)
    -> TensorSlot
  {
    let type = graph.wiring.types[index]
    guard type.isReadable(as: T.elementType) else {
      throw ApusError(
        .invalidArgument, "\(role) (\(graph.wiring.name(of: index))) is \(type), not \(T.elementType)")
    }
    return slot(index)
  }

  private func slot(_ index: Int) -> TensorSlot {
    TensorSlot(
      index: index, entry: graph.subgraph.tensors[index], type: graph.wiring.types[index],
      shape: graph.shape(of: index) ?? [0], isConstant: false)
  }

  /// Copies values into an input.
  ///
  /// - Throws: `invalidArgument` if there is no such input, it is not of `T`, or has another number of elements.
  public func copy<T: TensorElement>(_ values: [T], toInputAt position: Int) throws(ApusError) {
    try withInput(at: position, as: T.self) { span throws(ApusError) in
      guard span.count == values.count else {
        throw ApusError(
          .invalidArgument, "input \(position) takes \(span.count) elements, not \(values.count)")
      }
      for index in values.indices { span[index] = values[index] }
    }
  }

  /// Copies an output's elements out.
  ///
  /// - Throws: `invalidArgument` if there is no such output or it is not of `T`.
  public func output<T: TensorElement>(at position: Int, as type: T.Type = T.self) throws(ApusError) -> [T] {
    try withOutput(at: position, as: type) { span in
      var values: [T] = []
      values.reserveCapacity(span.count)
      for index in span.indices { values.append(span[index]) }
      return values
    }
  }

  /// An output's elements as real numbers: floats as they are, integers by their scale and zero point.
  public func dequantizedOutput(at position: Int) throws(ApusError) -> [Float] {
    let index = try outputTensor(position)
    let (type, name) = (graph.wiring.types[index], graph.wiring.name(of: index))
    let parameters = graph.subgraph.tensors[index].parameters
    func real(_ values: [Int]) throws(ApusError) -> [Float] {
      guard let parameters else { return values.map(Float.init) }
      guard !parameters.isPerChannel else {
        throw ApusError(.invalidArgument, "output \(position) (\(name)) has a scale for each channel")
      }
      // A zero point of the file may be any number; the difference of such is no answer anyway.
      return values.map { parameters.scale * Float($0 &- parameters.zeroPoint) }
    }
    switch type {
    case .float32: return try output(at: position, as: Float.self)
    case .uint8, .uint4: return try real(output(at: position, as: UInt8.self).map(Int.init))
    case .int8, .int4, .int2: return try real(output(at: position, as: Int8.self).map(Int.init))
    case .int16: return try real(output(at: position, as: Int16.self).map(Int.init))
    case .int32: return try real(output(at: position, as: Int32.self).map(Int.init))
    case .int64: return try real(output(at: position, as: Int64.self).map(Int.init))
    default:
      throw ApusError(
        .invalidArgument, "output \(position) (\(name)) is \(type): no real numbers")
    }
  }
}
