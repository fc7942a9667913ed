// SPDX-License-Identifier: Apache-2.0

extension X86Assembler {
  /// How an instruction's memory operand scales an 8-bit displacement in the EVEX encoding.
  package enum TupleType: Sendable {
    /// The whole vector; one element of `elementByteCount` when broadcast.
    case full
    /// The whole vector, without broadcast.
    case fullMemory
    /// Half of the vector.
    case half
    /// A quarter of the vector.
    case quarter
    /// One element.
    case scalar
  }

  /// The name and the encoding of a vector instruction. The name is a `StaticString`, so that a generator copies instructions
  /// without counting references.
  @usableFromInline package struct Instruction: Hashable, Sendable {
    package let name: StaticString
    let prefix: UInt8  // 0: none, 1: 66, 2: F3, 3: F2
    let map: UInt8  // 1: 0F, 2: 0F38, 3: 0F3A
    let opcode: UInt8
    let evexW: UInt8
    let vexW: UInt8
    let elementByteCount: Int
    let tuple: TupleType

    init(
      _ name: StaticString, prefix: UInt8, map: UInt8, _ opcode: UInt8, w: UInt8 = 0, vexW: UInt8 = 0,
      elementByteCount: Int = 4, tuple: TupleType = .full
    ) {
      self.name = name
      self.prefix = prefix
      self.map = map
      self.opcode = opcode
      evexW = w
      self.vexW = vexW
      self.elementByteCount = elementByteCount
      self.tuple = tuple
    }

    /// Instructions differ in opcode, map and prefix, or else in `W`.
    @usableFromInline package static func == (first: Self, second: Self) -> Bool {
      (first.opcode, first.map, first.prefix, first.evexW, first.vexW)
        == (second.opcode, second.map, second.prefix, second.evexW, second.vexW)
    }

    @usableFromInline package func hash(into hasher: inout Hasher) { hasher.combine(opcode) }
  }
}

extension X86Assembler.Instruction {
  // MARK: Products

  /// Adds four products of unsigned bytes of the second with signed bytes of the third operand to each `int32`.
  package static let vpdpbusd = Self("vpdpbusd", prefix: 1, map: 2, 0x50)
  /// Adds two products of `int16` to each `int32`.
  package static let vpdpwssd = Self("vpdpwssd", prefix: 1, map: 2, 0x52)
  /// Adds two products of bfloat16 to each float, the one of upper halves first. EVEX only, of AVX-512 BF16.
  package static let vdpbf16ps = Self("vdpbf16ps", prefix: 2, map: 2, 0x52)
  /// Floats as bfloat16, in a register of half the width. EVEX only, of AVX-512 BF16.
  package static let vcvtneps2bf16 = Self("vcvtneps2bf16", prefix: 2, map: 2, 0x72)
  /// Products of `int16`, added in pairs.
  package static let vpmaddwd = Self("vpmaddwd", prefix: 1, map: 1, 0xF5, tuple: .fullMemory)
  /// Products of the even `int32`, in 64 bits.
  package static let vpmuldq = Self("vpmuldq", prefix: 1, map: 2, 0x28, w: 1, elementByteCount: 8)
  /// Products of the even `uint32`, in 64 bits.
  package static let vpmuludq = Self("vpmuludq", prefix: 1, map: 1, 0xF4, w: 1, elementByteCount: 8)
  /// Low halves of the products of `int32`.
  package static let vpmulld = Self("vpmulld", prefix: 1, map: 2, 0x40)
  /// Low halves of the products of `int16`.
  package static let vpmullw = Self("vpmullw", prefix: 1, map: 1, 0xD5, tuple: .fullMemory)
  /// High halves of the products of `int16`.
  package static let vpmulhw = Self("vpmulhw", prefix: 1, map: 1, 0xE5, tuple: .fullMemory)
  /// Products of `int16` without their last fifteen bits, rounded, halves up.
  package static let vpmulhrsw = Self("vpmulhrsw", prefix: 1, map: 2, 0x0B, tuple: .fullMemory)
  /// High halves of the products of `uint16`.
  package static let vpmulhuw = Self("vpmulhuw", prefix: 1, map: 1, 0xE4, tuple: .fullMemory)
  /// `register = register · third + second` for floats.
  package static let vfmadd132ps = Self("vfmadd132ps", prefix: 1, map: 2, 0x98)
  /// `register = second · register + third` for floats.
  package static let vfmadd213ps = Self("vfmadd213ps", prefix: 1, map: 2, 0xA8)
  /// `register += second · third` for floats.
  package static let vfmadd231ps = Self("vfmadd231ps", prefix: 1, map: 2, 0xB8)

