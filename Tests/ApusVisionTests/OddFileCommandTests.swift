// SPDX-License-Identifier: Apache-2.0

import ApusImages
import ApusVision
import Foundation
import TestSupport
import Testing

/// Files that are not as usual, through the command-line tool: pipes, names that are not UTF-8, damage, sizes that are too large or open.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct OddFileCommandTests {
  /// A folder with `a.png` of 8 × 8 pixels, a classifier of two classes, and labels for it.
  private func withFiles(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let pixels = (0..<8 * 8 * 3).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let picture = try ImageBuffer(bytes: pixels, width: 8, height: 8, format: .rgb)
      try picture.write(toFile: folder.appending(path: "a.png").path)
      let model = DetectorModel.answering([.rows([0.25, 0.75])])
      try Data(model.bytes).write(to: folder.appending(path: "c.tflite"))
      try Data("cat\ndog\n".utf8).write(to: folder.appending(path: "labels.txt"))
      try body(folder)
    }
  }

  @Test(
    "named pipes and devices are refused, and nothing waits for them", .timeLimit(.minutes(1)),
    arguments: [
      ("classify a.png --model c.tflite --labels pipe", 1, "it is a named pipe"),
      ("classify a.png --model pipe", 1, "not a regular file"),
      ("classify pipe a.png --model c.tflite", 2, "it is a named pipe"),
      ("classify folder --model c.tflite", 2, "pipe.png: it is a named pipe"),
      ("classify a.png --model c.tflite --labels /dev/zero", 1, "it is a device"),
      ("run c.tflite --input pipe", 1, "it is a named pipe"),
      ("gallery list --gallery pipe", 1, "it is a named pipe"),
    ] as [(String, Int32, String)])
  func refusesPipes(command: String, status: Int32, message: String) throws {
    try withFiles { folder in
      let answer = try shell(
        "mkfifo pipe; mkdir folder; cp a.png folder; mkfifo folder/pipe.png; timeout 20 \"$APUS\" \(command)",
        in: folder)
      #expect(answer.status == status && answer.errors.contains(message), "\(answer)")
    }
  }

  @Test(
    "pipes that the shell opened are read", .timeLimit(.minutes(1)),
    arguments: [
      "classify a.png --model c.tflite --labels <(cat labels.txt)",
      "classify a.png --model c.tflite --labels /dev/stdin < labels.txt",
      "classify a.png --model c.tflite --labels /dev/stdin < <(sleep 0.2; cat labels.txt)",
      "classify <(cat a.png) --model c.tflite --labels labels.txt",
      "classify /dev/stdin --model c.tflite --labels labels.txt < a.png",
    ])
  func readsOpenPipes(command: String) throws {
    try withFiles { folder in
      let answer = try shell("timeout 20 \"$APUS\" \(command) > out.txt", in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer)")
      #expect(try String(contentsOf: folder.appending(path: "out.txt"), encoding: .utf8).contains("dog"))
    }
  }

  #if os(Linux)
    @Test(
      "a name that is not UTF-8 is shown with escapes, and never left out without a word",
      arguments: [
        ("classify $'caf\\xe9.png' --model c.tflite", 1, 0), ("classify folder --model c.tflite", 2, 1),
        ("classify - --model c.tflite < <(printf 'a.png\\ncaf\\xe9.png\\n')", 2, 1),
        ("evaluate set --model c.tflite --task classify", 1, 0),
        ("hear folder --model c.tflite", 1, 0),
      ] as [(String, Int32, Int)])
    func namesUndecodableFiles(command: String, status: Int32, answers: Int) throws {
      try withFiles { folder in
        let answer = try shell(
          """
          mkdir folder; cp a.png folder; for e in png wav; do cp a.png $'folder/caf\\xe9.'$e; cp a.png $'caf\\xe9.'$e; done
          [[ '\(command.prefix(4))' == hear ]] || rm folder/*.wav
          mkdir -p set/0 set/1; cp a.png set/0; cp a.png $'set/1/caf\\xe9.png'
          "$APUS" \(command) > out.txt
          """, in: folder)
        #expect(answer.status == status && answer.errors.contains("caf\\xE9."), "\(answer)")
        #expect(answer.errors.contains("is not UTF-8"), "\(answer)")
        let output = try String(contentsOf: folder.appending(path: "out.txt"), encoding: .utf8)
        #expect(output.split(separator: "\n").count(where: { $0.contains("a.png") }) == answers)
      }
    }
  #endif

  @Test("the limit that is advised admits the picture; where none does, none is advised")
  func advisesLimits() throws {
    try withFiles { folder in
      func filter(_ width: Int, _ height: Int, _ options: String) throws -> (status: Int32, errors: String) {
        let answer = try shell(
          """
          (printf 'P5\\n\(width) \(height)\\n255\\n'; head -c \(min(width * height, 1 << 22)) /dev/zero) > large.pgm
          "$APUS" filter large.pgm out.ppm --chain invert \(options)
          """, in: folder)
        return (answer.status, answer.errors)
      }
      let refused = try filter(1_500, 1_000, "--pixel-limit 1")
      #expect(refused.status == 2 && refused.errors.hasSuffix("; --pixel-limit 2 admits it\n"), "\(refused)")
      #expect(try filter(1_500, 1_000, "--pixel-limit 2").status == 0)
      let huge = try filter(20_000, 20_000, "")
      #expect(huge.status == 2 && !huge.errors.contains("--pixel-limit"), "\(huge)")
      let long = try filter(40_000, 1, "--pixel-limit 268")
      #expect(long.status == 2 && long.errors.contains("no option reads larger ones"), "\(long)")
    }
  }

  @Test("the sizes that a model leaves open can be given to inspect, as its error advises")
  func inspectsOpenSizes() throws {
    try withFiles { folder in
      let open = DetectorModel.answering(
        [.rows([0.25, 0.75])], shape: [1, 1, 1, 3], signature: [1, -1, -1, 3])
      try Data(open.bytes).write(to: folder.appending(path: "open.tflite"))
      let refused = try apus("inspect open.tflite --as classifier", in: folder)
      #expect(refused.status == 1 && refused.errors.contains("--input-size"), "\(refused)")
      let given = try apus("inspect open.tflite --as classifier --input-size 16x8", in: folder)
      #expect(given.status == 0 && given.output.contains("16"), "\(given)")
      let sound = DetectorModel.answering(
        [.rows([0.25, 0.75])], shape: [1, 1], type: DetectorModel.float32, signature: [1, -1])
      try Data(sound.bytes).write(to: folder.appending(path: "sound.tflite"))
      let unknown = try apus("inspect sound.tflite --as sound", in: folder)
      #expect(unknown.status == 1 && unknown.errors.contains("--window"), "\(unknown)")
      let known = try apus("inspect sound.tflite --as sound --window 8000 --rate 8000", in: folder)
      #expect(known.status == 0 && known.output.contains("8000 samples at 8000 Hz"), "\(known)")
      for options in ["--window 3", "--as sound --input-size 8x8", "--as classifier --rate 1"] {
        #expect(try apus("inspect c.tflite \(options)", in: folder).status == 64)
      }
    }
  }

  @Test("gallery find says how long each stage took")
  func measuresGalleries() throws {
    try withFiles { folder in
      let models = "--gallery g --model c.tflite"
      #expect(try apus("gallery add Ada a.png \(models)", in: folder).status == 0)
      var picture = try ImageBuffer(contentsOfFile: folder.appending(path: "a.png").path)
      picture = try ImageBuffer(
        bytes: [UInt8](repeating: 9, count: 2_000 * 2_000 * 3), width: 2_000, height: 2_000,
        format: picture.format)
      try picture.write(toFile: folder.appending(path: "large.ppm").path)
      let found = try apus("gallery find large.ppm \(models)", in: folder)
      #expect(
        found.status == 0 && found.output.contains("Ada") && !found.output.contains("\n0.0 ms preprocessing"))
    }
  }

  @Test("a damaged JPEG is answered with a warning, one that ends early is an error")
  func warnsOfDamage() throws {
    try withFiles { folder in
      var random = SeededGenerator(seed: 5)
      let pixels = (0..<64 * 64 * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
      var file = try ImageBuffer(bytes: pixels, width: 64, height: 64, format: .rgb).encoded(as: .jpeg)
      try Data(file).write(to: folder.appending(path: "whole.jpg"))
      try Data(file.prefix(file.count / 2)).write(to: folder.appending(path: "short.jpg"))
      for index in file.count / 2..<file.count - 64 {
        file[index] = UInt8.random(in: 0...254, using: &random)
      }
      try Data(file).write(to: folder.appending(path: "damaged.jpg"))
      let whole = try apus("classify whole.jpg --model c.tflite", in: folder)
      #expect(whole.status == 0 && whole.errors.isEmpty)
      #expect(try apus("classify short.jpg --model c.tflite", in: folder).status == 2)
      let damaged = try apus("classify damaged.jpg --model c.tflite", in: folder)
      #expect(
        damaged.status == 0 && damaged.errors.hasPrefix("warning: damaged.jpg: the file is damaged"),
        "\(damaged)")
      let json = try apus("classify damaged.jpg whole.jpg --model c.tflite --json", in: folder)
      let lines = json.output.split(separator: "\n")
      #expect(lines.count == 2 && lines[0].contains(#""warning":"the file is damaged, so"#), "\(json)")
      #expect(!lines[1].contains("warning"))
      let name = folder.appending(path: "damaged.jpg").path
      #expect(try ImageBuffer(contentsOfFile: name).flaw != nil)
      #expect(try ImageBuffer(contentsOfFile: folder.appending(path: "whole.jpg").path).flaw == nil)
    }
  }
}
