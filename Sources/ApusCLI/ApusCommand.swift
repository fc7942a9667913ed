import Apus
import ApusConsole
import ArgumentParser

/// The root of the command line.
struct ApusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apus",
    abstract: "Runs .tflite models: detects objects in pictures, runs and inspects models.",
    version: "apus \(Runtime.version)",
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
      ApusCommand.end(after: error)
    }
  }
}
