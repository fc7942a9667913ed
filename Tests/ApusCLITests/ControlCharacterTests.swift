// SPDX-License-Identifier: Apache-2.0
import ApusConsole
import Foundation
import TestSupport
import Testing

/// Names may have any character; results stay lines of text.
@Suite struct ControlCharacterTests {
  private static let hostile = "a\nb\r\u{1B}[31mc\u{9B}2J\u{7F}d\u{2028}e\u{202E}f\tg"

  private func hasControls(_ text: String) -> Bool {
    text.unicodeScalars.contains {
      $0 != "\n" && $0.properties.generalCategory == .control || (0x2028...0x202E).contains($0.value)
    }
  }

  @Test("a name is a part of one line")
  func keepsNamesOnTheirLine() {
    let line = oneLine(Self.hostile)
    #expect(!hasControls(line) && !line.contains("\n") && line.hasPrefix("a b"))
    #expect(oneLine("Grüße, 猫 …") == "Grüße, 猫 …")
    #expect(table([["name", "n"], [Self.hostile, "1"]]).split(separator: "\n").count == 2)
  }

  @Test("JSON has escapes for control characters, and the same value")
  func escapesJSON() throws {
    let json = try Output.json([Self.hostile])
    #expect(!hasControls(json) && !json.contains("\n"))
    #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == [Self.hostile])
  }

  @Test(
    "labels, files and galleries forge no lines",
    .enabled(if: builtExecutable("apus") != nil, "apus is missing"))
  func forgesNoLines() throws {
    try withTemporaryFolder { folder in
      for (task, name) in [
        ("classifier", "labels in the model"), ("segmenter", "scores, 8x8"), ("embedder", "one embedding"),
      ] {
        try TaskModel.write(task, name, to: folder.appending(path: "\(task).tflite"))
      }
      // JSON need not escape DEL, and label files that contain it are refused.
      let hostile = Self.hostile.filter { $0 != "\u{7F}" }
      let labels = try JSONEncoder().encode((0..<32).map { "\($0)" + hostile })
      try labels.write(to: folder.appending(path: "labels.json"))
      let picture = "p\n\u{1B}[31mx\u{9B}.png"
      #expect(try shell("$APUS detect --annotate p.png", in: folder).status == 0)
      try FileManager.default.copyItem(
        at: folder.appending(path: "p.png"), to: folder.appending(path: picture))
      try FileManager.default.copyItem(
        at: folder.appending(path: "classifier.tflite"), to: folder.appending(path: "m\n\u{1B}[31m.tflite"))
      for (command, lines) in [
        ("classify p*x*.png --model classifier.tflite --labels labels.json --top 3", 7),
        ("classify p*x*.png --model classifier.tflite --labels labels.json --top 3 --json", 2),
        ("classify p*x*.png --model classifier.tflite --labels labels.json --top 1 --decide 0", 5),
        ("segment p*x*.png --model segmenter.tflite --labels labels.json", nil),
        ("detect p*x*.png --annotate $'q\\n\\x1b[1m.png'", nil),
        ("gallery add $'Eve\\nroot: 1 added\\x1b[2J' p.png --gallery g --model embedder.tflite", 1),
        ("gallery list --gallery g", 2), ("gallery find p*x*.png --gallery g --model embedder.tflite", 2),
        ("gallery find p*x*.png --gallery g --model embedder.tflite --json", 1),
        ("inspect m*.tflite --labels labels.json --all", nil),
        ("run m*.tflite --output-dir $'o\\n\\x1b'", nil),
        ("filter p*x*.png $'r\\n.png' --chain invert", 1),
        ("classify none$'\\n\\x9b'.png --model classifier.tflite", nil),
      ] as [(String, Int?)] {
        let answer = try shell("$APUS \(command) > out 2>&1; cat out >&2", in: folder)
        #expect(!hasControls(answer.errors), "\(command): \(answer.errors.debugDescription)")
        if let lines {
          let found = answer.errors.split(separator: "\n", omittingEmptySubsequences: false).count - 1
          #expect(found == lines, "\(command): \(answer.errors)")
        }
        #expect(
          !answer.errors.split(separator: "\n").contains {
            $0.hasPrefix("root") || $0.hasPrefix("b ") || $0 == "b"
          },
          "\(command)")
      }
    }
  }
}
