// SPDX-License-Identifier: Apache-2.0

/// Where a checked table and its vtable are, without the bytes.
struct FlatBufferTableHeader: Hashable, Sendable {
  /// The offset of the table.
  let position: Int
  /// The offset of its vtable.
  let vtable: Int
  /// The vtable's size in bytes: even, at least 4.
  let vtableSize: Int
  /// The table's own size in bytes, at least 4.
  let inlineSize: Int
}
