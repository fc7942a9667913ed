// SPDX-License-Identifier: Apache-2.0

/// A limit on how much can still be decoded.
///
/// Tables, vectors and strings of a hostile file may overlap, so that a few kilobytes describe gigabytes.
/// Everything decoded is charged by its size as if nothing were shared; honest files share next to nothing.
struct DecodingBudget {
  /// The cost of a table without its vectors.
  static let table = 32

  private var remaining: Int

  /// A budget for a file of `count` bytes: four times its size and 256 KiB.
  init(fileSize count: Int) {
    let (scaled, overflow) = count.multipliedReportingOverflow(by: 4)
    remaining = overflow ? .max : scaled.addingReportingOverflow(1 << 18).partialValue
  }

  /// Takes `amount`, which must not be negative; throws if less is left.
  mutating func charge(_ amount: Int) throws(FormatError) {
    guard amount <= remaining else {
      throw FormatError("the file describes several times more than it contains: its tables overlap")
    }
    remaining -= amount
  }
}
