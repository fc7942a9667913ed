// SPDX-License-Identifier: Apache-2.0

import ApusConsole
import Testing

@Suite struct DecimalTests {
  @Test func roundsToItsDecimals() {
    #expect(decimal(0.125, 2) == "0.13" && decimal(-1.5, 1) == "-1.5" && decimal(2, 0) == "2")
    #expect(decimal(1e9, 3) == "1000000000.000" && decimal(-0.001, 2) == "0.00" && decimal(nil, 4) == "–")
  }

  @Test("numbers that are too large for decimals are printed as they are")
  func printsHugeNumbers() {
    for places in 0...6 {
      for value in [1e12, 9.4e14, 9.9e14, 1e15, 1e300, .infinity, .nan, -9.5e14] {
        #expect(!decimal(value, places).isEmpty)
      }
    }
    #expect(decimal(9.5e14, 4) == "950000000000000.0")
  }
}
