// SPDX-License-Identifier: Apache-2.0

/// What a function in generated code is called with: the address of such a structure.
protocol CodeArguments: BitwiseCopyable {}

extension CodeArguments {
  /// Where a field lies, in bytes from the first.
  static func offset(_ field: PartialKeyPath<Self>) -> Int { MemoryLayout<Self>.offset(of: field) ?? 0 }
}
