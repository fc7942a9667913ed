// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVision
import ArgumentParser

/// The root of the command line.
struct ApusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apus",
    abstract: "Runs .tflite models on pictures and on tensors, and inspects them.",
    discussion: """
      For example:
        apus detect
        apus detect street.jpg --model detect.tflite --annotate found.png
        apus inspect detect.tflite --as detector
      """,
    version: "apus \(Runtime.version)",
    subcommands: [
      DetectCommand.self, ClassifyCommand.self, EmbedCommand.self, CompareCommand.self,
      GalleryCommand.self, FacesCommand.self, FaceMeshCommand.self,
      HandsCommand.self,
      SegmentCommand.self, TransformCommand.self, KeypointsCommand.self, PoseCommand.self,
      HolisticCommand.self, HearCommand.self,
      FilterCommand.self,
      WatchCommand.self, CamerasCommand.self, TrackCommand.self,
      RunCommand.self, DiffCommand.self, EvaluateCommand.self,
      InspectCommand.self, GenerateCommand.self,
      OperatorsCommand.self,
      KernelsCommand.self, DoctorCommand.self,
    ])

  /// Throws if the first argument, or that behind `help`, is not a command, and lists the commands.
  static func checkCommand(_ arguments: [String]) throws {
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    guard let first = words.first, !first.hasPrefix("-") else { return }
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    guard !names.contains(first), first != "help" else { return }
    throw ValidationError("there is no command '\(first)', only: \(names.joined(separator: ", "))")
  }
}

/// Runs a command; a failure is one line on standard error and a status from 1 to 64.
@main
enum Main {
  static func main() {
    Output.surviveRefusedWrites()
    do {
      if let word = FileNames.argumentsOutsideUTF8.first { throw FileNames.error(word) }
      try ApusCommand.checkCommand(Array(CommandLine.arguments.dropFirst()))
      var command = try ApusCommand.parseCommandLine()
      if let options = (command as? any TracedCommand)?.traceOptions {
        try options.record { try command.run() }
      } else {
        try command.run()
      }
    } catch let error as ApusError {
      ApusCommand.end(after: ApusError(error.code, error.message(isPicture: false)))
    } catch {
      ApusCommand.end(after: withHint(error))
    }
  }

  /// The error, with what to write where an option's value begins with a minus sign and was taken for another option.
  private static func withHint(_ error: any Error) -> any Error {
    let message = ApusCommand.message(for: error)
    guard message.contains("Missing value for") else { return error }
    let arguments = CommandLine.arguments
    for (option, value) in zip(arguments, arguments.dropFirst())
    where option.hasPrefix("--") && message.contains("'\(option) ") && value.hasPrefix("-")
      && value.dropFirst().first.map({ $0.isNumber || $0 == "." }) ?? false
    {
      return ValidationError("\(message); a value that begins with a minus sign needs =: \(option)=\(value)")
    }
    return error
  }
}
