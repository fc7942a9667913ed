// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite
import Testing

/// The former names of TensorFlowLiteSwift 1, reached through a protocol as their use is a warning.
private protocol FormerNames {
  static func options() -> (Interpreter.Options, Bool)
  static func metalOptions() -> MetalDelegate.Options
}

private enum Client: FormerNames {
  @available(*, deprecated)
  static func options() -> (Interpreter.Options, Bool) {
    var options = InterpreterOptions()
    options.threadCount = 1
    options.isErrorLoggingEnabled = true
    return (options, options.isErrorLoggingEnabled)
  }

  @available(*, deprecated)
  static func metalOptions() -> MetalDelegate.Options {
    var options = MetalDelegate.Options()
    options.allowsPrecisionLoss = true
    return options
  }
}

struct FormerNameTests {
  private func client() -> any FormerNames.Type { Client.self }

  @Test("code of the first releases compiles and means the same")
  func compiles() throws {
    let (options, logsErrors) = client().options()
    #expect(logsErrors && options.threadCount == 1)
    #expect(options != Interpreter.Options())
    #expect(throws: Never.self) { try Interpreter(modelPath: TestModel.add.path, options: options) }
    #expect(client().metalOptions().isPrecisionLossAllowed)
  }
}
