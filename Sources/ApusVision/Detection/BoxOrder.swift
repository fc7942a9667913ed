// SPDX-License-Identifier: Apache-2.0

/// The order of the four numbers of a box.
public enum BoxOrder: String, Codable, Hashable, Sendable, CaseIterable {
  /// Left, top, right, bottom.
  case ltrb
  /// Top, left, bottom, right.
  case tlbr
  /// Left, top, width, height.
  case xywh
  /// Center x, center y, width, height.
  case cxcywh
}
