// SPDX-License-Identifier: Apache-2.0

import Apus
import ArgumentParser

/// How to run a model: the options that commands share.
package struct EngineOptions: ParsableArguments {
  @Option(name: .long, help: "Threads for one run; results do not depend on it.")
  package var threads = 1

  @Option(name: .long, help: "The kernel set to use, see 'apus kernels'.")
  package var kernels: String?

  @Option(
    name: .long,
    help: "What products of floats are computed in; bfloat16 halves the memory of weights and loses digits.")
  package var precision = Interpreter.Precision.float32

  package init() {}

  /// The interpreter's options.
  package var interpreterOptions: Interpreter.Options {
    get throws(ApusError) {
      guard (1...64).contains(threads) else {
        throw ApusError(.invalidArgument, "--threads is \(threads), not 1 to 64")
      }
      var options = Interpreter.Options()
      options.threadCount = threads
      options.kernels = kernels.map(KernelSetName.init(rawValue:))
      options.precision = precision
      return options
    }
  }
}

extension Interpreter.Precision: ExpressibleByArgument {}
