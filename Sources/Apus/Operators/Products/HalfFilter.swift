// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// A filter of 16-bit floats, widened.
struct HalfFilter: FilterArrangement {
  /// The elements of the filter.
  let count: Int

  var byteCount: Int { count * 4 }
  var name: String { "halves" }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    Dequantization.halves(count: count).run(filter, to: &arranged, threads: ThreadTeam(count: 1))
  }
}