  // MARK: Integer arithmetic

  package static let vpaddd = Self("vpaddd", prefix: 1, map: 1, 0xFE)
  package static let vpaddq = Self("vpaddq", prefix: 1, map: 1, 0xD4, w: 1, elementByteCount: 8)
  package static let vpmaxsw = Self("vpmaxsw", prefix: 1, map: 1, 0xEE, tuple: .fullMemory)
  package static let vpminsw = Self("vpminsw", prefix: 1, map: 1, 0xEA, tuple: .fullMemory)
  package static let vpaddw = Self("vpaddw", prefix: 1, map: 1, 0xFD, tuple: .fullMemory)
  /// Adds `int16`, saturating.
  package static let vpaddsw = Self("vpaddsw", prefix: 1, map: 1, 0xED, tuple: .fullMemory)
  /// Subtracts signed bytes, saturating.
  package static let vpsubsb = Self("vpsubsb", prefix: 1, map: 1, 0xE8, tuple: .fullMemory)
  package static let vpsubb = Self("vpsubb", prefix: 1, map: 1, 0xF8, tuple: .fullMemory)
  package static let vpsubd = Self("vpsubd", prefix: 1, map: 1, 0xFA)
  package static let vpsubw = Self("vpsubw", prefix: 1, map: 1, 0xF9, tuple: .fullMemory)
  package static let vpmaxsd = Self("vpmaxsd", prefix: 1, map: 2, 0x3D)
  package static let vpminsd = Self("vpminsd", prefix: 1, map: 2, 0x39)
  package static let vpmaxub = Self("vpmaxub", prefix: 1, map: 1, 0xDE, tuple: .fullMemory)
  package static let vpminub = Self("vpminub", prefix: 1, map: 1, 0xDA, tuple: .fullMemory)
  package static let vpmaxsb = Self("vpmaxsb", prefix: 1, map: 2, 0x3C, tuple: .fullMemory)
  package static let vpminsb = Self("vpminsb", prefix: 1, map: 2, 0x38, tuple: .fullMemory)
  package static let vpand = Self("vpand", prefix: 1, map: 1, 0xDB)
  package static let vpor = Self("vpor", prefix: 1, map: 1, 0xEB)
  package static let vpxor = Self("vpxor", prefix: 1, map: 1, 0xEF)
  /// A function of three bits, whose truth table is the immediate. EVEX only.
  package static let vpternlogd = Self("vpternlogd", prefix: 1, map: 3, 0x25)
  /// Shifts `int32` left by counts in the third operand.
  package static let vpsllvd = Self("vpsllvd", prefix: 1, map: 2, 0x47)
  /// Shifts `int32` right by counts in the third operand, keeping signs.
  package static let vpsravd = Self("vpsravd", prefix: 1, map: 2, 0x46)
  /// Shifts `uint16` right by the count in the first half of the third operand, of 128 bits: a register.
  package static let vpsrlw = Self("vpsrlw", prefix: 1, map: 1, 0xD1, tuple: .fullMemory)
  /// Sums of absolute differences of eight bytes each.
  package static let vpsadbw = Self("vpsadbw", prefix: 1, map: 1, 0xF6, tuple: .fullMemory)

  // MARK: Shifts by constants; the digit goes to `shift`

  /// With digit 2: right, 64 bits; with digit 6: left, 64 bits; with digit 3 and VEX: right, bytes of all 128 bits.
  package static let shiftQuads = Self("vpsrlq/vpsllq", prefix: 1, map: 1, 0x73, w: 1)
  /// With digit 4: right keeping signs, 32 bits; with digit 2: right, 32 bits; with digit 6: left, 32 bits.
  package static let shiftDoubles = Self("vpsrad/vpsrld/vpslld", prefix: 1, map: 1, 0x72)
  /// With digit 4: right keeping signs, 16 bits; with digit 2: right, 16 bits; with digit 6: left, 16 bits.
  package static let shiftWords = Self("vpsraw/vpsllw", prefix: 1, map: 1, 0x71, tuple: .fullMemory)

