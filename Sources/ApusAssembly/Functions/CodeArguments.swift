// SPDX-License-Identifier: Apache-2.0

/// The arguments of a generated function, which takes their address.
@usableFromInline package protocol CodeArguments: BitwiseCopyable {}

extension CodeArguments {
  /// The offset of a field in bytes.
  @usableFromInline package static func offset(_ field: PartialKeyPath<Self>) -> Int {
    MemoryLayout<Self>.offset(of: field) ?? 0
  }
}
