// SPDX-License-Identifier: Apache-2.0

/// How much may still be decoded.
///
/// Tables, vectors and strings of a hostile file may overlap, so that a few kilobytes describe gigabytes.
/// What is decoded is charged by its size as if nothing were shared; an honest file shares next to nothing.
struct DecodingBudget {
  /// What a table costs beside its vectors.
  static let table = 32

  private var remaining: Int

  /// A budget for a file of `count` bytes: four times its size and 256 KiB.
  init(fileSize count: Int) {
    let (scaled, overflow) = count.multipliedReportingOverflow(by: 4)
    remaining = overflow ? .max : scaled.addingReportingOverflow(1 << 18).partialValue
  }

  /// Takes `amount`, which is not negative, or throws when less is left.
  mutating func charge(_ amount: Int) throws(FormatError) {
    guard amount <= remaining else {
      throw FormatError("the file describes several times more than it contains: its tables overlap")
    }
    remaining -= amount
  }
}
