// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A graph as the callee of an operator.
extension Graph {
  /// Whether anything reads an input, so that it has to be copied.
  func reads(input position: Int) -> Bool {
    let tensor = subgraph.inputs[position]
    return wiring.isOutput[tensor] || !wiring.readers(of: tensor).isEmpty
  }

  /// The shape of an output, if it is known.
  func outputShape(_ position: Int) -> TensorShape? { shape(of: subgraph.outputs[position]) }

  /// The type of an output.
  func outputType(_ position: Int) -> ElementType { wiring.types[subgraph.outputs[position]] }

  /// The type of an input.
  func inputType(_ position: Int) -> ElementType { wiring.types[subgraph.inputs[position]] }

  /// Fills an input. `bytes` has the size of its shape.
  func copyInput(_ position: Int, from bytes: RawSpan) throws(ApusError) {
    let tensor = subgraph.inputs[position]
    try withTable { table throws(ApusError) in
      var destination = table.writeBytes(at: tensor)
      precondition(destination.byteCount == bytes.byteCount, "the caller set the input's shape")
      copyBytes(bytes, to: &destination)
    }
  }

  /// Copies an output. `bytes` has the size of its shape.
  func copyOutput(_ position: Int, to bytes: inout MutableRawSpan) throws(ApusError) {
    let tensor = subgraph.outputs[position]
    try withTable { table throws(ApusError) in
      let source = table.readBytes(at: tensor)
      precondition(source.byteCount == bytes.byteCount, "the caller knows the output's shape")
      copyBytes(source, to: &bytes)
    }
  }

  /// Copies an output into memory as large as its shape says.
  func copyOutput(_ position: Int, to bytes: UnsafeMutableRawBufferPointer) throws(ApusError) {
    let tensor = subgraph.outputs[position]
    try withTable { table throws(ApusError) in
      let source = table.readBytes(at: tensor)
      precondition(source.byteCount == bytes.count, "the caller knows the output's shape")
      unsafe source.withUnsafeBytes { unsafe bytes.copyMemory(from: $0) }
    }
  }

  /// The bytes of an output whose shape is known.
  func outputByteCount(_ position: Int) throws(ApusError) -> Int {
    let tensor = subgraph.outputs[position]
    return try wiring.byteCount(of: tensor, shape: shape(of: tensor))
  }
}
