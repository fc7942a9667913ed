// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import ArgumentParser

extension ParsableCommand {
  /// Ends the process: a failure is one line on standard error and a status from 1 to 64, help is no failure. An
  /// `ExitCode` is the status of a command that has said already what went wrong.
  package static func end(after error: any Error) -> Never {
    if let code = error as? ExitCode { endProcess(code.rawValue) }
    let code = exitCode(for: error).rawValue
    if code == 0 {
      Output.write(fullMessage(for: error))
      endProcess(0)
    }
    let line = message(for: error).split(whereSeparator: \.isNewline).joined(separator: " ")
    Output.writeError("error: \(line.isEmpty ? "failed" : line)")
    endProcess((1...64).contains(code) ? code : 1)
  }
}

/// `exit` of the C library, out of the way of methods of that name.
private func endProcess(_ status: Int32) -> Never {
  exit(status)
}
