// SPDX-License-Identifier: Apache-2.0

/// The milliseconds that `body` takes.
package func milliseconds<E: Error>(_ body: () throws(E) -> Void) throws(E) -> Double {
  let start = ContinuousClock.now
  try body()
  let (seconds, attoseconds) = (ContinuousClock.now - start).components
  return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
}

extension [Double] {
  /// The least value that so large a share of the values does not exceed; zero for no values.
  package func percentile(_ share: Double) -> Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return 0 }
    return sorted[Swift.min(Swift.max(Int((share * Double(count)).rounded(.up)) - 1, 0), count - 1)]
  }

  /// The middle of the values; zero for no values.
  package var median: Double {
    let sorted = sorted()
    guard !sorted.isEmpty else { return 0 }
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}
