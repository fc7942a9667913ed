import ApusKernels
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

  /// What binutils read otherwise; nil where there are no binutils for arm64.
  func differences() throws -> [String]? {
    var copy = assembler
    guard let code = copy.finish() else { return ["a label was never placed"] }
    guard let tool = Self.tool else { return nil }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString).bin")
    try Data(code).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = ["-D", "-z", "-b", "binary", "-m", "aarch64", "--no-show-raw-insn", file.path]
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
      found[address] = Self.normalized(String(parts[1]))
    }
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
