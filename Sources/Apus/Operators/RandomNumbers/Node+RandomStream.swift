// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

extension Node {
  /// The operator's random numbers; the seeds are the low 32 bits of options 0 and 1.
  func randomStream() throws(ApusError) -> RandomStream {
    func seed(_ field: Int) throws(ApusError) -> UInt64 {
      let seed = try option { options throws(FormatError) in try options.int64(field, default: 0) }
      return UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: seed)))
    }
    return context.randomStream(
      subgraph: subgraphIndex, operator: index, seed: try seed(0), seed2: try seed(1))
  }
}
