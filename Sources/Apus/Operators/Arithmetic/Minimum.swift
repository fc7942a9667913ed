// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `MINIMUM`: the smaller of two elements; inputs and output share one quantization.
enum Minimum {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator { try Extremum.minimum.prepared(node) }
}
