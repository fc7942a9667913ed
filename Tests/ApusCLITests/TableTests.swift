// SPDX-License-Identifier: Apache-2.0

import ApusConsole
import Testing

@Suite struct TableTests {
  @Test("columns are as wide as their longest cell, and lines end with their last one")
  func alignsColumns() {
    let rows = [["name", "count", "kind"], ["a", "12", ""], ["", "", "b"], ["longer", "", ""]]
    #expect(
      table(rows, rightAligned: [1]) == """
        name    count  kind
        a          12
                       b
        longer
        """)
  }

  @Test("lines fit a width: cells of the widest column are broken after marks and spaces")
  func breaksCells() {
    let rows = [["#", "name"], ["0", "serving_default/input;split and more"], ["1", "b"]]
    #expect(
      table(rows, rightAligned: [0], width: 20) == """
        #  name
        0  serving_default/
           input;split and
           more
        1  b
        """)
    let wide = [[String](repeating: String(repeating: "ab ", count: 40), count: 4)]
    #expect(table(wide, width: 80).split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test("longer lines of a text go on below, farther to the right, and lose no word")
  func foldsText() {
    #expect(folded("a\n  one two three\n", width: 12) == "a\n  one two\n      three\n")
    let text = "  " + (0..<100).map { "word\($0)" }.joined(separator: " ")
    let lines = folded(text, width: 40).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 40 })
    #expect(lines.joined(separator: " ").split(separator: " ") == text.split(separator: " "))
    // Takes minutes if the rest of a line is counted for each of its pieces.
    let names = folded(String(repeating: "name ", count: 400_000), width: 80)
    #expect(names.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let long = folded(String(repeating: "x", count: 95), width: 40)
    #expect(long.split(separator: "\n").map(\.count) == [40, 40, 23])
  }

  @Test("one wide cell widens a column, but not that of a long table")
  func limitsPadding() {
    let wide = String(repeating: "w", count: 1_000)
    #expect(table([[wide, "b"], ["a", "b"]]).utf8.count == 2 * 1_003 + 1)
    let rows = [[wide, "b"]] + [[String]](repeating: ["a", "b"], count: 100_000)
    let text = table(rows, rightAligned: [0])
    #expect(text.hasPrefix(wide + "  b\n") && text.utf8.count < 100_000 * 70)
  }
}
