// SPDX-License-Identifier: Apache-2.0

extension Runtime {
  /// The version of the engine, by the rules of Semantic Versioning: the one place that states it.
  public static let version = "1.0.0"
}
