// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// The options of an operator of a test's model, by name; the numbers of the fields are the schema's.
struct TestOptions {
  var fields: [Int: FlatTable.Field]

  init(_ fields: [Int: FlatTable.Field] = [:]) { self.fields = fields }

  static let none = TestOptions()

  /// Tables that begin with the activation: of ADD, MUL, FULLY_CONNECTED and recurrent layers.
  static func activation(_ number: UInt8) -> Self { .init(number == 0 ? [:] : [0: .byte(number)]) }

  static func batchMatMul(transposesRight: Bool) -> Self { .init([1: .byte(transposesRight ? 1 : 0)]) }

  static func concatenation(axis: Int32) -> Self { .init([0: .int(axis)]) }

  static func conv2D(
    isValid: Bool = false, strideWidth: Int32 = 1, strideHeight: Int32 = 1, activation: UInt8 = 0
  ) -> Self {
    .init([
      0: .byte(isValid ? 1 : 0), 1: .int(strideWidth), 2: .int(strideHeight), 3: .byte(activation),
    ])
  }

  static func conv3D(strideDepth: Int32, strideWidth: Int32, strideHeight: Int32) -> Self {
    .init([1: .int(strideDepth), 2: .int(strideWidth), 3: .int(strideHeight)])
  }

  static func depthwiseConv2D(isValid: Bool, stride: Int32, activation: UInt8) -> Self {
    .init([
      0: .byte(isValid ? 1 : 0), 1: .int(stride), 2: .int(stride), 3: .int(1), 4: .byte(activation),
    ])
  }

  static func gather(axis: Int32, batchRank: Int32 = 0) -> Self {
    .init([0: .int(axis), 1: .int(batchRank)])
  }

  static func `if`(then: Int32, else other: Int32) -> Self { .init([0: .int(then), 1: .int(other)]) }

  static func leakyRelu(alpha: Float) -> Self { .init([0: .float(alpha)]) }

  static func pack(count: Int32) -> Self { .init([0: .int(count)]) }

  static func pool2D(
    isValid: Bool = false, strideHeight: Int32 = 1, filterHeight: Int32 = 1, filterWidth: Int32 = 1
  ) -> Self {
    .init([
      0: .byte(isValid ? 1 : 0), 1: .int(1), 2: .int(strideHeight), 3: .int(filterWidth),
      4: .int(filterHeight),
    ])
  }

  static func random(seed: Int64, seed2: Int64) -> Self { .init([0: .long(seed), 1: .long(seed2)]) }

  static func reducer(keepsDimensions: Bool) -> Self { .init([0: .byte(keepsDimensions ? 1 : 0)]) }

  static func resultType(_ type: Int32) -> Self { .init([0: .byte(UInt8(type))]) }

  static func stablehloCase(_ branches: [Int32]) -> Self { .init([0: .ints(branches)]) }

  static func softmax(beta: Float) -> Self { .init([0: .float(beta)]) }

  static func split(count: Int32) -> Self { .init([0: .int(count)]) }

  static func stridedSlice(beginMask: Int32 = 0, endMask: Int32 = 0, shrinkMask: Int32 = 0) -> Self {
    .init([0: .int(beginMask), 1: .int(endMask), 4: .int(shrinkMask)])
  }

  static func varHandle(name: String) -> Self { .init([1: .text(name)]) }

  static func `while`(condition: Int32, body: Int32) -> Self { .init([0: .int(condition), 1: .int(body)]) }
}
