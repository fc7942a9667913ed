import Foundation
import TestSupport
import Testing

/// The program as users run it: a failure is one line that says what was found where, and a status that is not 0.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct CommandLineTests {
  private struct Answer {
    let status: Int32
    let output: String
    let errors: String
  }

  /// Runs the program in `folder`.
  private func apus(_ arguments: [String], in folder: URL, environment: [String: String] = [:]) throws
    -> Answer
  {
    let process = Process()
    let program: URL = try #require(builtExecutable("apus"))
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
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
    return Answer(status: process.terminationStatus, output: texts[0], errors: texts[1])
  }

  /// A folder with what is no model and no picture: `empty`, `text`, `cut.jpg`, and `picture.png`, which is one.
  private func withFiles(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let picture = try apus(["detect", "--annotate", "picture.png"], in: folder)
      #expect(picture.status == 0 && picture.errors.isEmpty)
      try Data().write(to: folder.appending(path: "empty"))
      try Data("no model, and no picture\n".utf8).write(to: folder.appending(path: "text"))
      try Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0]).write(
        to: folder.appending(path: "cut.jpg"))
      try body(folder)
    }
  }

  @Test func refusesWithOneLine() throws {
    try withFiles { folder in
      for (arguments, message) in [
        ("run .", "cannot read '.': it is a folder"),
        ("run -", "cannot open '-': No such file or directory"),
        ("run empty", "the model 'empty': 0 bytes are too few for a FlatBuffer"),
        ("inspect text", "the model 'text': the file identifier is 'odel', not 'TFL3'"),
        ("detect --model picture.png picture.png", "the model 'picture.png': the file identifier is"),
        ("detect text", "the picture 'text': the bytes are neither JPEG nor PNG, BMP or PNM"),
        ("detect .", "cannot read the file '.': Is a directory"),
        ("detect cut.jpg", "the picture 'cut.jpg': "),
        ("detect --labels nowhere picture.png", "cannot read the file 'nowhere': No such file or directory"),
        ("detect --labels empty picture.png", "the label file 'empty': line 1: there are no labels"),
        ("detect --label-offset 5000 picture.png", "the label offset is 5000, but there are only"),
        ("detect --max-results=0 picture.png", "at most 0 results are asked for, not 1 or more"),
        ("detect --score-threshold nan picture.png", "the score threshold is not a number"),
        ("detect --threads 0 picture.png", "--threads is 0, not 1 to 64"),
        ("detect --threads abc picture.png", "The value 'abc' is invalid for '--threads <threads>'"),
        ("detect --kernels fast picture.png", "there is no kernel set fast, only: "),
        (
          "detect --annotate nowhere/a.png",
          "cannot write the file 'nowhere/a.png': No such file or directory"
        ),
        ("detect --annotate a.gif", "--annotate a.gif is not a .png, .jpg or .ppm file"),
      ] {
        let answer = try apus(arguments.split(separator: " ").map(String.init), in: folder)
        #expect((1...64).contains(answer.status), "\(arguments)")
        #expect(answer.output.isEmpty, "\(arguments)")
        #expect(answer.errors.hasPrefix("error: \(message)"), "\(arguments): \(answer.errors)")
        #expect(
          answer.errors.split(separator: "\n", omittingEmptySubsequences: false).count == 2, "\(arguments)")
      }
    }
  }

  @Test func refusesAnUnknownKernelSetOfTheEnvironment() throws {
    try withTemporaryFolder { folder in
      let answer = try apus(["detect"], in: folder, environment: ["APUS_KERNELS": "fast"])
      #expect(answer.status == 1 && answer.output.isEmpty)
      #expect(answer.errors.hasPrefix("error: there is no kernel set fast, only: "))
    }
  }

  #if os(Linux)
    @Test func saysThatResultsWereLost() throws {
      try withTemporaryFolder { folder in
        let process = Process()
        let program: URL = try #require(builtExecutable("apus"))
        process.executableURL = program
        process.arguments = ["operators"]
        let errors = Pipe()
        process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        #expect(text == "error: cannot write to standard output: No space left on device\n")
      }
    }
  #endif
}
