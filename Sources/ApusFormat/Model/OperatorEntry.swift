// SPDX-License-Identifier: Apache-2.0

/// One operator of a subgraph.
package final class OperatorEntry: Sendable {
  /// The index in the model's operator codes, in range.
  package let operatorCode: Int
  /// The input tensors, in range; -1 where an optional one is absent.
  package let inputs: [Int]
  /// The output tensors, in range.
  package let outputs: [Int]
  /// Tensors that only describe values inside the operator, in range.
  package let intermediates: [Int]
  /// For each input whether the operator changes it; empty where the file does not say.
  package let mutatingVariableInputs: [Bool]
  /// The table of the schema's `BuiltinOptions` that ``options`` is; 0 for none.
  package let optionsType: Int
  /// The builtin operator's options.
  package let options: OptionsTable
  /// The table of the schema's `BuiltinOptions2` that ``options2`` is; 0 for none.
  package let options2Type: Int
  /// The options of builtin operators that came after the first union was full.
  package let options2: OptionsTable
  /// The bytes of a custom operator's options, inside the FlatBuffer or behind it.
  package let customOptions: Range<Int>?

  init(
    operatorCode: Int, inputs: [Int], outputs: [Int], intermediates: [Int], mutatingVariableInputs: [Bool],
    optionsType: Int, options: OptionsTable, options2Type: Int, options2: OptionsTable,
    customOptions: Range<Int>?
  ) {
    self.operatorCode = operatorCode
    self.inputs = inputs
    self.outputs = outputs
    self.intermediates = intermediates
    self.mutatingVariableInputs = mutatingVariableInputs
    self.optionsType = optionsType
    self.options = options
    self.options2Type = options2Type
    self.options2 = options2
    self.customOptions = customOptions
  }
}
