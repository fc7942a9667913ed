// SPDX-License-Identifier: Apache-2.0

/// How generated code implements an ``Epilogue``: literally, or in another form with the same outputs that is
/// faster or exact for more sums.
package enum LoweredEpilogue: Hashable, Sendable {
  /// The epilogue, literally.
  case stated(Epilogue)
  /// Fixed point in single precision, with the same output for every sum: multiplies, adds one half or
  /// slightly more away from zero, truncates, adds the zero point, clamps. See ``SinglePrecisionFactor``.
  case singlePrecision([SinglePrecisionFactor], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Fixed point step by step, for all sums and factors.
  case anySum([FixedPointMultiplier], zeroPoint: Int32, minimum: Int32, maximum: Int32)

  /// Fixed point for any sum; nil for other epilogues.
  package init?(ofAnySum epilogue: Epilogue) {
    guard case .fixedPoint(let factors, let zeroPoint, let minimum, let maximum) = epilogue else {
      return nil
    }
    self = .anySum(factors, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
  }

  /// The form's name in the output of `apus inspect --plan`.
  package var name: String {
    switch self {
    case .stated(let epilogue): epilogue.name
    case .anySum: "outputs in fixed point, step by step"
    case .singlePrecision(let factors, _, _, _):
      factors.first?.rest == nil
        ? "outputs in single precision" : "outputs in single precision with factors in two parts"
    }
  }
}
