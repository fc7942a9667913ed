// SPDX-License-Identifier: Apache-2.0

/// One entry of a model's list of operator codes.
package struct OperatorCodeEntry: Hashable, Sendable {
  /// The number in the schema: the greater of the old 8-bit and the new 32-bit field.
  package let number: Int32
  /// The operator of this number; nil for one that this build does not know.
  package let code: OperatorCode?
  /// The custom operator's name; empty for a builtin operator.
  package let customName: String
  /// The version of the operator that the model was made for.
  package let version: Int

  /// The name to show: `CONV_2D`, the custom operator's own, or `UNKNOWN_4711`.
  package var name: String { code == .custom ? customName : code?.schemaName ?? "UNKNOWN_\(number)" }
}
