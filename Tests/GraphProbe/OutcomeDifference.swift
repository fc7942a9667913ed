// SPDX-License-Identifier: Apache-2.0

import Apus

/// How two outcomes differ, for people.
struct OutcomeDifference: CustomStringConvertible {
  private let expected: Outcome
  private let found: Outcome

  init(_ expected: Outcome, _ found: Outcome) {
    self.expected = expected
    self.found = found
  }

  var description: String {
    switch (expected, found) {
    case (.outputs(let wanted), .outputs(let outputs)):
      guard wanted.count == outputs.count else {
        return "\(outputs.count) outputs instead of \(wanted.count)"
      }
      for (position, (want, have)) in zip(wanted, outputs).enumerated() where want != have {
        guard want.shape == have.shape, want.bytes.count == have.bytes.count else {
          return "output \(position) has the shape \(have.shape) instead of \(want.shape)"
        }
        let different = zip(want.bytes, have.bytes).enumerated().filter { $0.1.0 != $0.1.1 }
        return "output \(position), \(want.type): \(different.count) of \(want.bytes.count) bytes differ"
          + (want.type == .float32
            ? ", by up to \(relativeError(want.bytes, have.bytes)) of the largest" : "")
      }
      return "nothing"
    case (.failed(let reason), .failed(let other)): return "fails with \(other) instead of \(reason)"
    case (_, .failed(let reason)): return "fails with \(reason)"
    case (.failed(let reason), _): return "runs, where the first fails with \(reason)"
    }
  }

  private func relativeError(_ expected: [UInt8], _ found: [UInt8]) -> Float {
    func floats(_ bytes: [UInt8]) -> [Float] {
      unsafe bytes.withUnsafeBytes { buffer in
        stride(from: 0, to: buffer.count, by: 4).map {
          unsafe buffer.loadUnaligned(fromByteOffset: $0, as: Float.self)
        }
      }
    }
    let (wanted, values) = (floats(expected), floats(found))
    let largest = wanted.filter(\.isFinite).map(abs).max() ?? 0
    let error = zip(wanted, values).map { abs($0 - $1) }.max() ?? 0
    return error / largest
  }
}
