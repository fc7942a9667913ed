// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `MAXIMUM`: the larger of two elements; inputs and output share one quantization.
enum Maximum {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator { try Extremum.maximum.prepared(node) }
}
