// SPDX-License-Identifier: Apache-2.0

/// What a generated function is called with: the address of such a structure.
protocol CodeArguments: BitwiseCopyable {}

extension CodeArguments {
  /// Where a field lies, in bytes from the first.
  static func offset(_ field: PartialKeyPath<Self>) -> Int { MemoryLayout<Self>.offset(of: field) ?? 0 }

  /// Calls the function at an address, which only reads them.
  @inline(__always)
  func call(_ function: UnsafeRawPointer) {
    typealias Function = @convention(c) (UnsafeRawPointer) -> Void
    unsafe withUnsafePointer(to: self) { arguments in
      unsafe unsafeBitCast(function, to: Function.self)(UnsafeRawPointer(arguments))
    }
  }
}
