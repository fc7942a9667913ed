// SPDX-License-Identifier: Apache-2.0

extension Runtime {
  /// The version of Apus, following Semantic Versioning. This is the one place that states it.
  public static let version = "1.0.0"
}
