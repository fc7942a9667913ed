// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `apus evaluate`: what it reads, what it refuses, and how it goes on. Numbers are tested with the library, whole runs by
/// `Tools/evaluation/agreement.py`.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct EvaluateCommandTests {
  /// A folder with a classifier, a segmenter and a picture in each of the folders `set/0`, `set/1` and `set/2`.
  func withFiles(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      #expect(try apus("detect --annotate picture.png", in: folder).status == 0)
      for (task, name) in [
        ("classifier", "one head"), ("segmenter", "scores, 8x8"), ("segmenter", "one probability, 8x8"),
      ] {
        let file = folder.appending(
          path: "\(name == "one head" ? task : name.hasPrefix("one") ? "probability" : task).tflite")
        try TaskModel.write(task, name, to: file)
      }
      for place in 0..<3 {
        try copy("picture.png", to: "set/\(place)/\(place).png", in: folder)
      }
      try body(folder)
    }
  }

  func copy(_ name: String, to target: String, in folder: URL) throws {
    let file = folder.appending(path: target)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(contentsOf: folder.appending(path: name)).write(to: file)
  }

  func write(_ text: String, to name: String, in folder: URL) throws {
    try Data(text.utf8).write(to: folder.appending(path: name))
  }

  func report(_ arguments: String, in folder: URL) throws -> [String: Any] {
    let answer = try apus(arguments + " --json", in: folder)
    #expect(answer.status == 0, "\(arguments): \(answer.errors)")
    return try #require(try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
  }

  /// The class that the classifier finds in the picture.
  func best(in folder: URL) throws -> Int {
    let answer = try apus("classify picture.png --model classifier.tflite --json", in: folder)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
    let classes = try #require(object["classes"] as? [[String: Any]])
    return try #require(classes.first?["index"] as? Int)
  }

  @Test("folders and lists are counted alike")
  func countsFoldersAndLists() throws {
    try withFiles { folder in
      let best = try best(in: folder)
      let folders = try report("evaluate set --model classifier.tflite --task classify", in: folder)
      let correct = best < 3 ? 1 : 0
      #expect(folders["files"] as? Int == 3 && folders["correct"] as? Int == correct)
      let top1 = try #require(folders["top1"] as? Double)
      #expect(abs(top1 - Double(correct) / 3) < 1e-9)
      let lines = (0..<3).map { "\($0)/\($0).png,\($0)" }
      // Forms of lists: commas, tabs, a heading, quotes, spaces, CRLF.
      for text in [
        lines.joined(separator: "\n"), "file,class\r\n" + lines.joined(separator: "\r\n") + "\r\n",
        lines.map { $0.replacing(",", with: "\t") }.joined(separator: "\n"),
        lines.map { $0.replacing(",", with: " ") }.joined(separator: "\n"),
        (0..<3).map { "\"\($0)/\($0).png\",\"\($0)\"" }.joined(separator: "\n"),
      ] {
        try write(text, to: "set/list.csv", in: folder)
        let list = try report("evaluate set/list.csv --model classifier.tflite --task classify", in: folder)
        #expect(
          list["correct"] as? Int == folders["correct"] as? Int && list["files"] as? Int == 3, "\(text)")
        let beside = try report(
          "evaluate set --truth set/list.csv --model classifier.tflite --task classify --jobs 3 --common",
          in: folder)
        #expect(beside["top5"] as? Double == folders["top5"] as? Double)
      }
      // EEMBC's lists have the number of classes before the class; numbers may start at 1.
      try write(
        (0..<3).map { "\($0)/\($0).png,9,\($0 + 1)" }.joined(separator: "\n"), to: "set/list.csv", in: folder)
      let shifted = try report(
        "evaluate set/list.csv --model classifier.tflite --task classify --class-offset -1", in: folder)
      #expect(shifted["correct"] as? Int == folders["correct"] as? Int)
      // Labels that are digits do not stand for numbers that are shifted.
      try write("0\n1\n2\n", to: "digits.txt", in: folder)
      let digits = try report(
        "evaluate set/list.csv --model classifier.tflite --task classify --class-offset -1 --labels digits.txt",
        in: folder)
      #expect(digits["correct"] as? Int == folders["correct"] as? Int)
      try write("cat\ndog\nhen\n", to: "names.txt", in: folder)
      try write("0/0.png,cat\n", to: "set/list.csv", in: folder)
      let named = try apus(
        "evaluate set/list.csv --model classifier.tflite --task classify --class-offset -1 --labels names.txt",
        in: folder)
      #expect(named.status == 1 && named.errors.contains("--class-offset -1 is for classes that are numbers"))
      let text = try apus("evaluate set --model classifier.tflite --task classify", in: folder)
      #expect(
        text.status == 0 && text.output.contains("top-1: ") && text.output.contains("classify: 3 files"))
    }
  }

  @Test("truths without a file and files without a truth are errors that name them")
  func refusesWithoutCounterpart() throws {
    try withFiles { folder in
      let command = "evaluate set --truth list.csv --model classifier.tflite --task classify"
      try write("0/0.png,0\n1/1.png,1\n", to: "list.csv", in: folder)
      let more = try apus(command, in: folder)
      #expect(
        more.status == 1
          && more.errors == "error: the file '2/2.png' has no line in 'list.csv'; --common leaves it out\n")
      try write("0/0.png,0\n1/1.png,1\n2/2.png,2\n3/3.png,3\n4/4.png,3\n", to: "list.csv", in: folder)
      let less = try apus(command, in: folder)
      #expect(less.status == 1 && less.errors.contains("2 lines have no file: '3/3.png', '4/4.png'"))
      #expect(try report(command + " --common", in: folder)["files"] as? Int == 3)
      try write("0/0.png,0\n1/1.png,1\n0/0.png,0\n", to: "list.csv", in: folder)
      #expect(
        try apus(command, in: folder).errors.contains("line 3 of 'list.csv' has '0/0.png', which line 1 has"))
      try write("0/0.png,0\n1/1.png,99\n", to: "list.csv", in: folder)
      #expect(
        try apus(command + " --common", in: folder).errors.contains("line 2 of 'list.csv': the class is 99"))
      try write("0/0.png,0\n1/1.png,wolf\n", to: "list.csv", in: folder)
      let named = try apus(command + " --common", in: folder)
      #expect(named.status == 1 && named.errors.contains("no class of the model is called 'wolf'"))
      try write("./0/0.png,0\n1/./1.png,1\n2/2.png,2\n", to: "list.csv", in: folder)
      #expect(try apus(command, in: folder).status == 0)
      try write("0/0.png\n", to: "list.csv", in: folder)
      #expect(
        try apus(command, in: folder).errors.contains("line 1 of 'list.csv' is '0/0.png' without a class"))
      try write("\n\n", to: "list.csv", in: folder)
      #expect(try apus(command, in: folder).errors.contains("has no lines"))
      // Where nothing is common, nothing is measured.
      try write("3/3.png,3\n", to: "list.csv", in: folder)
      for task in ["classify", "anomaly"] {
        let none = try apus(
          "evaluate set --truth list.csv --model classifier.tflite --task \(task) --common", in: folder)
        #expect(none.status == 1, "\(none.errors)")
        #expect(
          none.errors.hasSuffix("error: no line of 'list.csv' has its file and class\n"), "\(none.errors)")
      }
    }
  }

  @Test("what a list names without a file or a truth is left out, if that is wanted")
  func leavesOutOfLists() throws {
    try withFiles { folder in
      let classes = "evaluate set/list.csv --model classifier.tflite --task classify"
      try write("0/0.png,0\n1/1.png\n3/3.png,3\n2/2.png,2\n", to: "set/list.csv", in: folder)
      #expect(
        try apus(classes, in: folder).errors.contains("line 2 of 'set/list.csv' is '1/1.png' without a class")
      )
      let some = try apus(classes + " --common", in: folder)
      #expect(some.status == 0 && some.output.contains("classify: 2 files"))
      #expect(
        some.errors
          == "warning: 1 line with no class in 'set/list.csv' left out: '1/1.png'\n"
          + "warning: 1 line with no file left out: '3/3.png'\n")
      try write("3/3.png,3\n", to: "set/list.csv", in: folder)
      let none = try apus(classes + " --common", in: folder)
      #expect(none.status == 1 && none.errors.contains("no line of 'set/list.csv' has its file and truth"))
      // A mask that is missing leaves its picture out.
      let found = try apus("segment picture.png --model segmenter.tflite --output set/mask.png", in: folder)
      #expect(found.status == 0)
      try write("0/0.png,mask.png\n1/1.png,no.png\n2/2.png\n", to: "set/list.csv", in: folder)
      let masks = try apus(
        "evaluate set/list.csv --model segmenter.tflite --task segment --common", in: folder)
      #expect(masks.status == 0 && masks.output.contains("segment: 1 file"), "\(masks.errors)")
      #expect(masks.errors.contains("1 line with no mask left out: '1/1.png'"))
    }
  }

  @Test(
    "a file counts once, however its path is written",
    arguments: ["./0/0.png", "0//0.png", "0/./0.png", ".//0/0.png", "0/0.png"])
  func refusesTwice(path: String) throws {
    try withFiles { folder in
      try write("0/0.png,0\n\(path),1\n", to: "set/list.csv", in: folder)
      let answer = try apus("evaluate set/list.csv --model classifier.tflite --task classify", in: folder)
      #expect(
        answer.status == 1
          && answer.errors == "error: line 2 of 'set/list.csv' has '\(path)', which line 1 has already\n")
    }
  }

  @Test("what a folder of classes has besides is said, and a class without files")
  func saysWhatHasNoClass() throws {
    try withFiles { folder in
      let command = "evaluate set --model classifier.tflite --task classify"
      try copy("picture.png", to: "set/beside.png", in: folder)
      let beside = try apus(command, in: folder)
      #expect(
        beside.status == 1
          && beside.errors
            == "error: the file 'beside.png' has no folder of a class in 'set'; --common leaves it out\n"
      )
      let common = try apus(command + " --common", in: folder)
      #expect(common.status == 0 && common.output.contains("classify: 3 files"))
      #expect(common.errors == "warning: 1 file with no folder of a class in 'set' left out: 'beside.png'\n")
      try FileManager.default.removeItem(at: folder.appending(path: "set/beside.png"))
      try write("", to: "set/notes.txt", in: folder)
      let notes = try apus(command, in: folder)
      #expect(notes.status == 0 && notes.errors == "'set': 1 .txt left out\n")
      try FileManager.default.createDirectory(
        at: folder.appending(path: "set/3"), withIntermediateDirectories: true)
      let empty = try apus(command, in: folder)
      #expect(
        empty.status == 1 && empty.errors.contains("the folder '3' has no picture, .npy, .bin or .wav file"))
      #expect(try apus(command + " --common", in: folder).status == 0)
    }
  }

  @Test("pictures and sounds of kinds that are not read make the status 2, as elsewhere")
  func tellsOfFilesThatAreNotRead() throws {
    try withFiles { folder in
      for (name, kind) in [("a.heic", "1 HEIC"), ("a.mp3", "1 .mp3")] {
        try write("", to: "set/0/\(name)", in: folder)
        let answer = try apus("evaluate set --model classifier.tflite --task classify", in: folder)
        #expect(answer.status == 2 && answer.output.contains("classify: 3 files"), "\(answer)")
        #expect(answer.errors == "'set/0': \(kind) left out\n")
        try FileManager.default.removeItem(at: folder.appending(path: "set/0/\(name)"))
      }
    }
  }

  @Test("names that the truth uses are counted as labels are")
  func alignsClassNames() throws {
    try withFiles { folder in
      struct Golden: Decodable {
        let name: String
        let model: String
      }
      let all: [Golden] = goldens("yolo-later")
      let golden = try #require(all.first { $0.name == "YOLO-NAS of 64x64" })
      try #require(Data(base64Encoded: golden.model)).write(to: folder.appending(path: "yolo.tflite"))
      try copy("picture.png", to: "pictures/a.png", in: folder)
      // There are as many rows as classes, so that class 0 has the first one.
      try write("background\nbee\ncat\n", to: "names.txt", in: folder)
      try write(
        """
        {"images": [{"id": 1, "file_name": "a.png"}], "annotations": [{"id": 1, "image_id": 1, "category_id": 7,
          "bbox": [0, 0, 640, 480], "area": 307200, "iscrowd": 0}],
         "categories": [{"id": 7, "name": "background"}, {"id": 8, "name": "bee"}, {"id": 9, "name": "cat"}]}
        """, to: "truth.json", in: folder)
      let command = "evaluate pictures --truth truth.json --model yolo.tflite --task detect"
      let (labels, names) = try (
        apus("\(command) --labels names.txt --json", in: folder),
        apus("\(command) --class-names names.txt --json", in: folder)
      )
      #expect(
        labels.status == 0 && labels.errors.isEmpty && labels.output.contains(#""found":"#), "\(labels)")
      #expect(names == labels)
      // Kept answers are compared with the sizes of the truth that is given now.
      let resume = "\(command) --labels names.txt --resume done.jsonl"
      #expect(try apus(resume, in: folder).status == 0)
      let truth = try String(contentsOf: folder.appending(path: "truth.json"), encoding: .utf8)
      let other = truth.replacing("\"a.png\"}", with: "\"a.png\", \"width\": 1, \"height\": 1}")
      try write(other, to: "truth.json", in: folder)
      let again = try apus(resume, in: folder)
      #expect(again.status != 0 && (again.output + again.errors).contains("boxes are for 1 × 1"), "\(again)")
      try write(truth, to: "truth.json", in: folder)
      try write("background\nbee\n", to: "names.txt", in: folder)
      #expect(
        try apus("\(command) --class-names names.txt", in: folder).errors.contains(
          "warning: --class-names has 2 names for 3 classes"))
    }
  }

  @Test("guesses about the model stand below the numbers, and in JSON")
  func namesGuesses() throws {
    try withFiles { folder in
      let command = "evaluate set --model classifier.tflite --task classify"
      func subjects(_ arguments: String) throws -> [String] {
        let guesses = try #require(try report(arguments, in: folder)["guesses"] as? [[String: Any]])
        return guesses.compactMap { $0["subject"] as? String }
      }
      let guessed = try subjects(command)
      #expect(guessed.contains("pixels"))
      #expect(try subjects(command + " --pixels unit") == guessed.filter { $0 != "pixels" })
      let text = try apus(command, in: folder)
      #expect(
        text.errors.isEmpty && text.output.contains("guesses, which the numbers depend on\n  "), "\(text)")
      #expect(text.output.contains("  pixels: ") && text.output.contains("--pixels decides"), "\(text)")
    }
  }

  @Test("a truth from 0 on beside a background as class 0 is doubted, one with all classes is not")
  func doubtsTruthsOfABackground() throws {
    try withFiles { folder in
      try write("background\ncat\ndog\n", to: "names.txt", in: folder)
      let scores: [Float] = [0, 0.25, 0.75]
      try Data(constantModel(side: 8, [(shape: [1, 3], values: scores)])).write(
        to: folder.appending(path: "animals.tflite"))
      let command = "evaluate list.csv --model animals.tflite --task classify --labels names.txt"
      try write("picture.png,0\nset/1/1.png,1\n", to: "list.csv", in: folder)
      let doubted = try apus(command, in: folder)
      #expect(doubted.status == 0 && doubted.errors.contains("--class-offset 1 is for numbers"), "\(doubted)")
      let shifted = try apus(command + " --class-offset 1 --json", in: folder)
      #expect(shifted.errors.isEmpty && shifted.output.contains("\"correct\":1,"), "\(shifted)")
      try write("picture.png,0\nset/1/1.png,2\n", to: "list.csv", in: folder)
      #expect(try apus(command, in: folder).errors.isEmpty)
    }
  }

  @Test("one score is that of the second class where the truth has two")
  func countsPairs() throws {
    try withFiles { folder in
      try Data(constantModel(side: 8, [(shape: [1, 1], values: [0.75])])).write(
        to: folder.appending(path: "pair.tflite"))
      for (place, name) in ["0", "1", "cat", "dog"].enumerated() {
        try copy("picture.png", to: "\(place < 2 ? "numbers" : "names")/\(name)/a.png", in: folder)
      }
      try write("cat\ndog\n", to: "names.txt", in: folder)
      let (numbers, names, labels) = try (
        report("evaluate numbers --model pair.tflite --task classify", in: folder),
        report("evaluate names --model pair.tflite --task classify --class-names names.txt", in: folder),
        report("evaluate names --model pair.tflite --task classify --labels names.txt", in: folder)
      )
      for report in [numbers, names, labels] {
        #expect(report["files"] as? Int == 2 && report["correct"] as? Int == 1, "\(report)")
      }
      let refused = try apus("evaluate names --model pair.tflite --task classify", in: folder)
      #expect(
        refused.status == 1 && refused.errors.contains("the model gives one score: --labels with two names"),
        "\(refused)")
    }
  }

  @Test("results of one score that was read as one class are not those of two, nor the other way round")
  func resumesPairsAsTheyWereRead() throws {
    try withFiles { folder in
      try Data(constantModel(side: 8, [(shape: [1, 1], values: [0.75])])).write(
        to: folder.appending(path: "pair.tflite"))
      try copy("picture.png", to: "a.png", in: folder)
      try copy("picture.png", to: "b.png", in: folder)
      try write("a.png,0\n", to: "one.csv", in: folder)
      try write("a.png,0\nb.png,1\n", to: "two.csv", in: folder)
      let options = "--model pair.tflite --task classify --scores probability"
      for (first, second) in [("one", "two"), ("two", "one")] {
        let resume = "--resume \(first).jsonl"
        #expect(try apus("evaluate \(first).csv \(options) \(resume)", in: folder).status == 0)
        let refused = try apus("evaluate \(second).csv \(options) \(resume)", in: folder)
        #expect(refused.status == 1 && refused.errors.contains("those with one score as "), "\(refused)")
        #expect(try apus("evaluate \(first).csv \(options) \(resume)", in: folder).status == 0)
      }
    }
  }

  @Test("names that differ in Unicode's form alone are those of two files")
  func tellsFormsOfNamesApart() throws {
    try withFiles { folder in
      for name in ["\u{E9}.png", "e\u{301}.png"] { try copy("picture.png", to: name, in: folder) }
      try write("\u{E9}.png,0\ne\u{301}.png,1\n", to: "list.csv", in: folder)
      let command = "evaluate list.csv --model classifier.tflite --task classify --json --resume done.jsonl"
      #expect(try report(command.replacing(" --json", with: ""), in: folder)["files"] as? Int == 2)
      _ = try apus(command, in: folder)
      // A line for the head, and one for each file, however often it goes on.
      let lines = try String(contentsOf: folder.appending(path: "done.jsonl"), encoding: .utf8)
      #expect(lines.split(separator: "\n").count == 3)
    }
  }

  @Test("with closed standard streams, no message is written into a file of results")
  func keepsMessagesOutOfFiles() throws {
    try withFiles { folder in
      try write("no picture", to: "set/1/broken.png", in: folder)
      let command = "evaluate set --model classifier.tflite --task classify --resume done.jsonl"
      #expect(try shell("exec \"$APUS\" \(command) <&- 2>&-", in: folder).status == 2)
      let again = try apus(command, in: folder)
      #expect(again.status == 2 && !again.errors.contains("damaged"), "\(again)")
    }
  }

  @Test("a file that fails is named, and the others count")
  func countsTheRest() throws {
    try withFiles { folder in
      try write("no picture", to: "set/1/broken.png", in: folder)
      let answer = try apus("evaluate set --model classifier.tflite --task classify --json", in: folder)
      #expect(answer.status == 2 && answer.errors.hasPrefix("error: 1/broken.png: "))
      #expect(answer.output.contains(#""files":3"#) && answer.output.contains(#""file":"1/broken.png""#))
    }
  }

  @Test("an evaluation goes on where it was, and only as it was")
  func resumes() throws {
    try withFiles { folder in
      let command = "evaluate set --model classifier.tflite --task classify --json --resume done.jsonl"
      let whole = try apus(command, in: folder)
      #expect(whole.status == 0 && whole.errors.isEmpty)
      let file = folder.appending(path: "done.jsonl")
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
      #expect(lines.count == 4)
      // All that is there is believed, if the model has such classes: another answer shows it.
      let forged = lines[1].replacingOccurrences(
        of: #""classes":\[[0-9,]*\]"#, with: #""classes":[6]"#, options: .regularExpression)
      try write(lines[0] + "\n" + forged + "\n", to: "done.jsonl", in: folder)
      let other = try apus(command, in: folder)
      #expect(other.status == 0 && other.output != whole.output && other.output.contains(#""index":6"#))
      for impossible in ["-1", "7", "9223372036854775807"] {
        let line = forged.replacing(#""classes":[6]"#, with: #""classes":[\#(impossible)]"#)
        try write(lines[0] + "\n" + line + "\n", to: "done.jsonl", in: folder)
        let refused = try apus(command, in: folder)
        #expect(refused.status == 1 && refused.errors.contains("that the model does not have"), "\(refused)")
      }
      // A line that was not written to its end, and one whose file has changed, are done again.
      try write(lines[0] + "\n" + lines[1] + "\n" + lines[2].prefix(20), to: "done.jsonl", in: folder)
      #expect(try apus(command, in: folder).output == whole.output)
      #expect(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count == 4)
      try write(lines[0].prefix(30).description, to: "done.jsonl", in: folder)
      #expect(try apus(command, in: folder).output == whole.output)
      // A file of the same size may be another one.
      try write(lines[0] + "\n" + forged + "\n", to: "done.jsonl", in: folder)
      let name = try #require(forged.firstMatch(of: /"file":"([^"]*)"/)).1
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1_000_000)],
        ofItemAtPath: folder.appending(path: "set/\(name)").path)
      #expect(try apus(command, in: folder).output == whole.output)
      for (options, expected) in [
        ("--fit letterbox", "with --fit as by default, not letterbox"),
        ("--pixels signed", "with --pixels as by default"),
        ("--precision bfloat16", "with --precision as by default, not bfloat16"),
        ("--label-offset 1", "--label-offset"),
      ] {
        let refused = try apus(command + " " + options, in: folder)
        #expect(refused.status == 1 && refused.errors.contains(expected), "\(refused.errors)")
      }
      let task = try apus(command.replacing("classify", with: "anomaly"), in: folder)
      #expect(task.status == 1, "\(task.errors)")
      var model = try Data(contentsOf: folder.appending(path: "classifier.tflite"))
      model.append(0)
      try model.write(to: folder.appending(path: "classifier.tflite"))
      #expect(try apus(command, in: folder).errors.contains("are those of another model"))
      try write("name,class\n", to: "done.jsonl", in: folder)
      #expect(try apus(command, in: folder).errors.contains("is no file of results"))
      #expect(try String(contentsOf: file, encoding: .utf8) == "name,class\n")
    }
  }

  @Test("masks are compared with the picture's classes, and their sizes must agree")
  func comparesMasks() throws {
    try withFiles { folder in
      #expect(
        try apus("segment picture.png --model segmenter.tflite --output mask.png", in: folder).status == 0)
      try copy("picture.png", to: "pictures/a.png", in: folder)
      try copy("mask.png", to: "masks/a.png", in: folder)
      let command = "evaluate pictures --truth masks --model segmenter.tflite --task segment"
      let same = try report(command, in: folder)
      #expect(same["miou"] as? Double == 1 && same["pixel_accuracy"] as? Double == 1)
      try copy("picture.png", to: "masks/a.png", in: folder)
      let colors = try apus(command, in: folder)
      #expect(colors.status == 2 && colors.errors.contains("a.png': it has colors, not classes"))
      try copy("picture.png", to: "pictures/b.png", in: folder)
      #expect(try apus(command, in: folder).errors.contains("the picture 'b.png' has no mask in 'masks'"))
      try FileManager.default.removeItem(at: folder.appending(path: "pictures/b.png"))
      try write("", to: "masks/a.tif", in: folder)
      #expect(try apus(command, in: folder).errors.contains("'masks': 1 TIFF left out"))
      try write("", to: "masks/a.npy", in: folder)
      let two = try apus(command, in: folder)
      #expect(
        two.status == 1 && two.errors.contains("'masks/a.npy' and 'masks/a.png' are both masks of 'a'"),
        "\(two.errors)")
      #expect(
        try apus("evaluate pictures --model segmenter.tflite --task segment", in: folder).errors.contains(
          "--truth is missing"))
    }
  }

  @Test("black and white are the two classes of masks in which every pixel counts")
  func takesBlackAndWhiteMasks() throws {
    try withFiles { folder in
      let values = (0..<64).map { Float($0 < 32 ? 1 : 0) }
      try Data(constantModel(side: 8, [(shape: [1, 8, 8, 1], values: values)])).write(
        to: folder.appending(path: "upper.tflite"))
      try copy("picture.png", to: "pictures/a.png", in: folder)
      let segment = try apus("segment picture.png --model upper.tflite --output mask.npy", in: folder)
      #expect(segment.status == 0, "\(segment)")
      let mask = try Data(contentsOf: folder.appending(path: "mask.npy"))
      // A header of version 1 has 128 bytes here.
      let (header, classes) = (mask.prefix(128), mask.dropFirst(128))
      #expect(Set(classes) == [0, 1])
      try FileManager.default.createDirectory(
        at: folder.appending(path: "masks"), withIntermediateDirectories: true)
      try (header + classes.map { $0 == 1 ? 255 : 0 }).write(to: folder.appending(path: "masks/a.npy"))
      let command = "evaluate pictures --truth masks --model upper.tflite --task segment"
      let ignored = try apus(command, in: folder)
      #expect(ignored.errors.contains("where 255 stands for class 1, say --ignore -1"), "\(ignored)")
      let counted = try report(command + " --ignore -1", in: folder)
      #expect(counted["miou"] as? Double == 1 && counted["pixels"] as? Int == classes.count, "\(counted)")
    }
  }

  @Test("objects need a truth in COCO's format, with names that the model has")
  func comparesObjects() throws {
    try withFiles { folder in
      try copy("picture.png", to: "pictures/a.png", in: folder)
      let size = try #require(
        try apus("detect picture.png --json", in: folder).output.firstMatch(
          of: /"height":(\d+),"image".*"width":(\d+)\}/))
      try write(
        """
        {"images": [{"id": 1, "file_name": "a.png", "width": \(size.2), "height": \(size.1)}], "annotations": [],
         "categories": [{"id": 1, "name": "circle"}]}
        """, to: "truth.json", in: folder)
      // The classifier is no detector, and a truth without objects has no precision.
      let other = try apus(
        "evaluate pictures --truth truth.json --model classifier.tflite --task detect", in: folder)
      #expect(other.status == 1 && other.errors.contains("not those of a detector"))
      let missing = try apus("evaluate pictures --model classifier.tflite --task detect", in: folder)
      #expect(missing.status == 64 && missing.errors.contains("--truth is missing"))
      try write(#"{"images": []}"#, to: "truth.json", in: folder)
      let damaged = try apus(
        "evaluate pictures --truth truth.json --model classifier.tflite --task detect", in: folder)
      #expect(
        damaged.status == 1 && damaged.errors.contains("the truth 'truth.json': there is no 'annotations'"))
    }
  }

  @Test(
    "options that mean nothing are wrong usage",
    arguments: [
      "--task classify --step 3", "--task nothing", "--task classify --shape 0x3",
      "--task classify --type string",
      "--task classify --jobs 0", "--task segment --ignore 70000", "--task classify --region 0,0,1,1", "",
      "--task classify --iou-threshold 0.3", "--task classify --layout yolo-v8", "--task classify --ignore 3",
      "--task classify --max-results 1", "--task classify --locale de",
      "--task segment --score-threshold 0.3",
      "--task segment --deny cat", "--task segment --class-names names.txt",
      "--task segment --class-offset 1", "--task segment --fit center-crop",
      "--task anomaly --labels labels.txt", "--task anomaly --scores raw",
      "--task detect --truth t.json --ignore 3", "--task detect --truth t.json --shape 1x2",
    ])
  func refusesOptions(options: String) throws {
    try withTemporaryFolder { folder in
      let answer = try apus("evaluate . --model m.tflite \(options)", in: folder)
      #expect(answer.status == 64 && answer.errors.hasPrefix("error: "), "\(answer.errors)")
    }
  }
}
