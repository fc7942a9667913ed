// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

extension Node {
  /// The operator's random numbers; the seeds are the low 32 bits of the options'.
  func randomStream() throws(ApusError) -> RandomStream {
    func narrowed(_ seed: Int64) -> UInt64 { UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: seed))) }
    let options = options.random
    return context.randomStream(
      subgraph: subgraphIndex, operator: index, seed: narrowed(try options.seed),
      seed2: narrowed(try options.seed2))
  }
}
