// SPDX-License-Identifier: Apache-2.0

/// The only pointers of this module: copies between Foundation's `Data` and the engine's spans.
extension Data {
  /// Copies bytes of the engine.
  init(copying bytes: RawSpan) {
    self = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
  }

  /// Copies all bytes into the engine's memory, which has as many.
  func copy(into bytes: inout MutableRawSpan) {
    precondition(bytes.byteCount == count, "the caller compared the counts")
    unsafe bytes.withUnsafeMutableBytes { _ = unsafe copyBytes(to: $0) }
  }
}
