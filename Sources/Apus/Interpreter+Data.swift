// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Reading and writing tensor data.
///
/// Elements lie row by row, the last dimension fastest; pictures are mostly `[batch, height, width, channels]`.
/// Integers are raw: ``Tensor/quantization`` says which real numbers they represent.
///
/// A closure that gets memory may throw errors of its own, and they reach the caller as they are. Where all errors are
/// ``ApusError``, so are those of the call: `{ span throws(ApusError) in … }` says so of a closure.
///
/// While a closure has memory of an interpreter, the interpreter does not run and its inputs keep their shapes: such calls throw
/// `invalidArgument`, as does lending memory twice if one of the closures writes it.
extension Interpreter {
  /// Lends an input's elements to `body`, which writes them in place.
  ///
  /// - Parameters:
  ///   - position: The input's position in ``inputs``.
  ///   - type: The Swift type of the elements: that of the tensor's ``Tensor/type``.
  ///   - body: Gets a span of ``TensorShape/elementCount`` elements, valid only during the call.
  /// - Returns: What `body` returns.
  /// - Throws: `invalidArgument` if there is no such input or `T` is not its type; errors of `body`.
  public func withInput<T: TensorElement, R>(
    at position: Int, as type: T.Type = T.self, _ body: (inout MutableSpan<T>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let slot = try inputSlot(position, as: type)
    try lend(slot.index, isWritten: true)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(ApusError) in
      var span = table.write(slot, as: type)
      return try body(&span)
    }
  }

