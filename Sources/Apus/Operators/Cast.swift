import ApusKernels

/// `CAST`: values of one type as those of another.
enum Cast {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let input = try node.input(0)
    if try node.outputType(0) == input.type { return try node.view(0, of: input, shape: input.shape) }
    let output = try node.output(0, shape: input.shape)
    let packed: [ElementType] = [.int4, .int2, .uint4]
    if input.type == .float32, packed.contains(output.type) {
      let kernel = CastKernel.packed(in: output.type.integerRange, count: input.shape.elementCount)
      return UnaryOperator(kernel, input: input, output: output)
    }
    guard let source = input.type.castType, let target = output.type.castType,
      !packed.contains(input.type) || output.type == .float32, !packed.contains(output.type)
    else { throw node.unsupported("from \(input.type) to \(output.type) is not supported") }
    let kernel = CastKernel.kernel(from: source, to: target, count: input.shape.elementCount)
    return UnaryOperator(kernel, input: input, output: output)
  }
}

extension ElementType {
  /// The name by which casts know the type, if they do.
  var castType: CastKernel.ElementType? {
    switch self {
    case .bool: .bool
    case .int8, .int4, .int2: .int8
    case .uint8, .uint4: .uint8
    case .int16: .int16
    case .uint16: .uint16
    case .int32: .int32
    case .uint32: .uint32
    case .int64: .int64
    case .float16: .float16
    case .bfloat16: .bfloat16
    case .float32: .float32
    case .float64: .float64
    default: nil
    }
  }
}
