// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Generated code that interpolates bytes for ``BilinearResize``, as its portable loops do: weighted sums of rows first, then the
/// columns between them.
package struct ResizeCode: Sendable {
  /// Elements of a row times their weights, in vectors.
  package struct Rows: CodeArguments {
    package var upper: Int
    package var lower: Int
    /// Weights, as `int32` or floats.
    package var near: UInt32
    package var far: UInt32
    /// How many vectors, at least one.
    package var steps: Int
    /// Sums of both rows; or the upper row's products, and where the lower one's go.
    package var sums: Int
    package var lowerProducts: Int
  }

  /// Where a column lies, and what its neighbors are multiplied by.
  package struct Column: Sendable {
    /// Bytes from the first lane of a row.
    package var left: Int
    package var right: Int
    /// Weights, as `int32` or floats.
    package var near: UInt32
    package var far: UInt32
  }

  /// Columns between their neighbors.
  package struct Columns: CodeArguments {
    package var sums: Int
    /// From the upper row's products to the lower one's, in bytes.
    package var lowerDistance: Int
    package var columns: Int
    /// How many columns, at least one.
    package var count: Int
    /// How many vectors a pixel takes, and channels it has.
    package var steps: Int
    package var channels: Int
    package var result: Int
    /// A half in the units of sums.
    package var half: UInt32
  }

  /// The number of lanes in a vector, and of bytes in a store.
  let lanes: Int
  /// Whether elements are signed bytes, whose weights are integers; otherwise unsigned ones, whose weights are floats.
  let isSigned: Bool
  private let rows: CodeFunction<Rows>
  private let columns: CodeFunction<Columns>

  /// The functions that generators write.
  package init(
    lanes: Int, isSigned: Bool, rows: any CodeGenerator, columns: any CodeGenerator
  ) throws(Decline) {
    self.lanes = lanes
    self.isSigned = isSigned
    self.rows = try unsafe CodeFunction(rows)
    self.columns = try unsafe CodeFunction(columns)
  }

  /// A weight as the code reads it.
  private func bits(near: Bool, _ tap: InterpolationTap) -> UInt32 {
    isSigned
      ? UInt32(bitPattern: near ? 1024 &- tap.weight : tap.weight)
      : (near ? 1 - tap.fraction : tap.fraction).bitPattern
  }

  /// The columns as the code reads them.
  func table(_ taps: [InterpolationTap], channels: Int) -> [Column] {
    taps.map { tap in
      Column(
        left: tap.lower &* channels &* 4, right: tap.upper &* channels &* 4, near: bits(near: true, tap),
        far: bits(near: false, tap))
    }
  }

  /// Weighs as many elements of two rows as fill vectors, and says how many those are.
  func weigh(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ tap: InterpolationTap, count: Int,
    to sums: UnsafeMutableRawPointer, lowerDistance: Int
  ) -> Int {
    let steps = count / lanes
    guard steps > 0 else { return 0 }
    unsafe rows.call(
      Rows(
        upper: Int(bitPattern: upper), lower: Int(bitPattern: lower), near: bits(near: true, tap),
        far: bits(near: false, tap), steps: steps, sums: Int(bitPattern: sums),
        lowerProducts: Int(bitPattern: sums + lowerDistance)))
    return steps &* lanes
  }

  /// Interpolates columns; whole vectors are stored, beyond the last channel as well.
  func interpolate(
    _ table: UnsafeBufferPointer<Column>, channels: Int, _ sums: UnsafeRawPointer, lowerDistance: Int,
    to result: UnsafeMutableRawPointer
  ) {
    guard !table.isEmpty else { return }
    let half: UInt32 = isSigned ? 1 << 19 : (0.5 as Float).bitPattern
    columns.call(
      Columns(
        sums: Int(bitPattern: sums), lowerDistance: lowerDistance,
        columns: Int(bitPattern: table.baseAddress),
        count: table.count, steps: ceilingQuotient(channels, lanes), channels: channels,
        result: Int(bitPattern: result), half: half))
  }
}
