// SPDX-License-Identifier: Apache-2.0

/// One entry of a model's list of operator codes.
package struct OperatorCodeEntry: Hashable, Sendable {
  /// The code: the greater of the old 8-bit and the new 32-bit field.
  package let code: OperatorCode
  /// The custom operator's name; empty for a builtin operator.
  package let customName: String
  /// The version of the operator that the model was made for.
  package let version: Int

  /// The name to show: `CONV_2D`, or the custom operator's own.
  package var name: String { code == .custom ? customName : code.schemaName }
}
