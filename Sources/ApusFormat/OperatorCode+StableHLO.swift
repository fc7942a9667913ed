// SPDX-License-Identifier: Apache-2.0

extension OperatorCode {
  /// `STABLEHLO_LOGISTIC`.
  @inlinable package static var stablehloLogistic: OperatorCode { OperatorCode(rawValue: 162) }
  /// `STABLEHLO_ADD`.
  @inlinable package static var stablehloAdd: OperatorCode { OperatorCode(rawValue: 163) }
  /// `STABLEHLO_DIVIDE`.
  @inlinable package static var stablehloDivide: OperatorCode { OperatorCode(rawValue: 164) }
  /// `STABLEHLO_MULTIPLY`.
  @inlinable package static var stablehloMultiply: OperatorCode { OperatorCode(rawValue: 165) }
  /// `STABLEHLO_MAXIMUM`.
  @inlinable package static var stablehloMaximum: OperatorCode { OperatorCode(rawValue: 166) }
  /// `STABLEHLO_RESHAPE`.
  @inlinable package static var stablehloReshape: OperatorCode { OperatorCode(rawValue: 167) }
  /// `STABLEHLO_CLAMP`.
  @inlinable package static var stablehloClamp: OperatorCode { OperatorCode(rawValue: 168) }
  /// `STABLEHLO_CONCATENATE`.
  @inlinable package static var stablehloConcatenate: OperatorCode { OperatorCode(rawValue: 169) }
  /// `STABLEHLO_BROADCAST_IN_DIM`.
  @inlinable package static var stablehloBroadcastInDim: OperatorCode { OperatorCode(rawValue: 170) }
  /// `STABLEHLO_CONVOLUTION`.
  @inlinable package static var stablehloConvolution: OperatorCode { OperatorCode(rawValue: 171) }
  /// `STABLEHLO_SLICE`.
  @inlinable package static var stablehloSlice: OperatorCode { OperatorCode(rawValue: 172) }
  /// `STABLEHLO_CUSTOM_CALL`.
  @inlinable package static var stablehloCustomCall: OperatorCode { OperatorCode(rawValue: 173) }
  /// `STABLEHLO_REDUCE`.
  @inlinable package static var stablehloReduce: OperatorCode { OperatorCode(rawValue: 174) }
  /// `STABLEHLO_ABS`.
  @inlinable package static var stablehloAbs: OperatorCode { OperatorCode(rawValue: 175) }
  /// `STABLEHLO_AND`.
  @inlinable package static var stablehloAnd: OperatorCode { OperatorCode(rawValue: 176) }
  /// `STABLEHLO_COSINE`.
  @inlinable package static var stablehloCosine: OperatorCode { OperatorCode(rawValue: 177) }
  /// `STABLEHLO_EXPONENTIAL`.
  @inlinable package static var stablehloExponential: OperatorCode { OperatorCode(rawValue: 178) }
  /// `STABLEHLO_FLOOR`.
  @inlinable package static var stablehloFloor: OperatorCode { OperatorCode(rawValue: 179) }
  /// `STABLEHLO_LOG`.
  @inlinable package static var stablehloLog: OperatorCode { OperatorCode(rawValue: 180) }
  /// `STABLEHLO_MINIMUM`.
  @inlinable package static var stablehloMinimum: OperatorCode { OperatorCode(rawValue: 181) }
  /// `STABLEHLO_NEGATE`.
  @inlinable package static var stablehloNegate: OperatorCode { OperatorCode(rawValue: 182) }
  /// `STABLEHLO_OR`.
  @inlinable package static var stablehloOr: OperatorCode { OperatorCode(rawValue: 183) }
  /// `STABLEHLO_POWER`.
  @inlinable package static var stablehloPower: OperatorCode { OperatorCode(rawValue: 184) }
  /// `STABLEHLO_REMAINDER`.
  @inlinable package static var stablehloRemainder: OperatorCode { OperatorCode(rawValue: 185) }
  /// `STABLEHLO_RSQRT`.
  @inlinable package static var stablehloRsqrt: OperatorCode { OperatorCode(rawValue: 186) }
  /// `STABLEHLO_SELECT`.
  @inlinable package static var stablehloSelect: OperatorCode { OperatorCode(rawValue: 187) }
  /// `STABLEHLO_SUBTRACT`.
  @inlinable package static var stablehloSubtract: OperatorCode { OperatorCode(rawValue: 188) }
  /// `STABLEHLO_TANH`.
  @inlinable package static var stablehloTanh: OperatorCode { OperatorCode(rawValue: 189) }
  /// `STABLEHLO_SCATTER`.
  @inlinable package static var stablehloScatter: OperatorCode { OperatorCode(rawValue: 190) }
  /// `STABLEHLO_COMPARE`.
  @inlinable package static var stablehloCompare: OperatorCode { OperatorCode(rawValue: 191) }
  /// `STABLEHLO_CONVERT`.
  @inlinable package static var stablehloConvert: OperatorCode { OperatorCode(rawValue: 192) }
  /// `STABLEHLO_DYNAMIC_SLICE`.
  @inlinable package static var stablehloDynamicSlice: OperatorCode { OperatorCode(rawValue: 193) }
  /// `STABLEHLO_DYNAMIC_UPDATE_SLICE`.
  @inlinable package static var stablehloDynamicUpdateSlice: OperatorCode { OperatorCode(rawValue: 194) }
  /// `STABLEHLO_PAD`.
  @inlinable package static var stablehloPad: OperatorCode { OperatorCode(rawValue: 195) }
  /// `STABLEHLO_IOTA`.
  @inlinable package static var stablehloIota: OperatorCode { OperatorCode(rawValue: 196) }
  /// `STABLEHLO_DOT_GENERAL`.
  @inlinable package static var stablehloDotGeneral: OperatorCode { OperatorCode(rawValue: 197) }
  /// `STABLEHLO_REDUCE_WINDOW`.
  @inlinable package static var stablehloReduceWindow: OperatorCode { OperatorCode(rawValue: 198) }
  /// `STABLEHLO_SORT`.
  @inlinable package static var stablehloSort: OperatorCode { OperatorCode(rawValue: 199) }
  /// `STABLEHLO_WHILE`.
  @inlinable package static var stablehloWhile: OperatorCode { OperatorCode(rawValue: 200) }
  /// `STABLEHLO_GATHER`.
  @inlinable package static var stablehloGather: OperatorCode { OperatorCode(rawValue: 201) }
  /// `STABLEHLO_TRANSPOSE`.
  @inlinable package static var stablehloTranspose: OperatorCode { OperatorCode(rawValue: 202) }
  /// `DILATE`.
  @inlinable package static var dilate: OperatorCode { OperatorCode(rawValue: 203) }
  /// `STABLEHLO_RNG_BIT_GENERATOR`.
  @inlinable package static var stablehloRngBitGenerator: OperatorCode { OperatorCode(rawValue: 204) }
  /// `REDUCE_WINDOW`.
  @inlinable package static var reduceWindow: OperatorCode { OperatorCode(rawValue: 205) }
  /// `STABLEHLO_COMPOSITE`.
  @inlinable package static var stablehloComposite: OperatorCode { OperatorCode(rawValue: 206) }
  /// `STABLEHLO_SHIFT_LEFT`.
  @inlinable package static var stablehloShiftLeft: OperatorCode { OperatorCode(rawValue: 207) }
  /// `STABLEHLO_CBRT`.
  @inlinable package static var stablehloCbrt: OperatorCode { OperatorCode(rawValue: 208) }
  /// `STABLEHLO_CASE`.
  @inlinable package static var stablehloCase: OperatorCode { OperatorCode(rawValue: 209) }
}
