// SPDX-License-Identifier: Apache-2.0

/// How generated code makes the outputs that an ``Epilogue`` describes: as that says, or in a form that makes the same outputs
/// faster, or of more sums.
enum LoweredEpilogue: Hashable {
  /// As the epilogue says.
  case stated(Epilogue)
  /// Fixed point in single precision: multiplies, adds a half or a little more away from zero, drops the fraction, adds the zero
  /// point, clamps. It makes the same outputs of all sums: see ``SinglePrecisionFactor``.
  case singlePrecision([SinglePrecisionFactor], zeroPoint: Int32, minimum: Int32, maximum: Int32)
  /// Fixed point step by step, which takes sums and factors that faster forms do not.
  case anySum([FixedPointMultiplier], zeroPoint: Int32, minimum: Int32, maximum: Int32)

  /// Fixed point for any sum; nil for other epilogues.
  init?(ofAnySum epilogue: Epilogue) {
    guard case .fixedPoint(let factors, let zeroPoint, let minimum, let maximum) = epilogue else {
      return nil
    }
    self = .anySum(factors, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
  }

  /// How outputs are made of sums, for people to read.
  var name: String {
    switch self {
    case .stated(let epilogue): epilogue.name
    case .anySum: "outputs in fixed point, step by step"
    case .singlePrecision(let factors, _, _, _):
      factors.first?.rest == nil
        ? "outputs in single precision" : "outputs in single precision with factors in two parts"
    }
  }
}
