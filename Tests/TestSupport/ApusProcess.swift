// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs the command-line tool in a folder, with words between blanks and nothing on standard input.
package func apus(_ arguments: String, in folder: URL) throws -> (
  status: Int32, output: String, errors: String
) {
  let process = Process()
  let program: URL = try #require(builtExecutable("apus"))
  process.executableURL = program
  process.arguments = arguments.split(separator: " ").map(String.init)
  process.currentDirectoryURL = folder
  process.standardInput = FileHandle.nullDevice
  let (output, errors) = (Pipe(), Pipe())
  process.standardOutput = output
  process.standardError = errors
  try process.run()
  // Both are short, so that neither pipe fills up while the other is read.
  let texts = [output, errors].map {
    String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
  process.waitUntilExit()
  return (process.terminationStatus, texts[0], texts[1])
}
