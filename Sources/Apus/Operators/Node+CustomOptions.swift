// SPDX-License-Identifier: Apache-2.0

import ApusFormat

extension Node {
  /// A custom operator's options, which are a FlexBuffer map.
  func flexBufferOptions() throws(ApusError) -> FlexBufferMap {
    do { return try FlexBufferMap(bytes: customOptions) } catch {
      throw malformed("options: \(error.message)")
    }
  }

  /// An integer of these options; zero if it is missing.
  func integer(
    _ key: String, of options: FlexBufferMap, in range: ClosedRange<Int>
  ) throws(ApusError) -> Int {
    let number = options.int64(key)
    guard let value = Int(exactly: number), range.contains(value) else {
      throw malformed("\(key) is \(number), not \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }
}
