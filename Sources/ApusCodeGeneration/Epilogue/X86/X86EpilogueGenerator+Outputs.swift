// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension X86EpilogueGenerator.Outputs {
  /// The outputs for operands and an epilogue; raw sums without one.
  ///
  /// - Parameter isPerRow: whether each row is an image with its own scale.
  init(_ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, isPerRow: Bool) {
    let isSigned = if case .int8 = operands { true } else { false }
    switch epilogue {
    case .stated(.float32): self = .floats
    case .stated(.hybrid(_, _, _, let areWeightsFirst)):
      self = .scaledFloats(isPerRow: isPerRow, areColumnsFirst: areWeightsFirst)
    case .stated(.float64): self = .bytes(isSigned: isSigned, .once, isBounded: false)
    case .stated(.fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum)):
      self = .bytes(
        isSigned: isSigned,
        !X86EpilogueGenerator.shiftRight(multipliers)
          ? .any : minimum < zeroPoint ? .right : .rightRectified,
        isBounded: minimum > (isSigned ? -128 : 0) || maximum < (isSigned ? 127 : 255))
    case .anySum(_, _, let minimum, let maximum):
      self = .bytes(
        isSigned: isSigned, .any,
        isBounded: minimum > (isSigned ? -128 : 0) || maximum < (isSigned ? 127 : 255))
    case .singlePrecision(let factors, let zeroPoint, let minimum, let maximum):
      self = .bytes(
        isSigned: isSigned,
        .single(
          isRectified: minimum >= zeroPoint,
          zeroPoint: zeroPoint == 0 ? .none : zeroPoint == -128 ? .least : .other,
          hasRest: factors.first?.rest != nil),
        isBounded: minimum > (isSigned ? -128 : 0) || maximum < (isSigned ? 127 : 255))
    default: self = .sums
    }
  }

  /// Whether outputs are bytes, whose columns are in the order that packing needs.
  var isBytes: Bool { if case .bytes = self { true } else { false } }

  /// Whether no output is below the zero point, and all factors shift right.
  var isRectified: Bool { if case .bytes(_, .rightRectified, _) = self { true } else { false } }

  /// Whether the zero point must still be added to rescaled sums of bytes.
  var addsZeroPoint: Bool {
    switch self {
    case .bytes(_, .right, _), .bytes(_, .rightRectified, _), .bytes(_, .any, _),
      .bytes(_, .single(_, zeroPoint: .none, _), _):
      false
    default: true
    }
  }

  /// Whether outputs are bytes whose sums are multiplied in single precision.
  var isSingle: Bool { if case .bytes(_, .single, _) = self { true } else { false } }

  /// Whether single precision has factors in two parts.
  var hasRest: Bool { if case .bytes(_, .single(_, _, hasRest: true), _) = self { true } else { false } }

  /// Whether outputs are bytes whose factors all shift right.
  var shiftsRight: Bool {
    switch self {
    case .bytes(_, .right, _), .bytes(_, .rightRectified, _): true
    default: false
    }
  }
}