  // MARK: Order

  package static let vpackssdw = Self("vpackssdw", prefix: 1, map: 1, 0x6B)
  package static let vpackuswb = Self("vpackuswb", prefix: 1, map: 1, 0x67, tuple: .fullMemory)
  package static let vpacksswb = Self("vpacksswb", prefix: 1, map: 1, 0x63, tuple: .fullMemory)
  package static let vpunpcklbw = Self("vpunpcklbw", prefix: 1, map: 1, 0x60, tuple: .fullMemory)
  package static let vpunpckhbw = Self("vpunpckhbw", prefix: 1, map: 1, 0x68, tuple: .fullMemory)
  package static let vpunpcklwd = Self("vpunpcklwd", prefix: 1, map: 1, 0x61, tuple: .fullMemory)
  package static let vpunpckhwd = Self("vpunpckhwd", prefix: 1, map: 1, 0x69, tuple: .fullMemory)
  package static let vpunpckldq = Self("vpunpckldq", prefix: 1, map: 1, 0x62)
  package static let vpunpckhdq = Self("vpunpckhdq", prefix: 1, map: 1, 0x6A)
  package static let vpunpcklqdq = Self(
    "vpunpcklqdq", prefix: 1, map: 1, 0x6C, w: 1, elementByteCount: 8)
  package static let vpunpckhqdq = Self(
    "vpunpckhqdq", prefix: 1, map: 1, 0x6D, w: 1, elementByteCount: 8)
  /// Bytes of the second operand's quarters of 128 bits in the order that the third says.
  package static let vpshufb = Self("vpshufb", prefix: 1, map: 2, 0x00, tuple: .fullMemory)
  /// Bytes of the second and third operands, 128 of 512 bits, that the register names. EVEX only, of VBMI.
  package static let vpermi2b = Self("vpermi2b", prefix: 1, map: 2, 0x75, tuple: .fullMemory)
  /// The signs of bytes as a mask. EVEX only.
  package static let vpmovb2m = Self("vpmovb2m", prefix: 2, map: 2, 0x29, tuple: .fullMemory)
  /// Lanes of the third operand where the mask is set, of the second elsewhere. EVEX only.
  package static let vpblendmd = Self("vpblendmd", prefix: 1, map: 2, 0x64)
  /// Lanes of the third operand where the immediate's bits are set, of the second elsewhere. VEX only.
  package static let vpblendd = Self("vpblendd", prefix: 1, map: 3, 0x02)
  /// Words of the third operand where the immediate's bits are set, of the second elsewhere. VEX only.
  package static let vpblendw = Self("vpblendw", prefix: 1, map: 3, 0x0E)
  /// Doublewords of the third operand in the order that the second says.
  package static let vpermd = Self("vpermd", prefix: 1, map: 2, 0x36)
  /// Quadwords of the third operand in the order that the immediate says.
  package static let vpermq = Self("vpermq", prefix: 1, map: 3, 0x00, w: 1, vexW: 1, elementByteCount: 8)
  /// Copies odd doublewords to even places.
  package static let vmovshdup = Self("vmovshdup", prefix: 2, map: 1, 0x16, tuple: .fullMemory)

  // MARK: Moves

