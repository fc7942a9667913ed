// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Placed code that computes blocks of bytes from two operands.
protocol X86ByteCode: Sendable {
  associatedtype Generator: X86ByteGenerator

  var generator: Generator { get set }
  var function: CodeFunction<Generator.Arguments> { get set }
  /// The arguments of the function, without operands, result and number of blocks.
  var arguments: Generator.Arguments { get }

  /// The number of elements of a block.
  var blockLength: Int { get }

  /// Computes whole blocks; executable memory must be sealed.
  func fill(
    _ output: UnsafeMutablePointer<UInt8>, blocks: Int, lhs: UnsafePointer<UInt8>, rhs: UnsafePointer<UInt8>)
}

/// A generator of code for two operands of bytes, each of them contiguous or one byte that is broadcast.
protocol X86ByteGenerator: CodeGenerator {
  associatedtype Arguments: X86ByteArguments

  /// Whether the first operand is one byte, broadcast to all elements.
  var lhsIsBroadcast: Bool { get set }
  /// Whether the second operand is one byte, broadcast to all elements.
  var rhsIsBroadcast: Bool { get set }
  var blockLength: Int { get }
}

/// The addresses and the count that every function of two operands of bytes takes.
protocol X86ByteArguments: CodeArguments {
  var lhs: Int { get set }
  var rhs: Int { get set }
  var output: Int { get set }
  /// The number of blocks.
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

  /// This code for two contiguous operands; throws if it cannot be placed.
  func withoutStaying() throws(Decline) -> Self {
    var copy = self
    copy.generator.lhsIsBroadcast = false
    copy.generator.rhsIsBroadcast = false
    copy.function = try unsafe CodeFunction(copy.generator)
    return copy
  }
}
