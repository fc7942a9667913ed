// SPDX-License-Identifier: Apache-2.0
import ApusFormat
import Testing

/// Dictionaries that exporters append to models.
@Suite struct LiteralTests {
  private func parse(_ text: String) throws -> Literal { try Literal(parsing: Array(text.utf8)) }

  @Test("JSON and Python write the same values differently")
  func readsBothNotations() throws {
    let json = try parse(
      #"{"names": {"0": "a", "1": "it's"}, "end2end": true, "imgsz": [640, 480], "x": null}"#)
    let python = try parse(
      "{'names': {0: 'a', 1: \"it's\"}, 'end2end': True, 'imgsz': (640, 480,), 'x': None}")
    for value in [json, python] {
      let metadata = ExportMetadata(value)
      #expect(metadata.names == [0: "a", 1: "it's"])
      #expect(metadata.isEndToEnd == true)
      #expect(metadata.imageSize?.height == 640 && metadata.imageSize?.width == 480)
    }
  }

  // The answers of Python 3.11's ast.literal_eval and json.loads.
  @Test(
    "strings mean what they mean there",
    arguments: [
      (#"'a\n\t\\'"#, "a\n\t\\"), (#""\u00e9\x41""#, "éA"), (#""\ud83d\ude00""#, "😀"),
      (#"'\U0001F600'"#, "😀"), (#"'it\'s "x"'"#, #"it's "x""#), ("''", ""), (#"'\q'"#, #"\q"#),
      ("'é😀'", "é😀"),
    ])
  func readsStrings(text: String, expected: String) throws {
    #expect(try parse(text) == .text(expected))
  }

  @Test(
    arguments: [("1e3", 1000), ("-0.5", -0.5), ("+7", 7), (".25", 0.25), ("1_000", 1000)]
      as [(String, Double)])
  func readsNumbers(text: String, expected: Double) throws {
    #expect(try parse(text) == .number(expected))
  }

  @Test(
    "nothing is evaluated, and damage is an error",
    arguments: [
      "", " ", "{", "{1", "{1:", "{1:2", "{1:2,,}", "[1 2]", "'a", "'\\", "'\\x1'", "1 2", "a", "open('x')",
      "1+2", "--1",
      "{'a': __import__('os')}", "0x10", "'a' 'b'", "}", "1e", "\"\\ud8",
    ])
  func refuses(text: String) {
    #expect(throws: FormatError.self) { try parse(text) }
  }

  @Test("depth and size have limits")
  func isLimited() throws {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: FormatError.self) { try parse(deep) }
    let nested = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
    #expect(throws: Never.self) { try parse(nested) }
    #expect(throws: FormatError.self) { try parse("[" + String(repeating: "1,", count: 1 << 20) + "1]") }
  }

  @Test("facts of another kind are left out")
  func takesWhatIsOfUse() throws {
    let odd = ExportMetadata(
      try parse(
        "{'names': ['a', 3, 'c'], 'imgsz': 320, 'task': 7, 'end2end': 'yes', 'kpt_shape': [17], 'channels': 3.5}"
      ))
    #expect(odd.names == [0: "a", 2: "c"])
    #expect(odd.imageSize?.width == 320 && odd.imageSize?.height == 320)
    #expect(odd.task == nil && odd.isEndToEnd == nil && odd.keypoints == nil && odd.channels == nil)
    let huge = ExportMetadata(
      try parse("{'names': {-1: 'a', 1e300: 'b', 99999999999: 'c', 5: 'd'}, 'imgsz': [0, -4]}"))
    #expect(huge.names == [5: "d"])
    #expect(huge.imageSize == nil)
  }
}
