// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import Foundation

/// Arm64 code written by the assembler, with what each instruction should read like when it is disassembled.
struct Arm64Listing {
  /// The code so far.
  var assembler = Arm64Assembler()
  /// The expected text of each instruction.
  private var expected: [String] = []

  /// Writes an instruction and notes its text.
  mutating func add(_ text: String, _ write: (inout Arm64Assembler) -> Void) {
    expected.append(Self.normalized(text))
    write(&assembler)
  }

  /// The differences from binutils; nil where there are no binutils for arm64.
  func differences() throws -> [String]? {
    var copy = assembler
    guard let code = copy.finish() else { return ["a label was never placed"] }
    guard let tool = Self.tool else { return nil }
    let found = try disassembly(
      of: code, tool: tool, arguments: ["-z", "-m", "aarch64"]
    ).mapValues(Self.normalized)
    guard code.count == 4 * expected.count else { return ["some call wrote more than one instruction"] }
    return expected.enumerated().compactMap { index, text in
      let read = found[4 * index] ?? "no instruction"
      return read == text ? nil : "at \(4 * index): \(text) was written, \(read) was read"
    }
  }

  /// The disassembler; nil where it is missing.
  static let tool = [
    "/usr/bin/aarch64-linux-gnu-objdump", "/usr/local/bin/aarch64-linux-gnu-objdump",
  ].first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Drops spaces, comments, and the hint that a condition is known by other names.
  private static func normalized(_ text: String) -> String {
    text.split(separator: "//")[0].filter { !$0.isWhitespace }
  }
}
