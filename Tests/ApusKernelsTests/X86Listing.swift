// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import Foundation

/// Code written by the assembler, with what each instruction should read like when it is disassembled.
struct X86Listing: ~Copyable {
  /// The code so far.
  var assembler: X86Assembler
  /// Where each expected instruction begins, and its text without spaces.
  private(set) var expected: [(address: Int, text: String)] = []

  init(_ encoding: X86Assembler.Encoding) {
    assembler = X86Assembler(encoding: encoding)
  }

  /// Writes an instruction and notes its text.
  mutating func add(_ text: String, _ write: (inout X86Assembler) -> Void) {
    expected.append((assembler.count, Self.normalized(text)))
    write(&assembler)
  }

  /// Notes the text of what the next call will write.
  mutating func expect(_ text: String) {
    expected.append((assembler.count, Self.normalized(text)))
  }

  /// The differences from binutils; nil where there are no binutils for this machine's code.
  consuming func differences() throws -> [String]? {
    let expected = expected
    guard let code = assembler.finish() else { return ["a label was never placed"] }
    guard let tool = Self.tool else { return nil }
    let found = try disassembly(
      of: code, tool: tool, arguments: ["-m", "i386:x86-64", "-M", "intel", "-w"]
    ).mapValues(Self.normalized)
    return expected.compactMap { place, text in
      let read = found[place] ?? "no instruction"
      return read == text ? nil : "at \(place): \(text) was written, \(read) was read"
    }
  }

  /// The disassembler; nil where it is missing.
  static let tool = ["/usr/bin/objdump", "/usr/local/bin/objdump"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Drops spaces and what only names the size of a place in memory.
  private static func normalized(_ text: String) -> String {
    var text = text.split(separator: "#")[0].replacing("{vex}", with: "").replacing(
      "{evex}", with: "")
    // Versions differ in how they show a repeated element, and in the comma before a way to round.
    let repeats = text.contains(" BCST ") || text.contains("{1to")
    text = text.replacing(/\{1to[0-9]+\}/, with: "").replacing(",{r", with: "{r")
    for size in ["ZMMWORD", "YMMWORD", "XMMWORD", "QWORD", "DWORD", "WORD", "BYTE"] {
      text = text.replacing("\(size) PTR ", with: "").replacing("\(size) BCST ", with: "")
    }
    return text.filter { !$0.isWhitespace } + (repeats ? "repeated" : "")
  }
}

extension X86Assembler.Memory {
  /// How the disassembler shows the place.
  var text: String {
    var text = "[\(base)"
    if let index { text += "+\(index)*\(scale)" }
    // A base of this number cannot do without a displacement.
    if displacement != 0 || base == .rbp || base == .r13 {
      text += (displacement < 0 ? "-0x" : "+0x") + String(abs(displacement), radix: 16)
    }
    return text + "]"
  }
}

extension X86Assembler.Width {
  /// The name of a register of this width.
  func register(_ number: Int) -> String { "\(self)\(number)" }

  /// The width with half, or a quarter, of the bytes; at least 128 bits.
  func divided(by divisor: Int) -> Self {
    Self(rawValue: max(0, rawValue - (divisor == 4 ? 2 : divisor == 2 ? 1 : 0))) ?? .xmm
  }
}
