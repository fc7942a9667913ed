// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The numbers that the schema's unions give the options of an operator; zero where it has none.
@_spi(Fuzzing) public func optionsTypes(ofOperator code: Int32) -> (options: Int, options2: Int) {
  let code = OperatorCode(number: code)
  return (code?.optionsType ?? 0, code?.options2Type ?? 0)
}
