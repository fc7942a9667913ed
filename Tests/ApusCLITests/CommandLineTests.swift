// SPDX-License-Identifier: Apache-2.0

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

  @Test(
    "an option that a command does not have is named before what it leaves missing",
    arguments: [
      ("classify a.png --modle m.tflite", "'--modle'. Did you mean '--model'?"),
      ("classify a.png --Model=m.tflite", "'--Model'. Did you mean '--model'?"),
      ("classify a.png -model m.tflite", "'-model'. Did you mean '--model'?"),
      (
        "classify a.png --model m.tflite --score-treshold 0.5",
        "'--score-treshold'. Did you mean '--score-threshold'?"
      ),
      ("segment a.png --modle m.tflite --json", "'--modle'. Did you mean '--model'?"),
      ("embed a.png --model m.tflite --outptu x.npy", "'--outptu'. Did you mean '--output'?"),
      ("evaluate set --model m.tflite --tsk classify", "'--tsk'. Did you mean '--task'?"),
      ("gallery add anna a.png --gallry g --model m", "'--gallry'. Did you mean '--gallery'?"),
      ("run --model m.tflite", "'--model'."), ("filter a.png b.png --zzzzzzzz 1", "'--zzzzzzzz'."),
      ("--modle m.tflite", "'--modle'."),
      ("run m.tflite -threads 2", "'-threads'. Did you mean '--threads'?"),
      ("classify -dash.png --model m.tflite", "'-dash.png'."),
    ])
  func namesUnknownOptions(arguments: String, expected: String) throws {
    try withTemporaryFolder { folder in
      let answer = try apus(arguments.split(separator: " ").map(String.init), in: folder)
      #expect(
        answer.status == 64 && answer.errors.hasPrefix("error: Unknown option \(expected)"),
        "\(answer.errors)")
      #expect(answer.errors.count(where: { $0.isNewline }) == 1)
    }
  }

  @Test(
    "what is missing or wrong is said where all options are known",
    arguments: [
      ("classify a.png", "Missing expected argument '--model <model>'"),
      ("classify a.png --model", "Missing value for '--model <model>'"),
      ("evaluate set --model m --task classify --class-offset -1.5", "The value '-1.5' is invalid"),
      ("classify -- --modle", "Missing expected argument '--model <model>'"),
    ])
  func namesWhatIsMissing(arguments: String, expected: String) throws {
    try withTemporaryFolder { folder in
      let answer = try apus(arguments.split(separator: " ").map(String.init), in: folder)
      #expect(answer.status == 64 && answer.errors.hasPrefix("error: \(expected)"), "\(answer.errors)")
    }
  }

  @Test func refusesWithOneLine() throws {
    try withFiles { folder in
      for (arguments, message) in [
        ("run .", "cannot read '.': it is a folder"),
        ("run -", "cannot open '-': No such file or directory"),
        ("run empty", "the model 'empty': it is an empty file, not a .tflite model"),
        (
          "inspect text", "the model 'text': it is a text that begins with 'no model, and no picture', not a "
        ),
        (
          "detect --model picture.png picture.png",
          "the model 'picture.png': it is a PNG picture, not a .tflite model"
        ),
        ("detect text", "text: it is a text that begins with 'no model, and no picture', not JPEG, "),
        ("detect nowhere.jpg", "nowhere.jpg: No such file or directory"),
        ("detect cut.jpg", "cut.jpg: "),
        ("detect --annotate a.png picture.png picture.png", "--annotate takes one picture, not 2"),
        ("detect --model text", "a model is given, but no picture"),
        ("detect --jobs 0 picture.png", "--jobs is 0, not 1 to 256"),
        ("detect --region 1,2,3 picture.png", "--region 1,2,3 is not X,Y,WIDTH,HEIGHT"),
        ("detect --layout yolo9 picture.png", "The value 'yolo9' is invalid for '--layout <layout>'"),
        ("detect --layout yolo8 picture.png", "the model's outputs are not those of the layout yolo8 ("),
        ("frobnicate", "there is no command 'frobnicate', only: detect, "),
        ("help frobnicate", "there is no command 'frobnicate', only: detect, "),
        ("evaluate . --task segment --model m", "--truth is missing: the folder of masks"),
        ("detect --labels nowhere picture.png", "cannot read the file 'nowhere': No such file or directory"),
        ("detect --labels empty picture.png", "the label file 'empty': line 1: there are no labels"),
        ("detect --label-offset 5000 picture.png", "--label-offset is 5000, but there are only"),
        ("detect --max-results=0 picture.png", "--max-results is 0, not 1 or more"),
        ("detect --score-threshold nan picture.png", "--score-threshold is not a number"),
        ("detect --score-threshold 50 picture.png", "--score-threshold is 50.0, but scores are 0 to 1"),
        ("detect --iou-threshold 2.5 picture.png", "--iou-threshold is 2.5, not 0 to 1"),
        ("detect --pixels x picture.png", "--pixels is 'x', not unit, signed, raw or MEAN:STD"),
        ("detect --allow x picture.png", "--allow or --deny names the label 'x', which is not among"),
        ("classify --top=0 --model m picture.png", "--top is 0, not 1 or more"),
        ("classify --decide nan --model m picture.png", "--decide is nan, not a probability of 0 to 1"),
        ("classify --decide 1.5 --model m picture.png", "--decide is 1.5, not a probability of 0 to 1"),
        ("hear --top=-2 --model m sound.wav", "--top is -2, not 1 or more"),
        ("gallery find --distance=-1 --gallery g --model m picture.png", "--distance is -1.0, not 0 or more"),
        ("gallery find --distance nan --gallery g --model m picture.png", "--distance is nan, not 0 or more"),
        (
          "gallery add --gallery g --model m \(String(repeating: "x", count: 1_025)) picture.png nowhere.png",
          "a name has 1 to 1024 bytes, not 1025"
        ),
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

  @Test("names in a model that hold commands for a terminal come without them")
  func replacesControlCharacters() throws {
    let root = URL(filePath: #filePath).appending(path: "../../..").standardized
    let model = root.appending(path: "Fuzzing/Kept/run/control-characters-in-names.tflite")
    for command in ["run", "inspect"] {
      let answer = try apus([command, model.path], in: root)
      #expect(!answer.errors.isEmpty)
      let text = (answer.errors + answer.output).filter { $0 != "\n" }
      #expect(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F })
    }
  }

  @Test("wrong usage is status 64, a wrong model or option 1, a picture that fails 2")
  func tellsFailuresApart() throws {
    try withFiles { folder in
      for (arguments, status) in [
        ("frobnicate", 64), ("detect --bogus", 64), ("detect --threads abc picture.png", 64),
        ("detect --annotate a.png picture.png picture.png", 64), ("detect --model text", 64),
        ("detect --model text picture.png", 1), ("detect --threads 0 picture.png", 1),
        ("detect --deny nobody picture.png", 1), ("detect --annotate nowhere/a.png picture.png", 1),
        ("detect text", 2), ("detect nowhere.jpg picture.png", 2), ("detect picture.png", 0), ("", 0),
        ("--version", 0), ("detect --help", 0),
      ] as [(String, Int32)] {
        let answer = try apus(arguments.split(separator: " ").map(String.init), in: folder)
        #expect(answer.status == status, "\(arguments): \(answer.errors)")
      }
      #expect(try apus(["--version"], in: folder).output.hasPrefix("apus "))
      #expect(try apus([], in: folder).output.contains("detect"))
    }
  }

  private struct Line: Decodable {
    struct Found: Decodable {
      let label: String?
    }
    let image: String
    let width: Int?
    let detections: [Found]?
    let annotated: String?
    let error: String?
  }

  @Test("many pictures are answered in order, past bad ones, however many at once", arguments: [1, 3])
  func worksOnManyPictures(jobs: Int) throws {
    try withFiles { folder in
      let pictures = folder.appending(path: "pictures")
      let inner = pictures.appending(path: "deep")
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
      let picture = try Data(contentsOf: folder.appending(path: "picture.png"))
      // Bytes order capitals before small letters; other endings are no pictures.
      for name in ["b.png", "B.PNG", "a.jpeg", "notes.txt", "deep/c.bmp"] {
        try (name == "notes.txt" ? Data() : picture).write(to: pictures.appending(path: name))
      }
      try Data("damaged".utf8).write(to: pictures.appending(path: "aa.jpg"))
      let flat = ["pictures/B.PNG", "pictures/a.jpeg", "pictures/aa.jpg", "pictures/b.png"]
      for (more, names) in [([], flat), (["--recursive"], flat + ["pictures/deep/c.bmp"])]
        as [([String], [String])]
      {
        let answer = try apus(
          ["detect", "pictures", "picture.png", "--json", "--jobs", "\(jobs)"] + more, in: folder)
        #expect(answer.status == 2)
        let errors = answer.errors.split(separator: "\n")
        let leftOut = more.isEmpty ? "1 .txt, 1 folder (see --recursive) left out" : "1 .txt left out"
        #expect(errors.filter { !$0.hasPrefix("error: ") } == [Substring(leftOut)])
        #expect(errors.filter { $0.hasPrefix("error: ") }.count == 1)
        #expect(
          answer.errors.contains(
            "error: pictures/aa.jpg: it is a text that begins with 'damaged', not JPEG, "))
        let lines = try answer.output.split(separator: "\n").map {
          try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        #expect(lines.map(\.image) == names + ["picture.png"])
        for line in lines {
          let isDamaged = line.image == "pictures/aa.jpg"
          #expect((line.error != nil) == isDamaged && (line.width == nil) == isDamaged)
          #expect(line.detections?.isEmpty == (isDamaged ? nil : false), "\(line.image)")
        }
      }
    }
  }

  @Test("every picture of a folder is drawn on, under names that do not meet")
  func annotatesIntoAFolder() throws {
    try withFiles { folder in
      let picture = try Data(contentsOf: folder.appending(path: "picture.png"))
      try picture.write(to: folder.appending(path: "picture.jpg"))
      let answer = try apus(
        ["detect", "picture.png", "picture.jpg", "--annotate-dir", "out/drawn", "--json"], in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out/drawn")
      #expect(Set(names) == ["picture.png", "picture.jpg.png"])
      // The results say which is which.
      let files = try answer.output.split(separator: "\n").map {
        try JSONDecoder().decode(Line.self, from: Data($0.utf8)).annotated
      }
      #expect(files == ["out/drawn/picture.png", "out/drawn/picture.jpg.png"])
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
