// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// Kernels for `float64`.
package enum DoubleFunctions {
  /// −1, 0 or 1 for each of `count` numbers; NaN stays NaN.
  package static func sign(count: Int) -> any UnaryKernel {
    UnaryMap(
      ClosureFunction<Double, Double> { $0 > 0 ? 1 : $0 < 0 ? -1 : $0.isNaN ? $0 : 0 }, count: count)
  }

  /// The angles of points, given their ordinates first: `atan2`.
  package static func arcTangent(_ shapes: BroadcastShapes) -> any BinaryKernel {
    BroadcastBinary(ClosureBinary<Double, Double, Double> { atan2($0, $1) }, shapes)
  }
}
