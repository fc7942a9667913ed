// SPDX-License-Identifier: Apache-2.0

import Apus

/// How an interpreter runs: the settings of a `TfLiteInterpreterOptions` at the moment when the interpreter is made.
struct InterpreterOptions: Sendable {
  /// The threads of one run.
  var threadCount = 1
  /// Where messages go.
  var reporter = ErrorReporter.standard
  /// Whether `TfLiteInterpreterCancel` stops runs.
  var allowsCancellation = false
  /// Whether every tensor keeps its values, so that clients can read all of them.
  var preservesAllTensors = false
  /// The client's operators.
  var operators: [OperatorCallbacks] = []
  /// The client's functions that find operators.
  var resolver: OperatorResolver?
  /// The reasons for which the interpreter is refused: requests that cannot be met.
  var refusals: [String] = []
  /// The custom operators, with what they keep from one preparation to the next.
  var customOperators: [CustomOperator] = []

  /// The engine's options.
  func engineOptions(inputShapes: [Int: TensorShape], preservesAllTensors: Bool) -> Interpreter.Options {
    var options = Interpreter.Options()
    options.threadCount = threadCount
    options.preservesAllTensors = preservesAllTensors
    options.customOperators = customOperators
    options.inputShapes = inputShapes
    return options
  }
}
