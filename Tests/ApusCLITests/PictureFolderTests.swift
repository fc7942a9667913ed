// SPDX-License-Identifier: Apache-2.0
import ApusConsole
import Foundation
import TestSupport
import Testing

/// Folders of pictures: which are taken, and what is said about the others.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct PictureFolderTests {
  /// A folder with `photos/`, in which `a.png` is a picture.
  private func withPhotos(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try FileManager.default.createDirectory(
        at: folder.appending(path: "photos"), withIntermediateDirectories: true)
      #expect(try shell("$APUS detect --annotate photos/a.png", in: folder).status == 0)
      try body(folder)
    }
  }

  @Test("files that are left out are counted by kind")
  func countsWhatIsLeftOut() throws {
    try withPhotos { folder throws in
      let answer = try shell(
        "cd photos; touch labels.txt notes.TXT x .hidden; cd ..; $APUS detect photos", in: folder)
      #expect(
        answer.status == 0 && answer.errors == "2 .txt, 1 without an extension left out\n", "\(answer.errors)"
      )
      // Pictures that are not read leave results out: that is no success.
      let pictures = try shell(
        "touch photos/a.heic photos/b.HEIF photos/c.gif; $APUS detect photos", in: folder)
      #expect(
        pictures.status == 2 && pictures.errors.hasPrefix("2 .txt, 2 HEIC, 1 GIF, "), "\(pictures.errors)")
      let inside = try shell("mkdir -p photos/more; $APUS detect photos", in: folder)
      #expect(inside.errors.contains("1 folder (see --recursive)"))
      #expect(try !shell("$APUS detect photos --recursive", in: folder).errors.contains("folder"))
    }
  }

  @Test("a folder that links lead to again is looked into once, also where links are a circle")
  func followsLinksOnce() throws {
    try withPhotos { folder throws in
      let answer = try shell(
        "cd photos; mkdir in; cp a.png in/b.png; ln -s .. in/up; ln -s .. in/again; ln -s in beside; cd ..; "
          + "$APUS detect photos --recursive --json > found.jsonl", in: folder)
      #expect(
        answer.status == 0 && answer.errors.hasPrefix("3 folders that links lead to again"),
        "\(answer.errors)")
      let lines = try String(contentsOf: folder.appending(path: "found.jsonl"), encoding: .utf8)
      #expect(lines.split(separator: "\n").count == 2)
      try TaskModel.write("classifier", "labels in the model", to: folder.appending(path: "c.tflite"))
      #expect(try shell("mkdir set; mv photos set/0", in: folder).status == 0)
      let classes = try apus("evaluate set --task classify --model c.tflite --json", in: folder)
      #expect(classes.output.contains("\"files\":2"), "\(classes)")
    }
  }

  @Test("hidden pictures and folders are left out without a word, unless they are named")
  func leavesOutHidden() throws {
    try withPhotos { folder throws in
      let found = try shell(
        "cd photos; cp a.png ._a.png; mkdir .thumbnails; cp a.png .thumbnails/t.png; cd ..; "
          + "$APUS detect photos --recursive --json > found.jsonl", in: folder)
      #expect(found.status == 0 && found.errors.isEmpty, "\(found.errors)")
      let lines = try String(contentsOf: folder.appending(path: "found.jsonl"), encoding: .utf8)
      #expect(lines.split(separator: "\n").count == 1)
      #expect(try shell("$APUS detect photos/._a.png photos/.thumbnails", in: folder).status == 0)
    }
  }

  @Test(
    "names on standard input are lines, or end with zeros as find -print0 has them",
    arguments: [
      "printf 'photos/a.png\\nphotos/b c.png\\n'", "printf 'photos/a.png\\r\\n\\nphotos/b c.png'",
      "printf 'photos/a.png\\0photos/b c.png\\0'", "find photos -name '*.png' -print0 | sort -z",
    ])
  func readsNames(command: String) throws {
    try withPhotos { folder throws in
      let answer = try shell(
        "cp photos/a.png 'photos/b c.png'; \(command) | $APUS detect - --json > found.jsonl", in: folder)
      let lines = try String(contentsOf: folder.appending(path: "found.jsonl"), encoding: .utf8)
        .split(separator: "\n")
      #expect(answer.status == 0 && lines.count == 2, "\(answer.errors)")
      #expect(lines.last?.contains("b c.png") == true)
    }
  }

  @Test(
    "a result never replaces a picture that it is made of, through whatever links",
    arguments: [
      ("detect photos/a.png --annotate photos/a.png", "--annotate"),
      ("detect photos/a.png --annotate ./photos//../photos/a.png", "--annotate"),
      ("detect photos/a.png --annotate link.png", "--annotate"),
      ("detect link.png --annotate photos/a.png", "--annotate"),
      ("detect photos/a.png --annotate hard.png", "--annotate"),
      ("detect photos/a.png --annotate-dir photos", "--annotate-dir"),
      ("detect photos --annotate-dir folder", "--annotate-dir"),
      ("segment photos/a.png --model s.tflite --output photos/a.png", "--output"),
      ("segment photos --model s.tflite --output-dir ./photos/", "--output-dir"),
      ("transform photos/a.png --model s.tflite --output link.png", "--output"),
      ("transform photos --model s.tflite --output-dir photos", "--output-dir"),
      ("embed photos/a.png --model s.tflite --output hard.npy", "--output"),
      ("filter photos/a.png link.png --chain invert", "the output"),
      ("faces photos/a-0.png photos/a.png --model s.tflite --align-dir photos", "--align-dir"),
      ("detect photos/a.png --trace photos/a.png", "--trace"),
      ("detect photos/a.png --trace names.json", "--trace"),
    ])
  func protectsSources(command: String, option: String) throws {
    try withPhotos { folder throws in
      let made = try shell(
        "ln -s photos/a.png link.png; ln photos/a.png hard.png; ln photos/a.png hard.npy; ln -s photos folder; cp photos/a.png photos/a-0.png; echo '[\"a\"]' > names.json",
        in: folder)
      #expect(made.status == 0)
      try TaskModel.write("segmenter", "scores, 8x8", to: folder.appending(path: "s.tflite"))
      func sources() throws -> [Data] {
        try ["photos/a.png", "photos/a-0.png"].map { try Data(contentsOf: folder.appending(path: $0)) }
      }
      let before = try sources()
      let answer = try apus(command, in: folder)
      #expect(
        [1, 64].contains(answer.status) && answer.output.isEmpty
          && answer.errors.hasPrefix("error: \(option) would replace ")
          && answer.errors.count(where: { $0.isNewline }) == 1, "\(answer.errors)")
      #expect(try sources() == before)
    }
  }

  @Test(
    "faces and masks do not replace annotated pictures",
    arguments: [
      ("faces photos/a.png --align-dir out --annotate out/a-0.png", "--align-dir"),
      ("faces photos/a.png photos/a-0.png --align-dir out --annotate-dir ./out", "--align-dir"),
      ("pose photos/a.png --mask-dir out --annotate out/a-12.png", "--mask-dir"),
    ])
  func keepsResultsApart(command: String, option: String) throws {
    try withPhotos { folder throws in
      #expect(try shell("cp photos/a.png photos/a-0.png; mkdir out", in: folder).status == 0)
      let answer = try apus(command + " --model none.tflite", in: folder)
      #expect(
        answer.status == 64 && answer.errors.hasPrefix("error: \(option) and the annotated picture are both"),
        "\(answer.errors)")
    }
  }

  @Test("results beside the pictures are written")
  func writesBesideSources() throws {
    try withPhotos { folder throws in
      for command in [
        "detect photos/a.png --annotate photos/b.png", "detect photos/a.png --annotate photos/b.png",
        "detect photos/a.png --annotate-dir other", "filter photos/a.png photos/c.png --chain invert",
        "detect photos/a.png --trace trace.json", "detect photos/a.png --trace trace.json",
      ] {
        let answer = try apus(command, in: folder)
        #expect(answer.status == 0, "\(command): \(answer.errors)")
      }
    }
  }

  @Test("frames of a folder come in the order of their numbers")
  func ordersFrames() {
    let names = [
      "f1.png", "f2.png", "f9.png", "f10.png", "f010.png", "f11.png", "f100.png",
      "f1000000000000000000001.png", "g.png",
    ]
    func sorted(_ names: [String]) -> [String] { names.sorted { $0.precedesByNumbers($1) } }
    let expected = [
      "f1.png", "f2.png", "f9.png", "f010.png", "f10.png", "f11.png", "f100.png",
      "f1000000000000000000001.png", "g.png",
    ]
    #expect(sorted(names) == expected && sorted(names.reversed()) == expected)
    #expect(
      sorted(["a2/b", "a10/a", "a", "a1", "", "1", "01"]) == ["", "01", "1", "a", "a1", "a2/b", "a10/a"])
  }

  @Test("pictures in the folder of the pictures that results replace are named")
  func warnsOfReplaced() throws {
    try withPhotos { folder throws in
      #expect(try apus("filter photos/a.png photos/b.jpg --chain invert", in: folder).errors.isEmpty)
      for (command, isWarned) in [
        ("detect photos/b.jpg --annotate-dir ./photos", false),
        ("detect photos/b.jpg --annotate-dir photos", true),
        ("detect photos/b.jpg --annotate-dir other", false),
        ("detect photos/b.jpg --annotate-dir other", false),
      ] {
        let answer = try apus(command, in: folder)
        #expect(answer.status == 0, "\(command): \(answer.errors)")
        #expect(
          answer.errors.contains("b.png' in the folder of the pictures is replaced") == isWarned,
          "\(answer.errors)")
      }
    }
  }

  @Test("a picture on standard input is not taken for names")
  func refusesPicturesAsNames() throws {
    try withPhotos { folder throws in
      let answer = try shell("$APUS detect - < photos/a.png", in: folder)
      #expect(
        answer.status == 1
          && answer.errors
            == "error: standard input is a PNG picture, not names of files, one a line: give the file's name\n",
        "\(answer.errors)")
      #expect(try shell("cp photos/a.png BMW.png; printf BMW.png | $APUS detect -", in: folder).status == 0)
    }
  }

  @Test("nothing to do is a failure")
  func refusesFoldersWithoutPictures() throws {
    try withPhotos { folder throws in
      for line in [
        "mkdir empty; $APUS detect empty", "mkdir tiff; touch tiff/a.TIF; $APUS detect tiff",
        "$APUS detect - < /dev/null",
      ] {
        let answer = try shell(line, in: folder)
        #expect(
          answer.status == 1 && answer.errors.hasPrefix("error: ") && answer.errors.contains("no picture"),
          "\(answer.errors)")
      }
      #expect(try shell("$APUS detect tiff", in: folder).errors.contains("1 TIFF left out"))
    }
  }

  @Test("jfif and jpe are JPEG, in any case of letters")
  func takesExtensions() throws {
    try withPhotos { folder throws in
      let line = """
        rm photos/*; $APUS detect --annotate photos/a.jpg; mv photos/a.jpg photos/a.jfif; cp photos/a.jfif photos/b.JPE
        $APUS detect photos --json > found; test $(wc -l < found) = 2
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
    }
  }
}
