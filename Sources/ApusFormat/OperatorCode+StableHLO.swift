// SPDX-License-Identifier: Apache-2.0

extension OperatorCode {
  /// `STABLEHLO_LOGISTIC`.
  package static let stablehloLogistic = OperatorCode(rawValue: 162)
  /// `STABLEHLO_ADD`.
  package static let stablehloAdd = OperatorCode(rawValue: 163)
  /// `STABLEHLO_DIVIDE`.
  package static let stablehloDivide = OperatorCode(rawValue: 164)
  /// `STABLEHLO_MULTIPLY`.
  package static let stablehloMultiply = OperatorCode(rawValue: 165)
  /// `STABLEHLO_MAXIMUM`.
  package static let stablehloMaximum = OperatorCode(rawValue: 166)
  /// `STABLEHLO_RESHAPE`.
  package static let stablehloReshape = OperatorCode(rawValue: 167)
  /// `STABLEHLO_CLAMP`.
  package static let stablehloClamp = OperatorCode(rawValue: 168)
  /// `STABLEHLO_CONCATENATE`.
  package static let stablehloConcatenate = OperatorCode(rawValue: 169)
  /// `STABLEHLO_BROADCAST_IN_DIM`.
  package static let stablehloBroadcastInDim = OperatorCode(rawValue: 170)
  /// `STABLEHLO_CONVOLUTION`.
  package static let stablehloConvolution = OperatorCode(rawValue: 171)
  /// `STABLEHLO_SLICE`.
  package static let stablehloSlice = OperatorCode(rawValue: 172)
  /// `STABLEHLO_CUSTOM_CALL`.
  package static let stablehloCustomCall = OperatorCode(rawValue: 173)
  /// `STABLEHLO_REDUCE`.
  package static let stablehloReduce = OperatorCode(rawValue: 174)
  /// `STABLEHLO_ABS`.
  package static let stablehloAbs = OperatorCode(rawValue: 175)
  /// `STABLEHLO_AND`.
  package static let stablehloAnd = OperatorCode(rawValue: 176)
  /// `STABLEHLO_COSINE`.
  package static let stablehloCosine = OperatorCode(rawValue: 177)
  /// `STABLEHLO_EXPONENTIAL`.
  package static let stablehloExponential = OperatorCode(rawValue: 178)
  /// `STABLEHLO_FLOOR`.
  package static let stablehloFloor = OperatorCode(rawValue: 179)
  /// `STABLEHLO_LOG`.
  package static let stablehloLog = OperatorCode(rawValue: 180)
  /// `STABLEHLO_MINIMUM`.
  package static let stablehloMinimum = OperatorCode(rawValue: 181)
  /// `STABLEHLO_NEGATE`.
  package static let stablehloNegate = OperatorCode(rawValue: 182)
  /// `STABLEHLO_OR`.
  package static let stablehloOr = OperatorCode(rawValue: 183)
  /// `STABLEHLO_POWER`.
  package static let stablehloPower = OperatorCode(rawValue: 184)
  /// `STABLEHLO_REMAINDER`.
  package static let stablehloRemainder = OperatorCode(rawValue: 185)
  /// `STABLEHLO_RSQRT`.
  package static let stablehloRsqrt = OperatorCode(rawValue: 186)
  /// `STABLEHLO_SELECT`.
  package static let stablehloSelect = OperatorCode(rawValue: 187)
  /// `STABLEHLO_SUBTRACT`.
  package static let stablehloSubtract = OperatorCode(rawValue: 188)
  /// `STABLEHLO_TANH`.
  package static let stablehloTanh = OperatorCode(rawValue: 189)
  /// `STABLEHLO_SCATTER`.
  package static let stablehloScatter = OperatorCode(rawValue: 190)
  /// `STABLEHLO_COMPARE`.
  package static let stablehloCompare = OperatorCode(rawValue: 191)
  /// `STABLEHLO_CONVERT`.
  package static let stablehloConvert = OperatorCode(rawValue: 192)
  /// `STABLEHLO_DYNAMIC_SLICE`.
  package static let stablehloDynamicSlice = OperatorCode(rawValue: 193)
  /// `STABLEHLO_DYNAMIC_UPDATE_SLICE`.
  package static let stablehloDynamicUpdateSlice = OperatorCode(rawValue: 194)
  /// `STABLEHLO_PAD`.
  package static let stablehloPad = OperatorCode(rawValue: 195)
  /// `STABLEHLO_IOTA`.
  package static let stablehloIota = OperatorCode(rawValue: 196)
  /// `STABLEHLO_DOT_GENERAL`.
  package static let stablehloDotGeneral = OperatorCode(rawValue: 197)
  /// `STABLEHLO_REDUCE_WINDOW`.
  package static let stablehloReduceWindow = OperatorCode(rawValue: 198)
  /// `STABLEHLO_SORT`.
  package static let stablehloSort = OperatorCode(rawValue: 199)
  /// `STABLEHLO_WHILE`.
  package static let stablehloWhile = OperatorCode(rawValue: 200)
  /// `STABLEHLO_GATHER`.
  package static let stablehloGather = OperatorCode(rawValue: 201)
  /// `STABLEHLO_TRANSPOSE`.
  package static let stablehloTranspose = OperatorCode(rawValue: 202)
  /// `DILATE`.
  package static let dilate = OperatorCode(rawValue: 203)
  /// `STABLEHLO_RNG_BIT_GENERATOR`.
  package static let stablehloRngBitGenerator = OperatorCode(rawValue: 204)
  /// `REDUCE_WINDOW`.
  package static let reduceWindow = OperatorCode(rawValue: 205)
  /// `STABLEHLO_COMPOSITE`.
  package static let stablehloComposite = OperatorCode(rawValue: 206)
  /// `STABLEHLO_SHIFT_LEFT`.
  package static let stablehloShiftLeft = OperatorCode(rawValue: 207)
  /// `STABLEHLO_CBRT`.
  package static let stablehloCbrt = OperatorCode(rawValue: 208)
  /// `STABLEHLO_CASE`.
  package static let stablehloCase = OperatorCode(rawValue: 209)
}
