// SPDX-License-Identifier: Apache-2.0

extension Runtime {
  /// The version of this library.
  public static let version = "1.0.0"
}
