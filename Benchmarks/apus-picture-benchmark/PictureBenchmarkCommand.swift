// SPDX-License-Identifier: Apache-2.0

import ApusConsole
import ArgumentParser

/// The root of the picture benchmark's command line.
///
/// It is a program of its own because picture codecs bring twenty shared libraries, which would be in the way of what
/// `apus-benchmark` measures: how long the engine takes to load a model.
struct PictureBenchmarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apus-picture-benchmark",
    abstract: "Measures pictures from the file to boxes, or from memory into a model's input.",
    subcommands: [PicturesCommand.self, ResizeCommand.self],
    defaultSubcommand: PicturesCommand.self)
}

/// Runs a command; a failure is one line on standard error and a status from 1 to 64.
@main
enum Main {
  static func main() {
    do {
      var command = try PictureBenchmarkCommand.parseCommandLine()
      try command.run()
    } catch {
      PictureBenchmarkCommand.end(after: error)
    }
  }
}
