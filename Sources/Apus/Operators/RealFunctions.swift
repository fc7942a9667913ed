// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `EXP`: `eˣ`.
enum Exp {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .int8, .int16])
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
    }
    return try node.realFunction(.exp, input: input, output: output)
  }
}

/// `LOG`: the natural logarithm; quantized values without one give the minimum.
enum Log {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .int8, .int16])
    guard input.type != .float32 else { return try node.realFunction(.log, input: input, output: output) }
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
    }
    let (scale, zeroPoint) = try node.quantization(of: output)
    let least = Float(output.type.integerRange.lowerBound - Int(zeroPoint)) * scale
    return try node.realFunction(
      .log, input: input, output: output, quantized: { $0 <= 0 ? least : FloatFunction.log($0) })
  }
}

/// `ELU`: `eˣ − 1` below zero, `x` above.
enum Elu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .int8])
    return try node.realFunction(.elu, input: input, output: output)
  }
}

/// `GELU`: `x` times the normal distribution function, or an approximation to it.
enum Gelu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .uint8, .int8, .int16])
    let isApproximate = try node.boolOption(0)
    return try node.realFunction(
      node.isHalfPrecision ? .halfGelu(isApproximate: isApproximate) : .gelu(isApproximate: isApproximate),
      input: input, output: output)
  }
}

/// `ABS`: numbers without their sign.
enum Abs {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .int8, .int16, .int32])
    let isQuantized = input.type == .int8 || input.type == .int16 && input.quantization != nil
    guard isQuantized else {
      return try node.numberFunction(.absolute, .absolute, types: [.float32, .int16, .int32])
    }
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
    }
    let factor = Double(try node.quantization(of: input).scale / node.quantization(of: output).scale)
    let function = QuantizedAbsolute(try node.rescaling(factor, from: input, to: output))
    let count = input.shape.elementCount
    if input.type == .int8 {
      return UnaryOperator(function.bytes, input: input, output: output, using: node.kernels)
    }
    return UnaryOperator(function.words(count: count), input: input, output: output)
  }
}

/// `LEAKY_RELU`: `αx` below zero, `x` above.
enum LeakyRelu {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .uint8, .int8, .int16])
    let alpha = try node.floatOption(0, default: 0)
    let count = input.shape.elementCount
    guard input.type != .float32 else {
      return UnaryOperator(
        FloatFunction.leakyRelu(alpha: alpha), input: input, output: output, using: node.kernels)
    }
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
    }
    let source = try node.quantization(of: input).scale
    let target = try node.quantization(of: output).scale
    let factor = Double(source * alpha / target)
    let function = QuantizedLeakyRelu(
      positive: try node.rescaling(Double(source / target), from: input, to: output),
      negative: FixedPointMultiplier(abs(factor)), isNegated: factor < 0)
    if input.type == .int16 {
      return UnaryOperator(function.words(count: count), input: input, output: output)
    }
    let table = function.bytes(isSigned: input.type == .int8)
    return UnaryOperator(table, input: input, output: output, using: node.kernels)
  }
}

/// `HARD_SWISH`: `x · min(6, max(0, x + 3)) / 6`.
enum HardSwish {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .uint8, .int8])
    guard input.type != .float32 else {
      return UnaryOperator(FloatFunction.hardSwish, input: input, output: output, using: node.kernels)
    }
    let source = try node.quantization(of: input)
    let target = try node.quantization(of: output)
    guard
      let function = QuantizedHardSwish(
        inputScale: source.scale, inputZeroPoint: source.zeroPoint, outputScale: target.scale,
        outputZeroPoint: target.zeroPoint, range: output.type.integerRange)
    else {
      throw node.unsupported("\(output.name) has the scale \(target.scale), below 1/128 of the input's")
    }
    let table = ByteTable(isSigned: input.type == .int8) { function($0) }
    return UnaryOperator(table, input: input, output: output, using: node.kernels)
  }
}