  /// Lends an input's elements to `body`, which writes them in place and may throw errors of its own.
  ///
  /// - Throws: `invalidArgument` if there is no such input or `T` is not its type; errors of `body`.
  public func withInput<T: TensorElement, R, E: Error>(
    at position: Int, as type: T.Type = T.self, _ body: (inout MutableSpan<T>) throws(E) -> R
  ) throws -> R {
    let slot = try inputSlot(position, as: type)
    try lend(slot.index, isWritten: true)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(E) in
      var span = table.write(slot, as: type)
      return try body(&span)
    }
  }

  /// Notes that a closure gets the memory of a tensor.
  ///
  /// - Throws: `invalidArgument` if another closure has memory of it, and one of the two writes.
  private func lend(_ tensor: Int, isWritten: Bool) throws(ApusError) {
    let memory = graph.addresses(of: tensor)
    for other in lent where (isWritten || other.isWritten) && other.memory.overlaps(memory) {
      throw ApusError(
        .invalidArgument,
        "the memory of \(graph.wiring.name(of: tensor)) is in use by a closure that is still running: copy the values that both need"
      )
    }
    lent.append(LentMemory(memory: memory, isWritten: isWritten))
  }

  /// Refuses what may move or overwrite memory that a closure has.
  func checkNothingIsLent(_ action: String) throws(ApusError) {
    guard lent.isEmpty else {
      throw ApusError(
        .invalidArgument,
        "\(action) within a closure that has memory of the interpreter: end the closure first")
    }
  }

  private func inputSlot<T: TensorElement>(_ position: Int, as type: T.Type) throws(ApusError) -> TensorSlot {
    try slot(inputTensor(position), as: type, role: "input \(position)")
  }

  /// Lends an input's bytes to `body`, which writes them in place, whatever the tensor's type.
  ///
  /// - Throws: `invalidArgument` if there is no such input; errors of `body`.
  public func withInputBytes<R>(
    at position: Int, _ body: (inout MutableRawSpan) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let tensor = try inputTensor(position)
    try lend(tensor, isWritten: true)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(ApusError) in
      var span = table.writeBytes(at: tensor)
      return try body(&span)
    }
  }

  /// Lends an input's bytes to `body`, which writes them in place and may throw errors of its own.
  ///
  /// - Throws: `invalidArgument` if there is no such input; errors of `body`.
  public func withInputBytes<R, E: Error>(
    at position: Int, _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws -> R {
    let tensor = try inputTensor(position)
    try lend(tensor, isWritten: true)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(E) in
      var span = table.writeBytes(at: tensor)
      return try body(&span)
    }
  }

  /// Lends an output's bytes to `body`, the results of the last run, whatever the tensor's type.
  ///
  /// - Throws: `invalidArgument` if there is no such output; errors of `body`.
  public func withOutputBytes<R>(
    at position: Int, _ body: (RawSpan) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let tensor = try outputTensor(position)
    try lend(tensor, isWritten: false)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(ApusError) in try body(table.readBytes(at: tensor)) }
  }

  /// Lends an output's bytes to `body`, which may throw errors of its own.
  ///
  /// - Throws: `invalidArgument` if there is no such output; errors of `body`.
  public func withOutputBytes<R, E: Error>(
    at position: Int, _ body: (RawSpan) throws(E) -> R
  ) throws -> R {
    let tensor = try outputTensor(position)
    try lend(tensor, isWritten: false)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(E) in try body(table.readBytes(at: tensor)) }
  }

  /// Lends an output's elements to `body`: the results of the last run.
  ///
  /// - Parameters:
  ///   - position: The output's position in ``outputs``.
  ///   - type: The Swift type of the elements: that of the tensor's ``Tensor/type``.
  ///   - body: Gets a span, valid only during the call. It is empty if the shape depends on data and nothing has run.
  /// - Returns: What `body` returns.
  /// - Throws: `invalidArgument` if there is no such output or `T` is not its type; errors of `body`.
  public func withOutput<T: TensorElement, R>(
    at position: Int, as type: T.Type = T.self, _ body: (Span<T>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let slot = try slot(outputTensor(position), as: type, role: "output \(position)")
    try lend(slot.index, isWritten: false)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(ApusError) in try body(table.read(slot)) }
  }

  /// Lends an output's elements, the results of the last run, to `body`, which may throw errors of its own.
  ///
  /// - Throws: `invalidArgument` if there is no such output or `T` is not its type; errors of `body`.
  public func withOutput<T: TensorElement, R, E: Error>(
    at position: Int, as type: T.Type = T.self, _ body: (Span<T>) throws(E) -> R
  ) throws -> R {
    let slot = try slot(outputTensor(position), as: type, role: "output \(position)")
    try lend(slot.index, isWritten: false)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(E) in try body(table.read(slot)) }
  }

  /// Lends any tensor's elements to `body`. Intermediate results are meaningful only with
  /// ``Options/preservesAllTensors``; otherwise their memory is reused.
  ///
  /// - Parameters:
  ///   - index: The tensor's index in ``tensors``.
  ///   - type: The Swift type of the elements: that of the tensor's ``Tensor/type``.
  ///   - body: Gets a span, valid only during the call.
  /// - Throws: `invalidArgument` if there is no such tensor or `T` is not its type; `unreadableFile` if it is a
  ///   constant that can no longer be read; errors of `body`.
  public func withTensor<T: TensorElement, R>(
    at index: Int, as type: T.Type = T.self, _ body: (Span<T>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let slot = try presentSlot(index, as: type)
    try lend(slot.index, isWritten: false)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(ApusError) in try body(table.read(slot)) }
  }

  /// Lends any tensor's elements to `body`, which may throw errors of its own.
  ///
  /// - Throws: `invalidArgument` if there is no such tensor or `T` is not its type; `unreadableFile` if it is a
  ///   constant that can no longer be read; errors of `body`.
  public func withTensor<T: TensorElement, R, E: Error>(
    at index: Int, as type: T.Type = T.self, _ body: (Span<T>) throws(E) -> R
  ) throws -> R {
    let slot = try presentSlot(index, as: type)
    try lend(slot.index, isWritten: false)
    defer { lent.removeLast() }
    return try graph.withTable { table throws(E) in try body(table.read(slot)) }
  }

  private func presentSlot<T: TensorElement>(_ index: Int, as type: T.Type) throws(ApusError) -> TensorSlot {
    guard graph.subgraph.tensors.indices.contains(index) else {
      throw ApusError(.invalidArgument, "there is no tensor \(index), only \(graph.subgraph.tensors.count)")
    }
    try graph.present(index)
    return try slot(index, as: type, role: "tensor \(index)")
  }

  /// A copy of any tensor's bytes, whatever its type; empty if nothing has computed it.
  ///
  /// - Throws: `invalidArgument` if there is no such tensor; `unreadableFile` if it is a constant that can no longer be read.
  package func tensorBytes(at index: Int) throws(ApusError) -> [UInt8] {
    guard graph.subgraph.tensors.indices.contains(index) else {
      throw ApusError(.invalidArgument, "there is no tensor \(index), only \(graph.subgraph.tensors.count)")
    }
    try graph.present(index)
    return try graph.withTable { table throws(ApusError) -> [UInt8] in
      let span = table.readBytes(at: index)
      return unsafe span.withUnsafeBytes { unsafe Array($0) }
    }
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
  /// ```swift
  /// try interpreter.copy([UInt8](repeating: 128, count: 224 * 224 * 3), toInputAt: 0)
  /// ```
  ///
  /// - Parameters:
  ///   - values: As many elements as the input's shape has, row by row, in the tensor's own type. They are not
  ///     quantized or converted.
  ///   - position: The input's position in ``inputs``.
  /// - Throws: `invalidArgument` if there is no such input, `T` is not its type, or the count differs from the
  ///   shape's ``TensorShape/elementCount``. The input then keeps its values.
  public func copy<T: TensorElement>(_ values: [T], toInputAt position: Int) throws(ApusError) {
    try withInput(at: position, as: T.self) { span throws(ApusError) in
      guard span.count == values.count else {
        throw ApusError(
          .invalidArgument, "input \(position) takes \(span.count) elements, not \(values.count)")
      }
      for index in values.indices { span[index] = values[index] }
    }
  }

  /// An output's elements as an array, row by row, in the tensor's own type.
  ///
  /// - Parameters:
  ///   - position: The output's position in ``outputs``.
  ///   - type: The Swift type of the elements: that of the tensor's ``Tensor/type``.
  /// - Throws: `invalidArgument` if there is no such output or `T` is not its type.
  public func output<T: TensorElement>(at position: Int, as type: T.Type = T.self) throws(ApusError) -> [T] {
    try withOutput(at: position, as: type) { span in
      var values: [T] = []
      values.reserveCapacity(span.count)
      for index in span.indices { values.append(span[index]) }
      return values
    }
  }

  /// An output's elements as real numbers: floats as float32, integers as `scale · (q − zeroPoint)`, true as 1 and false as 0.
  ///
  /// Integers without a scale are converted as they are.
  ///
  /// - Throws: `invalidArgument` if there is no such output, it has a scale for each channel, or its type is not one of
  ///   `float32`, `float16`, `bfloat16`, `float64`, `int8`, `uint8`, `int16`, `uint16`, `int32`, `uint32`, `int64`, `int4`, `uint4`,
  ///   `int2` and `bool`.
  public func dequantizedOutput(at position: Int) throws(ApusError) -> [Float] {
    let index = try outputTensor(position)
    let (type, name) = (graph.wiring.types[index], graph.wiring.name(of: index))
    let parameters = graph.subgraph.tensors[index].parameters
    func real<T: BinaryInteger>(_ values: [T]) throws(ApusError) -> [Float] {
      guard let parameters else { return values.map { Float(Int(truncatingIfNeeded: $0)) } }
      guard !parameters.isPerChannel else {
        throw ApusError(.invalidArgument, "output \(position) (\(name)) has a scale for each channel")
      }
      // The file's zero point may be any number; a difference that wraps is meaningless anyway.
      return values.map { parameters.scale * Float(Int(truncatingIfNeeded: $0) &- parameters.zeroPoint) }
    }
    switch type {
    case .float32: return try output(at: position, as: Float.self)
    case .float16: return try output(at: position, as: UInt16.self).map { Float(halfBits: $0) }
    case .bfloat16: return try output(at: position, as: UInt16.self).map { Float(brainBits: $0) }
    case .float64: return try output(at: position, as: Double.self).map { Float($0) }
    case .uint8, .uint4: return try real(output(at: position, as: UInt8.self))
    case .int8, .int4, .int2: return try real(output(at: position, as: Int8.self))
    case .int16: return try real(output(at: position, as: Int16.self))
    case .uint16: return try real(output(at: position, as: UInt16.self))
    case .int32: return try real(output(at: position, as: Int32.self))
    case .uint32: return try real(output(at: position, as: UInt32.self))
    case .int64: return try real(output(at: position, as: Int64.self))
    case .bool: return try output(at: position, as: Bool.self).map { $0 ? 1 : 0 }
    default:
      throw ApusError(
        .invalidArgument, "output \(position) (\(name)) is \(type), which cannot be read as real numbers")
    }
  }
}

/// The memory of a tensor that a closure has.
struct LentMemory {
  /// The addresses of its bytes.
  let memory: Range<UInt>
  let isWritten: Bool
}