  /// Loads 32-bit lanes; unaligned.
  package static let vmovdqu = Self("vmovdqu32", prefix: 2, map: 1, 0x6F, tuple: .fullMemory)
  /// Stores 32-bit lanes; unaligned.
  package static let vmovdquStore = Self("vmovdqu32", prefix: 2, map: 1, 0x7F, tuple: .fullMemory)
  /// Loads bytes under a mask. EVEX only.
  package static let vmovdqu8 = Self("vmovdqu8", prefix: 3, map: 1, 0x6F, tuple: .fullMemory)
  /// Stores bytes under a mask. EVEX only.
  package static let vmovdqu8Store = Self("vmovdqu8", prefix: 3, map: 1, 0x7F, tuple: .fullMemory)
  package static let vmovups = Self("vmovups", prefix: 0, map: 1, 0x10, tuple: .fullMemory)
  package static let vmovupsStore = Self("vmovups", prefix: 0, map: 1, 0x11, tuple: .fullMemory)
  /// Loads the lanes whose sign is set in the second operand, and zeros. VEX only.
  package static let vmaskmovps = Self("vmaskmovps", prefix: 1, map: 2, 0x2C)
  /// Stores the lanes whose sign is set in the second operand. VEX only.
  package static let vmaskmovpsStore = Self("vmaskmovps", prefix: 1, map: 2, 0x2E)
  /// Loads eight bytes, and eight zeros. VEX only.
  package static let vmovq = Self("vmovq", prefix: 2, map: 1, 0x7E)
  /// The second operand with its second eight bytes replaced by those at the third. VEX only.
  package static let vmovhps = Self("vmovhps", prefix: 0, map: 1, 0x16)
  /// Stores the first eight bytes. VEX only.
  package static let vmovqStore = Self("vmovq", prefix: 1, map: 1, 0xD6)
  /// Stores the second eight bytes. VEX only.
  package static let vmovhpsStore = Self("vmovhps", prefix: 0, map: 1, 0x17)
  /// Stores the first four bytes. VEX only.
  package static let vmovdStore = Self("vmovd", prefix: 1, map: 1, 0x7E)
  /// Stores the word that the immediate names. VEX only.
  package static let vpextrw = Self("vpextrw", prefix: 1, map: 3, 0x15)
  /// Stores the byte that the immediate names. VEX only.
  package static let vpextrb = Self("vpextrb", prefix: 1, map: 3, 0x14)
  package static let vpbroadcastd = Self("vpbroadcastd", prefix: 1, map: 2, 0x58, tuple: .scalar)
  package static let vpbroadcastb = Self(
    "vpbroadcastb", prefix: 1, map: 2, 0x78, elementByteCount: 1, tuple: .scalar)
  package static let vpbroadcastw = Self(
    "vpbroadcastw", prefix: 1, map: 2, 0x79, elementByteCount: 2, tuple: .scalar)
  package static let vpbroadcastq = Self(
    "vpbroadcastq", prefix: 1, map: 2, 0x59, w: 1, elementByteCount: 8, tuple: .scalar)
  package static let vbroadcastss = Self("vbroadcastss", prefix: 1, map: 2, 0x18, tuple: .scalar)
  /// Narrows 32-bit lanes of the first operand to bytes, saturating, into the third: signed ones, and unsigned ones. EVEX only.
  package static let vpmovsdb = Self("vpmovsdb", prefix: 2, map: 2, 0x21, tuple: .quarter)
  package static let vpmovusdb = Self("vpmovusdb", prefix: 2, map: 2, 0x11, tuple: .quarter)
  /// Narrows 32-bit lanes of the first operand to 16 bits, saturating, into the third. EVEX only.
  package static let vpmovsdw = Self("vpmovsdw", prefix: 2, map: 2, 0x23, tuple: .half)
  /// Narrows 64-bit lanes of the first operand to 32 bits, into the third. EVEX only.
  package static let vpmovqd = Self("vpmovqd", prefix: 2, map: 2, 0x35, tuple: .half)
  /// Narrows 16-bit lanes of the first operand to bytes, into the third. EVEX only.
  package static let vpmovwb = Self("vpmovwb", prefix: 2, map: 2, 0x30, tuple: .half)
  package static let vpmovzxbw = Self("vpmovzxbw", prefix: 1, map: 2, 0x30, tuple: .half)
  package static let vpmovsxbw = Self("vpmovsxbw", prefix: 1, map: 2, 0x20, tuple: .half)
  package static let vpmovsxwd = Self("vpmovsxwd", prefix: 1, map: 2, 0x23, tuple: .half)
  package static let vpmovzxbd = Self("vpmovzxbd", prefix: 1, map: 2, 0x31, tuple: .quarter)
  package static let vpmovsxbd = Self("vpmovsxbd", prefix: 1, map: 2, 0x21, tuple: .quarter)
  /// Extracts the 128-bit half that the immediate names. VEX only.
  package static let vextracti128 = Self("vextracti128", prefix: 1, map: 3, 0x39)
  /// The second operand with the half that the immediate names replaced by the third, of 128 bits. VEX only.
  package static let vinserti128 = Self("vinserti128", prefix: 1, map: 3, 0x38)
  /// Two 128-bit halves of the second and third operands, chosen by the immediate. VEX only.
  package static let vperm2i128 = Self("vperm2i128", prefix: 1, map: 3, 0x46)
  /// Quarters of 128 bits: two of the second operand, then two of the third, chosen by the immediate. EVEX only.
  package static let vshufi32x4 = Self("vshufi32x4", prefix: 1, map: 3, 0x43)
  /// Extracts the 256-bit half that the immediate names. EVEX only.
  package static let vextracti64x4 = Self("vextracti64x4", prefix: 1, map: 3, 0x3B, w: 1, tuple: .half)
  /// Extracts the quarter of 128 bits that the immediate names. EVEX only.
  package static let vextracti32x4 = Self("vextracti32x4", prefix: 1, map: 3, 0x39, tuple: .quarter)
  /// The second operand with the half that the immediate names replaced by the third, of 256 bits. EVEX only.
  package static let vinserti64x4 = Self("vinserti64x4", prefix: 1, map: 3, 0x3A, w: 1, tuple: .half)

