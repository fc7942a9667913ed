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
    abstract: "Measures models, or kernels on the shapes of real models.",
    subcommands: [ModelsCommand.self, KernelsCommand.self, ServeCommand.self],
    defaultSubcommand: ModelsCommand.self)
}

/// Runs a command; a failure is one line on standard error and a status from 1 to 64.
@main
enum Main {
  static func main() {
    do {
      var command = try BenchmarkCommand.parseAsRoot()
      try command.run()
    } catch let failure as ChildFailure {
      // The child has said why.
      exit(failure.status)
    } catch {
      finish(error)
    }
  }

  private static func finish(_ error: any Error) -> Never {
    let code = BenchmarkCommand.exitCode(for: error).rawValue
    if code == 0 {
      Output.write(BenchmarkCommand.fullMessage(for: error))
      exit(0)
    }
    let message = BenchmarkCommand.message(for: error)
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    Output.writeError("error: \(line.isEmpty ? "failed" : line)")
    exit((1...64).contains(code) ? code : 1)
  }
}
