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

  @Test("one wide cell widens a column, but not that of a long table")
  func limitsPadding() {
    let wide = String(repeating: "w", count: 1_000)
    #expect(table([[wide, "b"], ["a", "b"]]).utf8.count == 2 * 1_003 + 1)
    let rows = [[wide, "b"]] + [[String]](repeating: ["a", "b"], count: 100_000)
    let text = table(rows, rightAligned: [0])
    #expect(text.hasPrefix(wide + "  b\n") && text.utf8.count < 100_000 * 70)
  }
}
