// SPDX-License-Identifier: Apache-2.0

/// A generated function of ``ConvolutionArguments``.
struct BlockFunction: @unchecked Sendable {
  // @unchecked: the address is of code that is never changed.

  private typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void

  private let address: UnsafeRawPointer

  /// What a generator writes; throws where there is none, or its code cannot be placed.
  init(_ generator: (any CodeGenerator)?, placement: CodePlacement) throws(Decline) {
    guard let generator else { throw Decline("the target has no generator for a function of it") }
    guard let address = placement(generator) else { throw .noCodeMemory }
    unsafe self.address = address
  }

  /// The function at an address; nil for zero.
  @inline(__always)
  init?(bits: Int) {
    guard let address = UnsafeRawPointer(bitPattern: bits) else { return nil }
    unsafe self.address = address
  }

  var bits: Int { unsafe Int(bitPattern: address) }

  @inline(__always)
  func call(_ arguments: inout ConvolutionArguments) {
    let function = unsafe unsafeBitCast(address, to: Function.self)
    unsafe withUnsafeMutablePointer(to: &arguments) { unsafe function(UnsafeMutableRawPointer($0)) }
  }
}
