// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// An option on the command line that its command does not have, and the one that may be meant.
struct UnknownOption {
  private let name: String
  private let nearest: String?

  /// The message for people, in the parser's own words.
  var message: String {
    "Unknown option '\(name)'." + (nearest.map { " Did you mean '\($0)'?" } ?? "")
  }

  /// How many letters may be wrong, missing, too many or exchanged.
  private static let maximumMistakes = 3

  /// The words that a command answers with a text and status 0.
  static let helpWords: Set = [
    "help", "-h", "--help", "--help-hidden", "--version", "--experimental-dump-help",
  ]

  /// Looks for the first one; nil if there is none.
  ///
  /// - Parameter root: The program's command.
  init?(in arguments: [String], of root: any ParsableCommand.Type) {
    let names = Self.names(of: Self.command(arguments, root), root)
    for argument in arguments.prefix(while: { $0 != "--" }) {
      let name = argument.prefix { $0 != "=" }
      // A number below 0 is a value, such as one of -1:1.
      guard name.hasPrefix("-"), let second = name.dropFirst().first, !second.isNumber, second != ".",
        !names.contains(String(name))
      else { continue }
      self.name = String(name)
      let near = names.map { ($0, Self.distance($0, name)) }.filter { $0.1 <= Self.maximumMistakes }
      nearest = near.filter { $0.0.hasPrefix("--") && $0.1 < $0.0.count - 2 }.min { $0.1 < $1.1 }?.0
      return
    }
    return nil
  }

  /// The command that the arguments begin with.
  private static func command(_ arguments: [String], _ root: any ParsableCommand.Type)
    -> any ParsableCommand.Type
  {
    var command = root
    for argument in arguments {
      let named = command.configuration.subcommands.first { $0._commandName == argument }
      guard let named else { break }
      command = named
    }
    return command.configuration.defaultSubcommand ?? command
  }

  /// The names of a command's options, in the order of its help.
  private static func names(of command: any ParsableCommand.Type, _ root: any ParsableCommand.Type)
    -> [String]
  {
    var names = ["--help", "-h", "--help-hidden", "--version", "--generate-completion-script"]
    // A line of help for an option begins with two spaces, its names and what it takes.
    for line in root.helpMessage(for: command, includeHidden: true).split(whereSeparator: \.isNewline) {
      guard line.hasPrefix("  -") else { continue }
      for part in line.dropFirst(2).split(whereSeparator: { " ,/".contains($0) }) {
        guard part.hasPrefix("-") else { break }
        names.append(String(part))
      }
    }
    return names
  }

  /// How many letters have to be added, left out, changed or exchanged with their neighbor.
  private static func distance(_ one: some StringProtocol, _ other: some StringProtocol) -> Int {
    let (one, other) = (Array(one), Array(other))
    var rows = [Array(0...other.count)]
    for (i, letter) in one.enumerated() {
      var row = [i + 1]
      for (j, otherLetter) in other.enumerated() {
        var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (letter == otherLetter ? 0 : 1))
        if i > 0, j > 0, letter == other[j - 1], one[i - 1] == otherLetter {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[one.count][other.count]
  }
}

extension ParsableCommand {
  /// Parses the command line.
  ///
  /// - Throws: What the parser throws. An option that the command does not have goes before a missing one, which it may be meant for,
  ///   and before help that was not asked for: the parser finds its `-h` in a word such as `-threads`.
  package static func parseCommandLine() throws -> any ParsableCommand {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let wantsHelp = arguments.prefix { $0 != "--" }.contains { UnknownOption.helpWords.contains($0) }
    let outcome = Result { try parseAsRoot() }
    let mayBeMistaken =
      switch outcome {
      case .success(let command): !wantsHelp && type(of: command)._commandName == "help"
      case .failure(let error): exitCode(for: error) == .validationFailure
      }
    guard mayBeMistaken, let unknown = UnknownOption(in: arguments, of: self) else {
      return try outcome.get()
    }
    throw ValidationError(unknown.message)
  }
}
