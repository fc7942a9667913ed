// SPDX-License-Identifier: Apache-2.0

extension Arm64Assembler.Instruction {
  // MARK: Products of bytes

  /// Adds four products of signed bytes to each `int32`. Of the extension that Armv8.2 calls DotProd.
  package static let sdot = Self("sdot", "4s", "16b", "16b", bits: 0x4E80_9400)
  /// Products of the lower eight signed bytes, as `int16`.
  package static let smull = Self("smull", "8h", "8b", "8b", bits: 0x0E20_C000)
  /// Products of the upper eight signed bytes, as `int16`.
  package static let smull2 = Self("smull2", "8h", "16b", "16b", bits: 0x4E20_C000)
  /// Adds products of the lower eight signed bytes to `int16`.
  package static let smlal = Self("smlal", "8h", "8b", "8b", bits: 0x0E20_8000)
  /// Adds products of the upper eight signed bytes to `int16`.
  package static let smlal2 = Self("smlal2", "8h", "16b", "16b", bits: 0x4E20_8000)

  // MARK: Sums

  package static let add = Self("add", "4s", "4s", "4s", bits: 0x4EA0_8400)
  /// Adds, saturating.
  package static let sqadd = Self("sqadd", "4s", "4s", "4s", bits: 0x4EA0_0C00)
  /// Sums of neighboring `int16`, of the first source, then of the second.
  package static let addp = Self("addp", "8h", "8h", "8h", bits: 0x4E60_BC00)
  /// Adds neighboring `int16` to each `int32`.
  package static let sadalp = Self("sadalp", "4s", "8h", bits: 0x4E60_6800)
  /// Adds the lower four `int16` to `int32`.
  package static let saddw = Self("saddw", "4s", "4s", "4h", bits: 0x0E60_1000)
  /// Adds the upper four `int16` to `int32`.
  package static let saddw2 = Self("saddw2", "4s", "4s", "8h", bits: 0x4E60_1000)

  // MARK: Requantization

  /// `(2·a·b + 2³¹) >> 32`, saturating.
  package static let sqrdmulh = Self("sqrdmulh", "4s", "4s", "4s", bits: 0x6EA0_B400)
  /// Shifts left, or right where the count is negative; bits that leave are lost.
  package static let sshl = Self("sshl", "4s", "4s", "4s", bits: 0x4EA0_4400)
  /// Shifts left, or right where the count is negative, rounding halves up.
  package static let srshl = Self("srshl", "4s", "4s", "4s", bits: 0x4EA0_5400)
  /// Narrows to half the width, saturating; the `2` forms write the upper half.
  package static let sqxtnWords = Self("sqxtn", "4h", "4s", bits: 0x0E61_4800)
  package static let sqxtnWords2 = Self("sqxtn2", "8h", "4s", bits: 0x4E61_4800)
  package static let sqxtnBytes = Self("sqxtn", "8b", "8h", bits: 0x0E21_4800)
  package static let sqxtnBytes2 = Self("sqxtn2", "16b", "8h", bits: 0x4E21_4800)
  package static let sqxtunBytes = Self("sqxtun", "8b", "8h", bits: 0x2E21_2800)
  package static let sqxtunBytes2 = Self("sqxtun2", "16b", "8h", bits: 0x6E21_2800)
  package static let sqxtnDoubles = Self("sqxtn", "2s", "2d", bits: 0x0EA1_4800)
  package static let sqxtnDoubles2 = Self("sqxtn2", "4s", "2d", bits: 0x4EA1_4800)
  package static let smax = Self("smax", "16b", "16b", "16b", bits: 0x4E20_6400)
  package static let smin = Self("smin", "16b", "16b", "16b", bits: 0x4E20_6C00)
  package static let umax = Self("umax", "16b", "16b", "16b", bits: 0x6E20_6400)
  package static let umin = Self("umin", "16b", "16b", "16b", bits: 0x6E20_6C00)
  /// Widens the lower two `int32`, and the upper two.
  package static let sxtl = Self("sxtl", "2d", "2s", bits: 0x0F20_A400)
  package static let sxtl2 = Self("sxtl2", "2d", "4s", bits: 0x4F20_A400)
  /// `int64` to `Double`.
  package static let scvtf = Self("scvtf", "2d", "2d", bits: 0x4E61_D800)
  /// `Double` to `int64`, to nearest, halves away from zero, saturating.
  package static let fcvtas = Self("fcvtas", "2d", "2d", bits: 0x4E61_C800)
  package static let fmulDoubles = Self("fmul", "2d", "2d", "2d", bits: 0x6E60_DC00)

  // MARK: Bits and order

  package static let and = Self("and", "16b", "16b", "16b", bits: 0x4E20_1C00)
  package static let eor = Self("eor", "16b", "16b", "16b", bits: 0x6E20_1C00)
  /// The lower halves of both sources, by turns; and the upper halves.
  package static let zip1Bytes = Self("zip1", "16b", "16b", "16b", bits: 0x4E00_3800)
  package static let zip2Bytes = Self("zip2", "16b", "16b", "16b", bits: 0x4E00_7800)
  package static let zip1Words = Self("zip1", "8h", "8h", "8h", bits: 0x4E40_3800)
  package static let zip2Words = Self("zip2", "8h", "8h", "8h", bits: 0x4E40_7800)

  // MARK: Floats

  package static let fadd = Self("fadd", "4s", "4s", "4s", bits: 0x4E20_D400)
  /// `register += first · second`.
  package static let fmla = Self("fmla", "4s", "4s", "4s", bits: 0x4E20_CC00)
  /// The greater; NaN where either is NaN.
  package static let fmax = Self("fmax", "4s", "4s", "4s", bits: 0x4E20_F400)
  package static let fmin = Self("fmin", "4s", "4s", "4s", bits: 0x4EA0_F400)
}

extension Arm64Assembler.ByElement {
  /// Adds four products of signed bytes, of each four of the first source with those of the lane, to each `int32`.
  package static let sdot = Self(name: "sdot", shapes: ["4s", "16b", "4b"], bits: 0x4F80_E000)
  /// Adds the products of the first source with the lane.
  package static let fmla = Self(name: "fmla", shapes: ["4s", "4s", "s"], bits: 0x4F80_1000)
}
