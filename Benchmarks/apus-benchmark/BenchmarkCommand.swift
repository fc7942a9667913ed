// SPDX-License-Identifier: Apache-2.0

import ApusConsole
import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The root of the benchmark's command line.
struct BenchmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apus-benchmark",
    abstract: "Measures models, their layers, and kernels on the shapes of real models.",
    subcommands: [ModelsCommand.self, LayersCommand.self, KernelsCommand.self, ServeCommand.self],
    defaultSubcommand: ModelsCommand.self)
}

/// Runs a command; a failure is one line on standard error and a status from 1 to 64.
@main
enum Main {
  static func main() {
    do {
      var command = try BenchmarkCommand.parseCommandLine()
      try command.run()
    } catch let failure as ChildFailure {
      // The child has printed the reason.
      exit(failure.status)
    } catch {
      BenchmarkCommand.end(after: error)
    }
  }
}
