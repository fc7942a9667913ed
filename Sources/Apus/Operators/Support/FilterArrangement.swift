// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// How a model's filter becomes one that a kernel packs.
protocol FilterArrangement: Sendable {
  /// The bytes of the arranged filter.
  var byteCount: Int { get }

  /// Distinguishes this arrangement from others of the same tensor.
  var name: String { get }

  /// Writes the arranged filter.
  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan)
}

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
