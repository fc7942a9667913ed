// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Placed code that computes blocks of bytes of two operands.
protocol X86ByteCode: Sendable {
  associatedtype Generator: X86ByteGenerator

  var generator: Generator { get set }
  var function: CodeFunction<Generator.Arguments> { get set }
  /// What it is called with, but for the operands, the result and the number of blocks.
  var arguments: Generator.Arguments { get }

  /// The elements of a block.
  var blockLength: Int { get }

  /// Computes whole blocks; code must be sealed.
  func fill(
    _ output: UnsafeMutablePointer<UInt8>, blocks: Int, lhs: UnsafePointer<UInt8>, rhs: UnsafePointer<UInt8>)
}

/// What generates such code, for operands that go on from byte to byte or stay.
protocol X86ByteGenerator: CodeGenerator {
  associatedtype Arguments: X86ByteArguments

  /// Whether an operand is one byte for all.
  var lhsStays: Bool { get set }
  var rhsStays: Bool { get set }
  var blockLength: Int { get }
}

/// Addresses and a count, of which every such function has the same.
protocol X86ByteArguments: CodeArguments {
  var lhs: Int { get set }
  var rhs: Int { get set }
  var output: Int { get set }
  /// How many blocks.
  var blocks: Int { get set }
}

extension X86ByteCode {
  var blockLength: Int { generator.blockLength }

  func fill(
    _ output: UnsafeMutablePointer<UInt8>, blocks: Int, lhs: UnsafePointer<UInt8>, rhs: UnsafePointer<UInt8>
  ) {
    var arguments = arguments
    arguments.lhs = Int(bitPattern: lhs)
    arguments.rhs = Int(bitPattern: rhs)
    arguments.output = Int(bitPattern: output)
    arguments.blocks = blocks
    function.call(arguments)
  }

  /// This code for two operands that both advance with the output; throws where it cannot be placed.
  func withoutStaying() throws(Decline) -> Self {
    var copy = self
    copy.generator.lhsStays = false
    copy.generator.rhsStays = false
    copy.function = try unsafe CodeFunction(copy.generator)
    return copy
  }
}
