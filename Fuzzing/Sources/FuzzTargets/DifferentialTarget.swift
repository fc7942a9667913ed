// SPDX-License-Identifier: Apache-2.0

import Apus

/// Every kernel set on the same bytes: integers agree to the bit, floats within a tolerance.
///
/// The first byte says what the others are: a model, or what ``OperatorRecipe`` makes one of.
public enum DifferentialTarget: FuzzTarget {
  public static let name = "differential"

  public static func run(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let contents = first == UInt8(ascii: "m") ? Array(bytes.dropFirst()) : OperatorRecipe(bytes).model
    guard let model = try? Model(bytes: contents), !isRandom(model) else { return }
    let runs = Runtime.kernelSets.filter(\.isSupported).map { set in
      (set.name, Result { () throws(ApusError) in try FuzzedRun(model, kernels: set.name).outputs() })
    }
    guard let (name, reference) = runs.last else { return }
    for (other, result) in runs.dropLast() {
      switch (reference, result) {
      case (.success(let lhs), .success(let rhs)): compare(lhs, rhs, "\(name) and \(other)")
      case (.failure(let lhs), .failure(let rhs)):
        if lhs.code != rhs.code, !isAboutMemory(lhs), !isAboutMemory(rhs) {
          disagree("\(name): \(lhs); \(other): \(rhs)")
        }
      case (.success, .failure(let error)):
        if !isAboutMemory(error) { disagree("\(name) answers; \(other): \(error)") }
      case (.failure(let error), .success):
        if !isAboutMemory(error) { disagree("\(other) answers; \(name): \(error)") }
      }
    }
  }

  public static func mutate(_ bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool {
    guard bytes.first == UInt8(ascii: "m") else { return false }
    var contents = Array(bytes.dropFirst())
    guard ModelMutation.apply(to: &contents, using: &random) else { return false }
    bytes = [UInt8(ascii: "m")] + contents
    return true
  }

  /// Sets pack weights in layouts of different sizes, so that limits may stop one alone.
  private static func isAboutMemory(_ error: ApusError) -> Bool { error.code == .resourceLimit }

  private static func isRandom(_ model: Model) -> Bool {
    model.operatorCounts.contains { $0.name.hasPrefix("RANDOM") || $0.name == "MULTINOMIAL" }
  }

  private static func compare(_ lhs: [FuzzedRun.Output], _ rhs: [FuzzedRun.Output], _ names: String) {
    for (position, (lhs, rhs)) in zip(lhs, rhs).enumerated() {
      guard lhs.shape == rhs.shape, lhs.bytes.count == rhs.bytes.count else {
        disagree("output \(position): \(lhs.shape) and \(rhs.shape), \(names)")
      }
      if lhs.type == .float32 {
        compareFloats(lhs.bytes, rhs.bytes, "output \(position), \(names)")
      } else if lhs.type.isExact, lhs.bytes != rhs.bytes {
        disagree("output \(position), \(lhs.type), differs, \(names)")
      }
    }
  }

  /// Sums of floats are added in other orders: the error grows with the largest of the values, as cancellation hides it.
  private static func compareFloats(_ lhs: [UInt8], _ rhs: [UInt8], _ what: String) {
    if lhs == rhs { return }
    func floats(_ bytes: [UInt8]) -> [Float] {
      bytes.withUnsafeBytes { raw in
        (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
      }
    }
    let (lhs, rhs) = (floats(lhs), floats(rhs))
    guard lhs.allSatisfy(\.isFinite), rhs.allSatisfy(\.isFinite) else { return }
    let largest = (lhs + rhs).reduce(Float(1e-3)) { max($0, abs($1)) }
    guard largest < 1e30 else { return }
    for (index, (lhs, rhs)) in zip(lhs, rhs).enumerated() where abs(lhs - rhs) > 1e-2 * largest {
      disagree("\(what): element \(index) is \(lhs) and \(rhs), the largest is \(largest)")
    }
  }
}

extension ElementType {
  /// Whether all kernel sets answer with the same bits.
  fileprivate var isExact: Bool {
    [.uint8, .int8, .int16, .bool, .uint16, .uint32, .uint64].contains(self)
  }
}
