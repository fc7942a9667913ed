// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// The text that binutils give each instruction of machine code, by its address.
func disassembly(of code: [UInt8], tool: String, arguments: [String]) throws -> [Int: String] {
  try withTemporaryFolder { folder in
    let file = folder.appending(path: "code.bin")
    try Data(code).write(to: file)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = ["-D", "-b", "binary", "--no-show-raw-insn"] + arguments + [file.path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    var found: [Int: String] = [:]
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let address = Int(parts[0].drop(while: { $0 == " " }), radix: 16) else {
        continue
      }
      found[address] = String(parts[1])
    }
    return found
  }
}
