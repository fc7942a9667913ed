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
