// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The operators that tests use most; ``TestGraph/add(_:inputs:options:as:like:)`` has all others.
extension TestGraph {
  // MARK: Elements

  mutating func relu(_ x: Tensor, as y: Result = Result()) -> Tensor { add(.relu, inputs: [x], as: y) }

  mutating func logistic(_ x: Tensor, as y: Result = Result()) -> Tensor {
    add(.logistic, inputs: [x], as: y)
  }

  mutating func add(
    _ x: Tensor, _ y: Tensor, activation: Activation = .none, as result: Result = Result()
  ) -> Tensor {
    add(.add, inputs: [x, y], options: .activation(activation.rawValue), as: result)
  }

  mutating func sub(_ x: Tensor, _ y: Tensor, as result: Result = Result()) -> Tensor {
    add(.sub, inputs: [x, y], as: result)
  }

  mutating func mul(_ x: Tensor, _ y: Tensor, as result: Result = Result()) -> Tensor {
    add(.mul, inputs: [x, y], as: result)
  }

  mutating func less(_ x: Tensor, _ y: Tensor, as name: String? = nil) -> Tensor {
    add(.less, inputs: [x, y], as: .init(name, type: .bool))
  }

  mutating func cast(_ x: Tensor, to type: TensorType) -> Tensor {
    add(.cast, inputs: [x], as: .init(type: type))
  }

  mutating func quantize(_ x: Tensor, as result: Result) -> Tensor { add(.quantize, inputs: [x], as: result) }

  mutating func dequantize(_ x: Tensor, as name: String? = nil) -> Tensor {
    add(.dequantize, inputs: [x], as: .init(name, type: .float32))
  }

  // MARK: Shapes and places

  mutating func reshape(_ x: Tensor, to shape: Tensor, as y: Result = Result()) -> Tensor {
    add(.reshape, inputs: [x, shape], as: y)
  }

  mutating func reshape(_ x: Tensor, to shape: [Int], as y: Result = Result()) -> Tensor {
    reshape(x, to: constant("shape", integers: shape), as: y)
  }

  mutating func transpose(_ x: Tensor, _ permutation: [Int], as y: Result = Result()) -> Tensor {
    add(.transpose, inputs: [x, constant("permutation", integers: permutation)], as: y)
  }

  /// Adds zeros before and after the elements of each dimension.
  mutating func pad(_ x: Tensor, _ amounts: [[Int]], as y: Result = Result()) -> Tensor {
    let amounts = constant("amounts", [amounts.count, 2], integers: amounts.flatMap { $0 })
    return add(.pad, inputs: [x, amounts], as: y)
  }

  mutating func concatenation(_ inputs: [Tensor], axis: Int32, as y: Result = Result()) -> Tensor {
    add(.concatenation, inputs: inputs, options: .concatenation(axis: axis), as: y)
  }

  mutating func split(_ x: Tensor, axis: Int, count: Int) -> [Tensor] {
    add(
      .split, inputs: [constant("axis", [], integers: [axis]), x], options: .split(count: Int32(count)),
      results: Array(repeating: Result(), count: count), like: x)
  }

  mutating func gather(_ x: Tensor, _ indices: [Int], axis: Int32) -> Tensor {
    add(.gather, inputs: [x, constant("indices", integers: indices)], options: .gather(axis: axis))
  }

  /// Adds the shape of a tensor as a vector of `int32`.
  mutating func shape(_ x: Tensor) -> Tensor {
    add(.shape, inputs: [x], options: .resultType(TestModel.int32), as: .init("shape", type: .int32))
  }

  /// Adds one element of a vector, as a scalar.
  mutating func element(_ index: Int, of x: Tensor) -> Tensor {
    let places = [("begin", index), ("end", index + 1), ("strides", 1)].map {
      constant($0.0, integers: [$0.1])
    }
    return add(.stridedSlice, inputs: [x] + places, options: .stridedSlice(shrinkMask: 1))
  }

  // MARK: Products and reductions

  mutating func conv2D(
    _ x: Tensor, filter: Tensor, bias: Tensor = .none, stride: Int32 = 1, padding: Padding = .same,
    activation: Activation = .none, as y: Result = Result()
  ) -> Tensor {
    let options = TestOptions.conv2D(
      isValid: padding == .valid, strideWidth: stride, strideHeight: stride, activation: activation.rawValue)
    return add(.conv2D, inputs: [x, filter, bias], options: options, as: y)
  }

  mutating func depthwiseConv2D(
    _ x: Tensor, filter: Tensor, bias: Tensor = .none, stride: Int32 = 1, padding: Padding = .same,
    activation: Activation = .none, as y: Result = Result()
  ) -> Tensor {
    let options = TestOptions.depthwiseConv2D(
      isValid: padding == .valid, stride: stride, activation: activation.rawValue)
    return add(.depthwiseConv2D, inputs: [x, filter, bias], options: options, as: y)
  }

  mutating func fullyConnected(
    _ x: Tensor, weights: Tensor, bias: Tensor = .none, activation: Activation = .none,
    as y: Result = Result()
  ) -> Tensor {
    add(.fullyConnected, inputs: [x, weights, bias], options: .activation(activation.rawValue), as: y)
  }

  mutating func batchMatMul(
    _ x: Tensor, _ y: Tensor, transposesRight: Bool = false, as result: Result = Result()
  ) -> Tensor {
    add(.batchMatMul, inputs: [x, y], options: .batchMatMul(transposesRight: transposesRight), as: result)
  }

  mutating func softmax(_ x: Tensor, beta: Float = 1, as y: Result = Result()) -> Tensor {
    add(.softmax, inputs: [x], options: .softmax(beta: beta), as: y)
  }

  /// Adds a reduction, such as `MEAN`, `SUM` or `REDUCE_MAX`.
  mutating func reduce(
    _ code: OperatorCode, _ x: Tensor, axes: [Int], keepsDimensions: Bool = false, as y: Result = Result()
  ) -> Tensor {
    add(
      code, inputs: [x, constant("axes", integers: axes)],
      options: .reducer(keepsDimensions: keepsDimensions),
      as: y)
  }

  mutating func mean(_ x: Tensor, axes: [Int], keepsDimensions: Bool = false, as y: Result = Result())
    -> Tensor
  {
    reduce(.mean, x, axes: axes, keepsDimensions: keepsDimensions, as: y)
  }

  // MARK: Subgraphs and resource variables

  /// Adds a branch to one of two subgraphs, by their numbers; its result is like the last argument.
  mutating func `if`(
    _ condition: Tensor, then: Int32, else other: Int32, _ arguments: Tensor..., as y: Result = Result()
  ) -> Tensor {
    add(
      .if, inputs: [condition] + arguments, options: .if(then: then, else: other), as: y, like: arguments.last
    )
  }

  /// Adds a loop over a value, whose condition and body are subgraphs.
  mutating func `while`(_ x: Tensor, condition: Int32, body: Int32, as y: Result = Result()) -> Tensor {
    add(.while, inputs: [x], options: .while(condition: condition, body: body), as: y)
  }

  /// Adds the handle of a resource variable.
  mutating func varHandle(_ name: String) -> Tensor {
    add(.varHandle, inputs: [], options: .varHandle(name: name), as: .init(name, type: .resource))
  }

  mutating func assignVariable(_ handle: Tensor, _ value: Tensor) {
    add(.assignVariable, inputs: [handle, value], into: [])
  }

  mutating func readVariable(_ handle: Tensor, as value: Result = .init(type: .float32)) -> Tensor {
    add(.readVariable, inputs: [handle], as: value)
  }
}
