// SPDX-License-Identifier: Apache-2.0

/// A filter of some of the taps of an OHWI filter.
struct PhaseFilter: FilterArrangement {
  /// Output channels, rows, columns and input channels of the whole filter.
  let shape: [Int]
  /// The selected rows and columns; −1 for taps of zeros.
  let rows: [Int]
  let columns: [Int]
  /// The size of an element.
  let width: Int
  /// The byte that fills zeros.
  let zero: UInt8

  var byteCount: Int { shape[0] * rows.count * columns.count * shape[3] * width }
  var name: String { "rows \(Self.text(rows)) columns \(Self.text(columns))" }

  /// Taps of a phase: zeros, and then others at equal distances, which the first, the last and their number tell.
  private static func text(_ taps: [Int]) -> String {
    let zeros = taps.prefix { $0 < 0 }.count
    return "\(taps.count), \(zeros) of zeros, \(taps[min(zeros, taps.count - 1)]) to \(taps.last ?? -1)"
  }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    let run = shape[3] * width
    var target = 0
    for channel in 0..<shape[0] {
      for row in rows {
        for column in columns {
          let source = ((channel * shape[1] + row) * shape[2] + column) * run
          for byte in 0..<run {
            let value =
              unsafe row < 0 || column < 0
              ? zero : filter.unsafeLoad(fromByteOffset: source + byte, as: UInt8.self)
            arranged.storeBytes(of: value, toByteOffset: target + byte, as: UInt8.self)
          }
          target += run
        }
      }
    }
  }
}
