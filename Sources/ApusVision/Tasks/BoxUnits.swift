// SPDX-License-Identifier: Apache-2.0

/// The unit of the positions that a model gives.
public enum BoxUnits: String, Codable, Hashable, Sendable, CaseIterable {
  /// Fractions of the input's sides, 0 to 1.
  case fraction
  /// Pixels of the input.
  case pixel
}
