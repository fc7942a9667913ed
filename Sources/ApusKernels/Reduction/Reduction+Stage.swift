// SPDX-License-Identifier: Apache-2.0

/// A matrix of floats whose rows, or columns, become one float each.
package struct ReducedMatrix: Equatable, Sendable {
  package let rows: Int
  package let depth: Int
  /// The number of parts in which rows are summed for each column, to be added at the end; zero if each row is reduced.
  let columnParts: Int

  /// Whether each row is reduced; otherwise each column is.
  package var foldsRows: Bool { columnParts == 0 }
  package var count: Int { rows * depth }
}

extension Reduction {
  /// This reduction of floats as a stage of a chain; nil unless it reduces the rows, or sums the columns, of a matrix.
  ///
  /// - Parameters:
  ///   - divisor: the divisor of sums, for means.
  ///   - startsWithFirst: as for ``run(_:_:_:to:startsWithFirst:threads:)``.
  package func stage(_ kind: Kind, divisor: Int? = nil, startsWithFirst: Bool = false) -> ChainStage? {
    guard let matrix, matrix.rows > 0, matrix.depth > 0 else { return nil }
    let depth = matrix.depth
    let divisor = Float(divisor ?? 1)
    let fill: ChainStage.Fill
    var isSum = false
    switch kind {
    case .sum where !matrix.foldsRows:
      unsafe fill = { sums, rows, input, _, _, _ in
        unsafe SumOfFloats.combineColumns(
          sums.assumingMemoryBound(to: Float.self), input.assumingMemoryBound(to: Float.self), stride: depth,
          rows: rows, columns: depth)
      }
    case .sum:
      isSum = true
      unsafe fill = { output, rows, input, _, _, _ in
        let (output, input) = unsafe (
          output.assumingMemoryBound(to: Float.self), input.assumingMemoryBound(to: Float.self)
        )
        for row in 0..<rows {
          unsafe output[row] = SumOfFloats.combine(0, input + row &* depth, count: depth) / divisor
        }
      }
    case .maximum where matrix.foldsRows, .minimum where matrix.foldsRows:
      unsafe fill = { output, rows, input, _, _, _ in
        let (output, input) = unsafe (
          output.assumingMemoryBound(to: Float.self), input.assumingMemoryBound(to: Float.self)
        )
        for row in 0..<rows {
          let line = unsafe input + row &* depth
          if case .maximum = kind {
            let first = unsafe startsWithFirst ? line[0] : FloatFolding.least
            unsafe output[row] = Maximum<Float>.combine(first, line, count: depth)
          } else {
            let first = unsafe startsWithFirst ? line[0] : FloatFolding.greatest
            unsafe output[row] = Minimum<Float>.combine(first, line, count: depth)
          }
        }
      }
    case .maximum, .minimum, .product: return nil
    }
    let description =
      !matrix.foldsRows
      ? "portable sums of columns" : isSum ? "portable sums of rows" : "portable extremes of rows"
    return unsafe ChainStage(
      fill: fill, loopDescription: description, tail: nil,
      formula: isSum ? FloatFormula(inputCount: 1).summed() : nil,
      operands: [.init(period: matrix.count, stride: 4)],
      elementCount: matrix.foldsRows ? matrix.rows : depth, stride: 4, mayOverwrite: false, matrix: matrix,
      divisor: divisor)
  }

  /// The matrix whose rows or columns are reduced; nil if there are more axes.
  private var matrix: ReducedMatrix? {
    switch axes.count {
    case 1: axes[0].isFolded ? ReducedMatrix(rows: 1, depth: axes[0].count, columnParts: 0) : nil
    case 2:
      ReducedMatrix(
        rows: axes[0].count, depth: axes[1].count, columnParts: axes[1].isFolded ? 0 : rowParts)
    default: nil
    }
  }
}
