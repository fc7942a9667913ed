// SPDX-License-Identifier: Apache-2.0

internal import Apus

extension Interpreter {
  /// How to run a model.
  public struct Options: Equatable, Hashable, Sendable {
    /// The maximum number of threads of one run; nil, 0 or less mean one, more than 64 mean 64. Results are the same for
    /// every count.
    public var threadCount: Int?

    /// TensorFlow Lite's switch for faster kernels, kept and not used: the engine always takes its fastest.
    public var isXNNPackEnabled = false

    /// A switch of TensorFlowLiteSwift 1, kept and not used: errors carry their causes.
    @available(*, deprecated, message: "Errors carry their causes; nothing is logged.")
    public var isErrorLoggingEnabled: Bool {
      get { logsErrors }
      set { logsErrors = newValue }
    }

    private var logsErrors = false

    /// Makes the default options.
    public init() {}

    /// The engine's options.
    func engineOptions(inputShapes: [Int: TensorShape]) -> Apus.Interpreter.Options {
      var options = Apus.Interpreter.Options()
      options.threadCount = min(max(threadCount ?? 1, 1), 64)
      options.inputShapes = inputShapes
      return options
    }
  }
}

/// The name of ``Interpreter/Options`` in TensorFlowLiteSwift 1.
@available(*, deprecated, renamed: "Interpreter.Options")
public typealias InterpreterOptions = Interpreter.Options
