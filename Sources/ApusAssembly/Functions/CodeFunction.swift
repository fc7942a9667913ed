// SPDX-License-Identifier: Apache-2.0

/// A function in generated code. It takes the address of its arguments.
@safe @usableFromInline package struct CodeFunction<Arguments: CodeArguments>: @unchecked Sendable {
  // @unchecked: code never changes.

  @usableFromInline typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void

  @usableFromInline let address: UnsafeRawPointer

  /// The function that a generator writes; throws if there is no generator, or its code cannot be placed.
  package init(_ generator: (any CodeGenerator)?, placement: CodePlacement = { unsafe $0.place() })
    throws(Decline)
  {
    guard let generator else { throw Decline("the target has no generator for a function of it") }
    guard let address = unsafe placement(generator) else { throw .noCodeMemory }
    unsafe self.address = address
  }

  /// The function at an address; nil for zero.
  @inlinable @inline(__always)
  package init?(bits: Int) {
    guard let address = unsafe UnsafeRawPointer(bitPattern: bits) else { return nil }
    unsafe self.address = address
  }

  /// The address as a number.
  @inlinable package var bits: Int { unsafe Int(bitPattern: address) }

  /// Calls the function, which reads the arguments and may change them.
  @inlinable @inline(__always)
  package func call(_ arguments: inout Arguments) {
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafeMutablePointer(to: &arguments) { unsafe function(UnsafeMutableRawPointer($0)) }
  }

  /// Calls the function, which only reads the arguments.
  @inlinable @inline(__always)
  package func call(_ arguments: Arguments) {
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafePointer(to: arguments) {
      unsafe function(UnsafeMutableRawPointer(mutating: UnsafeRawPointer($0)))
    }
  }
}
