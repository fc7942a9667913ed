// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs a line of the shell, in which `$APUS` is the command-line tool, in a folder. Its standard output is not read.
package func shell(_ line: String, in folder: URL) throws -> (status: Int32, signal: Bool, errors: String) {
  let process = Process()
  process.executableURL = URL(filePath: "/bin/bash")
  process.arguments = ["-c", line]
  process.currentDirectoryURL = folder
  process.environment = ProcessInfo.processInfo.environment.merging([
    "APUS": builtExecutable("apus")?.path ?? "apus"
  ]) { $1 }
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = FileHandle.nullDevice
  let errors = Pipe()
  process.standardError = errors
  try process.run()
  let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, process.terminationReason == .uncaughtSignal, text)
}
