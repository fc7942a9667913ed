// SPDX-License-Identifier: Apache-2.0

/// A reduction of floats as a part of a ``RowChain``: each row, or each column, of a matrix becomes one float.
@safe package struct ReductionStage: Sendable {
  /// The elements that are reduced to one float.
  package enum Direction: Sendable {
    /// Each row.
    case rows
    /// Each column; rows are summed in `parts` parts, which are added at the end.
    case columns(parts: Int)
  }

  /// The matrix.
  package let rows: Int
  package let depth: Int
  package let direction: Direction
  /// The divisor of sums; nil if they are not divided.
  let divisor: Float?
  /// Whether it sums.
  let isSum: Bool

  /// The reduction in the output of `apus inspect --plan`.
  var loopDescription: String {
    switch direction {
    case .rows: isSum ? "portable sums of rows" : "portable extremes of rows"
    case .columns: "portable sums of columns"
    }
  }

  /// Reduces `count` rows to a float each.
  let fill: ElementwiseStage.Fill
}

extension Reduction {
  /// This reduction of floats as a stage of a chain; nil unless it reduces the rows, or sums the columns, of
  /// a matrix.
  ///
  /// - Parameters:
  ///   - divisor: the divisor of sums, for means.
  ///   - startsWithFirst: as for ``run(_:_:_:to:startsWithFirst:threads:)``.
  package func stage(_ kind: Kind, divisor: Int? = nil, startsWithFirst: Bool = false) -> ReductionStage? {
    guard let matrix, matrix.rows > 0, matrix.depth > 0 else { return nil }
    let divisor = divisor.map { Float($0) }
    let depth = matrix.depth
    guard matrix.foldsRows else {
      guard case .sum = kind else { return nil }
      return unsafe ReductionStage(
        rows: matrix.rows, depth: depth, direction: .columns(parts: rowParts), divisor: divisor,
        isSum: true,
        fill: { _, _, _, _, _, _ in })
    }
    let fill: ElementwiseStage.Fill
    var isSum = false
    switch kind {
    case .sum:
      isSum = true
      unsafe fill = { output, rows, input, _, _, _ in
        let (output, input) = unsafe (
          output.assumingMemoryBound(to: Float.self), input.assumingMemoryBound(to: Float.self)
        )
        for row in 0..<rows {
          let sum = unsafe SumOfFloats.combine(0, input + row &* depth, count: depth)
          unsafe output[row] = divisor.map { sum / $0 } ?? sum
        }
      }
    case .maximum, .minimum:
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
    case .product: return nil
    }
    return unsafe ReductionStage(
      rows: matrix.rows, depth: depth, direction: .rows, divisor: divisor, isSum: isSum, fill: fill)
  }

  /// The matrix whose rows or columns are reduced; nil if there are more axes.
  private var matrix: (rows: Int, depth: Int, foldsRows: Bool)? {
    let axes = axes
    switch axes.count {
    case 1: return axes[0].isFolded ? (1, axes[0].count, true) : nil
    case 2: return (axes[0].count, axes[1].count, axes[1].isFolded)
    default: return nil
    }
  }
}
