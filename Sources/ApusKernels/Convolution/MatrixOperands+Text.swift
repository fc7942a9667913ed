// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

// Names in declines and in the output of `apus inspect --plan`.

extension MatrixOperands {
  /// The types of activations and weights.
  package var name: String {
    switch self {
    case .float32: "float32"
    case .bfloat16: "float32 rounded to bfloat16"
    case .uint8: "uint8"
    case .int8: "int8"
    case .uint8ToInt16: "uint8 with int16 outputs"
    case .int8Sums: "int8 with int32 outputs"
    case .int16(let weight, let bias): "int16 with int\(8 * weight) weights and an int\(8 * bias) bias"
    case .hybrid: "float32 (quantized at run time)"
    }
  }
}

extension Epilogue {
  /// The epilogue's name.
  package var name: String {
    switch self {
    case .float32: "float outputs"
    case .fixedPoint: "outputs in fixed point"
    case .fixedPointUpward: "outputs in fixed point with halves rounded up"
    case .float64: "outputs in double precision"
    case .reducedFixedPoint: "outputs in fixed point of 64 bits"
    case .hybrid: "float outputs scaled by image"
    case .sums: "sums as outputs"
    }
  }

  /// The number of factors; nil for epilogues without.
  private var factorCount: Int? {
    switch self {
    case .float32, .sums: nil
    case .fixedPoint(let factors, _, _, _), .fixedPointUpward(let factors, _, _, _): factors.count
    case .reducedFixedPoint(let factors, _, _): factors.count
    case .float64(let factors, _, _, _): factors.count
    case .hybrid(let factors, _, _, _): factors.count
    }
  }

  /// Throws unless this epilogue fits the operands, and has one factor or `channels`.
  package func requireFit(_ operands: MatrixOperands, channels: Int) throws(Decline) {
    guard !fits(operands, channels: channels) else { return }
    if let count = factorCount, count != 1, count != channels {
      throw Decline("the epilogue has \(count) factors for \(channels) channels")
    }
    throw Decline("\(name) are not made of sums of \(operands.name)")
  }
}

extension ProductKind {
  /// The type that is multiplied.
  package var text: String { self == .words ? "16-bit integers" : name }
}

/// A number and what it counts, in the plural unless it is one.
package func counted(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