  // MARK: Floats

  package static let vaddps = Self("vaddps", prefix: 0, map: 1, 0x58)
  package static let vsubps = Self("vsubps", prefix: 0, map: 1, 0x5C)
  package static let vmulps = Self("vmulps", prefix: 0, map: 1, 0x59)
  package static let vdivps = Self("vdivps", prefix: 0, map: 1, 0x5E)
  package static let vsqrtps = Self("vsqrtps", prefix: 0, map: 1, 0x51)
  /// The second operand times the power of two whose exponent is the third, rounded down.
  package static let vscalefps = Self("vscalefps", prefix: 1, map: 2, 0x2C)
  /// The third operand's inverse root, but for a 2⁻¹⁴th of it. EVEX only.
  package static let vrsqrt14ps = Self("vrsqrt14ps", prefix: 1, map: 2, 0x4E)
  /// The third operand as an integer, as the immediate says how: 8 to nearest, ties to even; 9 down; 10 up. `vroundps` with VEX.
  package static let vrndscaleps = Self("vrndscaleps", prefix: 1, map: 3, 0x08)
  /// The exponent of the third operand, as a float. EVEX only.
  package static let vgetexpps = Self("vgetexpps", prefix: 1, map: 2, 0x42)
  /// The mantissa of the third operand, in the range and with the sign that the immediate names. EVEX only.
  package static let vgetmantps = Self("vgetmantps", prefix: 1, map: 3, 0x26)
  /// All bits where the comparison that the immediate names holds: 0 equal, 1 less, 5 not less. VEX only.
  package static let vcmpps = Self("vcmpps", prefix: 0, map: 1, 0xC2)
  package static let vmaxps = Self("vmaxps", prefix: 0, map: 1, 0x5F)
  package static let vminps = Self("vminps", prefix: 0, map: 1, 0x5D)
  package static let vmulpd = Self("vmulpd", prefix: 1, map: 1, 0x59, w: 1, elementByteCount: 8)
  package static let vaddpd = Self("vaddpd", prefix: 1, map: 1, 0x58, w: 1, elementByteCount: 8)
  package static let vmaxpd = Self("vmaxpd", prefix: 1, map: 1, 0x5F, w: 1, elementByteCount: 8)
  package static let vminpd = Self("vminpd", prefix: 1, map: 1, 0x5D, w: 1, elementByteCount: 8)
  /// `int32` as floats.
  package static let vcvtdq2ps = Self("vcvtdq2ps", prefix: 0, map: 1, 0x5B)
  /// Floats as `int32`, rounded to nearest, halves to even.
  package static let vcvtps2dq = Self("vcvtps2dq", prefix: 1, map: 1, 0x5B)
  /// Floats as `int32`, rounded toward zero.
  package static let vcvttps2dq = Self("vcvttps2dq", prefix: 2, map: 1, 0x5B)
  /// The `int32` of a register of half the width as doubles.
  package static let vcvtdq2pd = Self("vcvtdq2pd", prefix: 2, map: 1, 0xE6, tuple: .half)
  /// Doubles as `int32`, rounded toward zero, in a register of half the width.
  package static let vcvttpd2dq = Self("vcvttpd2dq", prefix: 1, map: 1, 0xE6, w: 1, elementByteCount: 8)
  package static let vxorps = Self("vxorps", prefix: 0, map: 1, 0x57)
}
