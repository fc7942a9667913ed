import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The root of the command line.
struct ApusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apus",
    abstract: "Runs .tflite models: detects objects in pictures, runs and inspects models.",
    subcommands: [
      DetectCommand.self, RunCommand.self, InspectCommand.self, OperatorsCommand.self, KernelsCommand.self,
    ])
}

/// Runs a command; a failure is one line on standard error and a status from 1 to 64.
@main
enum Main {
  static func main() {
    do {
      var command = try ApusCommand.parseAsRoot()
      try command.run()
    } catch {
      finish(error)
    }
  }

  private static func finish(_ error: any Error) -> Never {
    let code = ApusCommand.exitCode(for: error).rawValue
    if code == 0 {
      Output.write(ApusCommand.fullMessage(for: error))
      exit(0)
    }
    let message = ApusCommand.message(for: error)
    let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
    Output.writeError("error: \(line.isEmpty ? "failed" : line)")
    exit((1...64).contains(code) ? code : 1)
  }
}
