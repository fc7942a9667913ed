import Apus
import ArgumentParser

/// How to run a model: the options that commands share.
struct EngineOptions: ParsableArguments {
  @Option(name: .long, help: "Threads for one run.")
  var threads = 1

  @Option(name: .long, help: "The kernel set to use, see 'apus kernels'.")
  var kernels: String?

  /// The interpreter's options.
  var interpreterOptions: Interpreter.Options {
    get throws(ApusError) {
      guard (1...64).contains(threads) else {
        throw ApusError(.invalidArgument, "--threads is \(threads), not 1 to 64")
      }
      var options = Interpreter.Options()
      options.threadCount = threads
      options.kernels = kernels
      return options
    }
  }
}
