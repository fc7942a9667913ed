// SPDX-License-Identifier: Apache-2.0

import Apus

/// A model, its inputs in several sets, and which ways of running it are asked for.
struct Case {
  /// The values of one input.
  struct Values {
    let shape: TensorShape
    let bytes: [UInt8]
  }

  /// Limits of a preparation and a run, and the exclusive bound of inputs' integers.
  struct Limits {
    var milliseconds = 0
    var byteCount = 0
    var threadCount = 1
    var integerBound = 1
  }

  let model: [UInt8]
  /// The sets of data; the third, if there is one, has other shapes.
  let sets: [[Values]]
  /// The kernel sets to compare with the reference; the empty name is the default.
  let kernels: [String]
  /// The ways to compare with the first, by name.
  let ways: Set<String>
  /// The thread counts of the way `threads`.
  let threadCounts: [Int]
  /// Whether a run changes the next.
  let hasState: Bool
  /// The sets in the order in which they run, if it is not the usual one.
  let order: [Int]
  /// The signature that each set is for; empty if all are for the main subgraph.
  let signatures: [String]
  /// The limits of the way `limits`.
  let limits: Limits

  init(_ frame: [UInt8]) {
    var reader = FrameReader(frame)
    model = reader.array()
    hasState = reader.integer() != 0
    kernels = (0..<reader.integer()).map { _ in reader.text() }
    ways = Set((0..<reader.integer()).map { _ in reader.text() })
    threadCounts = (0..<reader.integer()).map { _ in reader.integer() }
    sets = (0..<reader.integer()).map { _ in
      (0..<reader.integer()).map { _ in
        let dimensions = (0..<reader.integer()).map { _ in reader.integer() }
        return Values(shape: TensorShape(dimensions), bytes: reader.array())
      }
    }
    order = (0..<reader.integer()).map { _ in reader.integer() }
    signatures = (0..<reader.integer()).map { _ in reader.text() }
    limits =
      reader.integer() == 0
      ? Limits()
      : Limits(
        milliseconds: reader.integer(), byteCount: reader.integer() << 10, threadCount: reader.integer(),
        integerBound: reader.integer())
  }
}

/// The values of one tensor after a run.
struct Output: Equatable {
  let type: ElementType
  let shape: [Int]
  let bytes: [UInt8]

  /// Whether all bits are alike, but for those of NaN: which of two an operation passes on is left open.
  static func == (first: Self, second: Self) -> Bool {
    guard first.type == second.type, first.shape == second.shape else { return false }
    if first.bytes == second.bytes { return true }
    guard first.type == .float32, first.bytes.count == second.bytes.count else { return false }
    return unsafe first.bytes.withUnsafeBytes { one in
      unsafe second.bytes.withUnsafeBytes { other in
        stride(from: 0, to: one.count, by: 4).allSatisfy { place in
          let left = unsafe one.loadUnaligned(fromByteOffset: place, as: Float.self)
          let right = unsafe other.loadUnaligned(fromByteOffset: place, as: Float.self)
          return left.bitPattern == right.bitPattern || left.isNaN && right.isNaN
        }
      }
    }
  }
}

/// The outputs of a run, or why there are none.
enum Outcome: Equatable {
  case outputs([Output])
  case failed(String)
}
