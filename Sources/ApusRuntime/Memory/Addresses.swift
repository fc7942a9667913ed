// SPDX-License-Identifier: Apache-2.0

/// Calls a function with the addresses of an input and an output; does nothing if one of them is empty.
@inlinable @inline(__always)
package func withAddresses(
  _ input: RawSpan, _ output: inout MutableRawSpan,
  _ body: (_ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer) -> Void
) {
  unsafe input.withUnsafeBytes { input in
    unsafe output.withUnsafeMutableBytes { output in
      guard let input = input.baseAddress, let output = output.baseAddress else { return }
      unsafe body(input, output)
    }
  }
}

/// Calls a function with the addresses of an input, an output and scratch memory; does nothing if one of them
/// is empty.
@inlinable @inline(__always)
package func withAddresses(
  _ input: RawSpan, _ output: inout MutableRawSpan, _ scratch: inout MutableRawSpan,
  _ body: (
    _ input: UnsafeRawPointer, _ output: UnsafeMutableRawPointer, _ scratch: UnsafeMutableRawPointer
  ) -> Void
) {
  unsafe scratch.withUnsafeMutableBytes { scratch in
    guard let scratch = scratch.baseAddress else { return }
    unsafe withAddresses(input, &output) { unsafe body($0, $1, scratch) }
  }
}
