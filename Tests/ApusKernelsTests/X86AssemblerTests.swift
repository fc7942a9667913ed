// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import Testing

@Suite("X86Assembler", .enabled(if: X86Listing.tool != nil, "needs objdump"))
struct X86AssemblerTests {
  typealias Assembler = X86Assembler
  typealias Instruction = X86Assembler.Instruction
  typealias Memory = X86Assembler.Memory
  typealias Width = X86Assembler.Width

  /// Which operands an instruction has.
  enum Form {
    /// Destination and two sources.
    case three
    /// Destination and one source; a register source has `1 / divisor` of the width, or always 128 bits.
    case two(divisor: Int)
    case twoOfScalar
    /// The first operand goes to the third; a register has `1 / divisor` of the width.
    case store(divisor: Int)
    /// The first operand goes to memory, where the second says so.
    case maskedStore
    /// The first operand has half of the width.
    case narrowing
    /// Destination and two sources; a register as the last source has half of the width.
    case insertion
  }

  struct Row {
    let instruction: Instruction
    var form = Form.three
    /// The name in each encoding, where it differs from the instruction's.
    var vexName: String?
    var evexName: String?
    var encodings: [Assembler.Encoding] = [.vex, .evex]
    var narrowest = Width.xmm
    var widest = Width.zmm
    var immediate: UInt8?
    /// The number of bytes that can be repeated; zero if none can.
    var broadcast = 0
    var takesRegisters = true
    var takesMemory = true
  }

  static let rows: [Row] = [
    Row(instruction: .vpdpbusd, broadcast: 4), Row(instruction: .vpdpwssd, broadcast: 4),
    Row(instruction: .vdpbf16ps, encodings: [.evex], broadcast: 4), Row(instruction: .vpmaddwd),
    Row(
      instruction: .vcvtneps2bf16, form: .narrowing, encodings: [.evex], narrowest: .zmm, takesMemory: false),
    Row(instruction: .vpmuldq, broadcast: 8), Row(instruction: .vpmulld, broadcast: 4),
    Row(instruction: .vpmuludq, broadcast: 8), Row(instruction: .vpmullw), Row(instruction: .vpmulhw),
    Row(instruction: .vpmulhuw), Row(instruction: .vpmulhrsw),
    Row(instruction: .vpsrlw, widest: .xmm),
    Row(instruction: .vpsrlw, form: .insertion, narrowest: .ymm, widest: .ymm, takesMemory: false),
    Row(instruction: .vfmadd132ps, broadcast: 4), Row(instruction: .vfmadd213ps, broadcast: 4),
    Row(instruction: .vfmadd231ps, broadcast: 4),
    Row(instruction: .vpaddd, broadcast: 4), Row(instruction: .vpaddq, broadcast: 8),
    Row(instruction: .vpmaxsw), Row(instruction: .vpminsw), Row(instruction: .vpaddw),
    Row(instruction: .vpaddsw),
    Row(instruction: .vpsubsb), Row(instruction: .vpsubb), Row(instruction: .vpsubd, broadcast: 4),
    Row(instruction: .vpsubw),
    Row(instruction: .vpmaxsd, broadcast: 4), Row(instruction: .vpminsd, broadcast: 4),
    Row(instruction: .vpmaxub), Row(instruction: .vpminub), Row(instruction: .vpmaxsb),
    Row(instruction: .vpminsb),
    Row(instruction: .vpand, evexName: "vpandd", broadcast: 4),
    Row(instruction: .vpor, evexName: "vpord", broadcast: 4),
    Row(instruction: .vpxor, evexName: "vpxord", broadcast: 4), Row(instruction: .vpsllvd, broadcast: 4),
    Row(instruction: .vpsravd, broadcast: 4), Row(instruction: .vpsadbw),
    Row(instruction: .vpackssdw, broadcast: 4), Row(instruction: .vpackuswb), Row(instruction: .vpacksswb),
    Row(instruction: .vpunpcklbw), Row(instruction: .vpunpckhbw), Row(instruction: .vpunpcklwd),
    Row(instruction: .vpunpckhwd), Row(instruction: .vpunpckldq, broadcast: 4),
    Row(instruction: .vpunpckhdq, broadcast: 4), Row(instruction: .vpunpcklqdq, broadcast: 8),
    Row(instruction: .vpunpckhqdq, broadcast: 8), Row(instruction: .vpshufb),
    Row(instruction: .vpermi2b, encodings: [.evex]),
    Row(instruction: .vpternlogd, encodings: [.evex], immediate: 0xEC, broadcast: 4),
    Row(instruction: .vpblendmd, encodings: [.evex], broadcast: 4),
    Row(instruction: .vpblendd, encodings: [.vex], immediate: 0xAA),
    Row(instruction: .vpblendw, encodings: [.vex], immediate: 0xAA),
    Row(instruction: .vpermd, narrowest: .ymm, broadcast: 4),
    Row(instruction: .vpermq, form: .two(divisor: 1), narrowest: .ymm, immediate: 0x08, broadcast: 8),
    Row(instruction: .vmovshdup, form: .two(divisor: 1)),
    Row(instruction: .vmovdqu, form: .two(divisor: 1), vexName: "vmovdqu"),
    Row(instruction: .vmovdquStore, form: .store(divisor: 1), vexName: "vmovdqu"),
    Row(instruction: .vmovdqu8, form: .two(divisor: 1), encodings: [.evex]),
    Row(instruction: .vmovdqu8Store, form: .store(divisor: 1), encodings: [.evex]),
    Row(instruction: .vmovups, form: .two(divisor: 1)),
    Row(instruction: .vmovupsStore, form: .store(divisor: 1)),
    Row(instruction: .vmaskmovps, encodings: [.vex], takesRegisters: false),
    Row(instruction: .vmaskmovpsStore, form: .maskedStore, encodings: [.vex], takesRegisters: false),
    Row(
      instruction: .vmovq, form: .two(divisor: 1), encodings: [.vex], widest: .xmm, takesRegisters: false),
    Row(instruction: .vmovhps, encodings: [.vex], widest: .xmm, takesRegisters: false),
    Row(
      instruction: .vmovqStore, form: .store(divisor: 1), encodings: [.vex], widest: .xmm,
      takesRegisters: false),
    Row(
      instruction: .vmovhpsStore, form: .store(divisor: 1), encodings: [.vex], widest: .xmm,
      takesRegisters: false),
    Row(
      instruction: .vmovdStore, form: .store(divisor: 1), encodings: [.vex], widest: .xmm,
      takesRegisters: false),
    Row(
      instruction: .vpextrw, form: .store(divisor: 1), encodings: [.vex], widest: .xmm, immediate: 3,
      takesRegisters: false),
    Row(
      instruction: .vpextrb, form: .store(divisor: 1), encodings: [.vex], widest: .xmm, immediate: 11,
      takesRegisters: false),
    Row(instruction: .vpbroadcastd, form: .twoOfScalar), Row(instruction: .vpbroadcastb, form: .twoOfScalar),
    Row(instruction: .vpbroadcastw, form: .twoOfScalar), Row(instruction: .vpbroadcastq, form: .twoOfScalar),
    Row(instruction: .vbroadcastss, form: .twoOfScalar),
    Row(instruction: .vpmovsdb, form: .store(divisor: 4), encodings: [.evex]),
    Row(instruction: .vpmovusdb, form: .store(divisor: 4), encodings: [.evex]),
    Row(instruction: .vpmovsdw, form: .store(divisor: 2), encodings: [.evex]),
    Row(instruction: .vpmovqd, form: .store(divisor: 2), encodings: [.evex]),
    Row(instruction: .vpmovwb, form: .store(divisor: 2), encodings: [.evex]),
    Row(instruction: .vpmovzxbw, form: .two(divisor: 2)),
    Row(instruction: .vpmovsxbw, form: .two(divisor: 2)),
    Row(instruction: .vpmovsxwd, form: .two(divisor: 2)),
    Row(instruction: .vpmovzxbd, form: .two(divisor: 4)),
    Row(instruction: .vpmovsxbd, form: .two(divisor: 4)),
    Row(
      instruction: .vextracti128, form: .store(divisor: 2), encodings: [.vex], narrowest: .ymm, widest: .ymm,
      immediate: 1),
    Row(instruction: .vaddps, broadcast: 4), Row(instruction: .vsubps, broadcast: 4),
    Row(instruction: .vmulps, broadcast: 4),
    Row(instruction: .vdivps, broadcast: 4), Row(instruction: .vsqrtps, form: .two(divisor: 1), broadcast: 4),
    Row(instruction: .vmaxps, broadcast: 4), Row(instruction: .vminps, broadcast: 4),
    Row(instruction: .vscalefps, encodings: [.evex], broadcast: 4),
    Row(instruction: .vrsqrt14ps, form: .two(divisor: 1), encodings: [.evex], broadcast: 4),
    Row(
      instruction: .vrndscaleps, form: .two(divisor: 1), vexName: "vroundps", immediate: 9, broadcast: 4),
    Row(instruction: .vgetexpps, form: .two(divisor: 1), encodings: [.evex], broadcast: 4),
    Row(instruction: .vgetmantps, form: .two(divisor: 1), encodings: [.evex], immediate: 15, broadcast: 4),
    Row(instruction: .vcmpps, encodings: [.vex], immediate: 0x21),
    Row(instruction: .vmulpd, broadcast: 8), Row(instruction: .vaddpd, broadcast: 8),
    Row(instruction: .vmaxpd, broadcast: 8), Row(instruction: .vminpd, broadcast: 8),
    Row(instruction: .vcvtdq2ps, form: .two(divisor: 1), broadcast: 4),
    Row(instruction: .vcvtps2dq, form: .two(divisor: 1), broadcast: 4),
    Row(instruction: .vcvttps2dq, form: .two(divisor: 1), broadcast: 4),
    Row(instruction: .vcvtdq2pd, form: .two(divisor: 2), narrowest: .ymm),
    Row(instruction: .vcvttpd2dq, form: .narrowing, narrowest: .ymm, takesMemory: false),
    Row(
      instruction: .vinserti128, form: .insertion, encodings: [.vex], narrowest: .ymm, widest: .ymm,
      immediate: 1),
    Row(instruction: .vperm2i128, encodings: [.vex], narrowest: .ymm, widest: .ymm, immediate: 0x31),
    Row(
      instruction: .vextracti64x4, form: .store(divisor: 2), encodings: [.evex], narrowest: .zmm, immediate: 1
    ),
    Row(
      instruction: .vextracti32x4, form: .store(divisor: 4), encodings: [.evex], narrowest: .zmm, immediate: 3
    ),
    Row(instruction: .vshufi32x4, encodings: [.evex], narrowest: .ymm, immediate: 0x36, broadcast: 4),
    Row(instruction: .vinserti64x4, form: .insertion, encodings: [.evex], narrowest: .zmm, immediate: 1),
    Row(instruction: .vxorps, encodings: [.vex]),
  ]

  static let places: [Memory] = {
    typealias General = Assembler.General
    var places: [Memory] = []
    let displacements = [
      0, 1, 4, 8, 16, 32, 64, -64, 127, 128, -128, -129, 508, 8_128, -8_192, 8_192, 0x12345, -0x7654321,
    ]
    for base in General.allCases {
      for displacement in displacements {
        places.append(Memory(base, displacement))
      }
      for (index, scale) in [(General.rax, 1), (.rbp, 2), (.r9, 4), (.r12, 8), (.r15, 1)] {
        for displacement in [0, 64, -96, 4_096] {
          places.append(Memory(base, index: index, scale: scale, displacement))
        }
      }
    }
    return places
  }()

  @Test("vector instructions read as they were written", arguments: [Assembler.Encoding.vex, .evex])
  func vectors(encoding: Assembler.Encoding) throws {
    var listing = X86Listing(encoding)
    let isWide = encoding == .evex
    let numbers = isWide ? [0, 9, 22, 31] : [0, 6, 9, 15]
    for (rowNumber, row) in Self.rows.enumerated() where row.encodings.contains(encoding) {
      let widths = (row.narrowest.rawValue...min(row.widest.rawValue, isWide ? 2 : 1)).compactMap(Width.init)
      for width in widths {
        for first in numbers {
          for second in row.form.hasSecond ? numbers : [0] {
            for third in numbers where row.takesRegisters {
              add(row, width, first, second, third, to: &listing)
            }
          }
        }
        // A fifth of the places, others for the next instruction, with registers that change from place to place.
        for (count, place) in Self.places.enumerated() where row.takesMemory && (count + rowNumber) % 5 == 0 {
          let first = numbers[count % numbers.count]
          let second = row.form.hasSecond ? numbers[count / 3 % numbers.count] : 0
          add(row, width, first, second, place, repeats: false, mask: nil, to: &listing)
          guard isWide, count % 3 == 0 else { continue }
          let isStore = row.form.isStore
          add(
            row, width, first, second, place, repeats: false,
            mask: .init(1 + count % 7, zeroes: !isStore && count % 2 == 1), to: &listing)
          if row.broadcast > 0 {
            add(row, width, first, second, place, repeats: true, mask: nil, to: &listing)
          }
        }
      }
    }
    try check(listing)
  }

  @Test("instructions that cut off digits read as they were written")
  func cuttingOff() throws {
    var listing = X86Listing(.evex)
    for (first, second, third) in [(0, 0, 0), (9, 22, 31), (22, 31, 9), (31, 9, 22)] {
      listing.add("vfmadd213ps zmm\(first),zmm\(second),zmm\(third),{rz-sae}") {
        $0.cuttingOff(.vfmadd213ps, first, second, third)
      }
    }
    try check(listing)
  }

  @Test("masks read as they were written")
  func masks() throws {
    var listing = X86Listing(.evex)
    for register in 1...7 {
      for zeroes in [false, true] {
        let mask = Assembler.Mask(register, zeroes: zeroes)
        let text = "{k\(register)}" + (zeroes ? "{z}" : "")
        listing.add("vpblendmd zmm3\(text),zmm20,zmm9") { $0.vector(.vpblendmd, .zmm, 3, 20, 9, mask: mask) }
        listing.add("vmovdqu8 zmm17\(text),[r13+0x40]") {
          $0.vector(.vmovdqu8, .zmm, 17, 0, Memory(.r13, 64), mask: mask)
        }
      }
      for width in [Width.xmm, .ymm, .zmm] {
        for vector in [0, 9, 22, 31] {
          listing.add("vpmovb2m k\(register),\(width)\(vector)") {
            $0.vector(.vpmovb2m, width, register, 0, vector)
          }
        }
      }
      for general in Assembler.General.allCases {
        listing.add("kmovq k\(register),\(general)") { $0.moveMask(register, general) }
      }
    }
    try check(listing)
  }

  @Test("shifts by constants read as they were written", arguments: [Assembler.Encoding.vex, .evex])
  func shifts(encoding: Assembler.Encoding) throws {
    var listing = X86Listing(encoding)
    let rows: [(Instruction, Int, String)] = [
      (.shiftQuads, 2, "vpsrlq"), (.shiftQuads, 6, "vpsllq"), (.shiftDoubles, 4, "vpsrad"),
      (.shiftDoubles, 2, "vpsrld"), (.shiftDoubles, 6, "vpslld"), (.shiftWords, 4, "vpsraw"),
      (.shiftWords, 2, "vpsrlw"), (.shiftWords, 6, "vpsllw"),
    ]
    for (instruction, digit, name) in rows {
      for width in encoding == .evex ? [Width.xmm, .ymm, .zmm] : [.xmm, .ymm] {
        for first in encoding == .evex ? [0, 9, 18, 31] : [0, 7, 8, 15] {
          for second in encoding == .evex ? [1, 14, 16, 29] : [1, 6, 9, 15] {
            for count: UInt8 in [1, 31, 63] {
              listing.add("\(name) \(width)\(first),\(width)\(second),0x\(String(count, radix: 16))") {
                $0.shift(instruction, digit: digit, width, first, second, by: count)
              }
            }
          }
        }
      }
    }
    for register in [0, 8, 15] {
      listing.add("\(encoding == .vex ? "vpxor" : "vpxord") ymm\(register),ymm\(register),ymm\(register)") {
        $0.zeroVector(register, .ymm)
      }
    }
    listing.add("vzeroupper") { $0.zeroUpper() }
    if encoding == .evex {
      for (count, place) in Self.places.enumerated() where count % 3 == 0 {
        for width in [Width.xmm, .ymm, .zmm] {
          listing.add("vpslld \(width)18,\(place.text),0x10") {
            $0.shift(.shiftDoubles, digit: 6, width, 18, place, by: 16)
          }
        }
        // Their bases are among the first eight registers.
        guard place.base.rawValue < 8, place.index == nil else { continue }
        listing.add("stmxcsr \(place.text)") { $0.storeModes(place) }
        listing.add("ldmxcsr \(place.text)") { $0.loadModes(place) }
      }
    }
    try check(listing)
  }

  @Test("general instructions read as they were written")
  func general() throws {
    var listing = X86Listing(.vex)
    let all = Assembler.General.allCases
    for first in all {
      for second in all {
        listing.add("mov \(first),\(second)") { $0.move(first, second) }
        listing.add("add \(first),\(second)") { $0.add(first, second) }
        listing.add("sub \(first),\(second)") { $0.subtract(first, second) }
        listing.add("cmp \(first),\(second)") { $0.compare(first, second) }
      }
      for value in [0, 1, -1, 127, -128, 128, -129, 0x7FFF_FFFF, -0x8000_0000] {
        let text = "0x" + String(UInt(bitPattern: value), radix: 16)
        listing.add("mov \(first),\(text)") { $0.move(first, value) }
        listing.add("add \(first),\(text)") { $0.add(first, value) }
        listing.add("sub \(first),\(text)") { $0.subtract(first, value) }
        listing.add("cmp \(first),\(text)") { $0.compare(first, value) }
      }
      listing.add("test \(first),\(first)") { $0.test(first) }
      listing.add("xor \(first),\(first)") { $0.zero(first) }
      listing.add("dec \(first)") { $0.decrement(first) }
      listing.add("push \(first)") { $0.push(first) }
      listing.add("pop \(first)") { $0.pop(first) }
    }
    for (count, place) in Self.places.enumerated() {
      let register = all[count % all.count]
      listing.add("mov \(register),\(place.text)") { $0.load(register, place) }
      listing.add("mov \(place.text),\(register)") { $0.store(place, register) }
      listing.add("lea \(register),\(place.text)") { $0.address(register, place) }
      let (double, byte) = Self.narrowNames(register)
      listing.add("movzx \(register),\(place.text)") { $0.loadByte(register, place) }
      listing.add("movzx \(register),\(place.text)") { $0.loadWord(register, place) }
      listing.add("mov \(place.text),\(byte)") { $0.storeByte(place, register) }
      listing.add("mov \(double),\(place.text)") { $0.loadDouble(register, place) }
      listing.add("mov \(place.text),\(double)") { $0.storeDouble(place, register) }
      listing.add("add \(register),\(place.text)") { $0.add(register, place) }
      listing.add("prefetcht1 \(place.text)") { $0.prefetch(place) }
    }
    for (first, second) in zip(all, all.reversed()) {
      listing.add("imul \(first),\(second),0x1234") { $0.multiply(first, second, 0x1234) }
    }
    listing.add("ret") { $0.return() }
    try check(listing)
  }

  @Test("tile instructions read as they were written")
  func tiles() throws {
    var listing = X86Listing(.evex)
    for (count, place) in Self.places.enumerated() {
      listing.add("ldtilecfg \(place.text)") { $0.loadTileSizes(place) }
      guard place.index != nil else { continue }
      listing.add("tileloadd tmm\(count % 8),\(place.text)") { $0.loadTile(count % 8, place) }
      listing.add("tilestored \(place.text),tmm\(count % 8)") { $0.storeTile(place, count % 8) }
    }
    for tile in 0..<8 {
      listing.add("tilezero tmm\(tile)") { $0.zeroTile(tile) }
      let (rows, columns) = ((tile + 3) % 8, (tile + 6) % 8)
      listing.add("tdpbf16ps tmm\(tile),tmm\(rows),tmm\(columns)") { $0.multiplyTiles(tile, rows, columns) }
    }
    listing.add("tilerelease") { $0.releaseTiles() }
    try check(listing)
  }

  /// The names of a register's lower 32 bits and of its lowest byte.
  private static func narrowNames(_ register: Assembler.General) -> (double: String, byte: String) {
    let name = "\(register)"
    if register.rawValue > 7 { return (name + "d", name + "b") }
    let short = String(name.dropFirst())
    return ("e" + short, register.rawValue < 4 ? String(short.dropLast()) + "l" : short + "l")
  }

  @Test("jumps lead to their labels, and loops begin at round addresses")
  func jumps() throws {
    let conditions: [(Assembler.Condition, String)] = [
      (.below, "jb"), (.aboveOrEqual, "jae"), (.equal, "je"), (.notEqual, "jne"), (.less, "jl"),
      (.greaterOrEqual, "jge"), (.lessOrEqual, "jle"), (.greater, "jg"),
    ]
    // The number of bytes before the loop's head changes, so that every length of padding is met.
    for pushes in 0..<32 {
      var listing = X86Listing(.vex)
      for _ in 0..<pushes { listing.assembler.push(.rax) }
      let head = listing.assembler.loopHead()
      let address = listing.assembler.count
      #expect(address % 32 == 0)
      let end = listing.assembler.makeLabel()
      listing.add("dec rcx") { $0.decrement(.rcx) }
      // Each jump to the end takes six bytes, each one back six more; then five and three.
      let size = conditions.count * 12 + 5 + 3
      let target = String(address + 3 + size, radix: 16)
      for (condition, name) in conditions {
        listing.add("\(name) 0x\(target)") { $0.jump(condition, end) }
        listing.add("\(name) 0x\(String(address, radix: 16))") { $0.jump(condition, head) }
      }
      listing.add("jmp 0x\(target)") { $0.jump(end) }
      listing.add("dec rdx") { $0.decrement(.rdx) }
      listing.assembler.place(end)
      listing.add("ret") { $0.return() }
      try check(listing)
    }
  }

  @Test("code whose label was never placed is refused")
  func missingLabel() {
    var assembler = Assembler(encoding: .evex)
    let label = assembler.makeLabel()
    assembler.jump(label)
    let code = assembler.finish()
    #expect(code == nil)
  }

  // MARK: Texts

  private func add(
    _ row: Row, _ width: Width, _ first: Int, _ second: Int, _ third: Int, to listing: inout X86Listing
  ) {
    let name = row.name(listing.assembler.encoding)
    let operands =
      switch row.form {
      case .three: "\(width)\(first),\(width)\(second),\(width)\(third)"
      case .two(let divisor): "\(width)\(first),\(width.divided(by: divisor))\(third)"
      case .twoOfScalar: "\(width)\(first),xmm\(third)"
      case .store(let divisor): "\(width.divided(by: divisor))\(third),\(width)\(first)"
      case .maskedStore: "\(width)\(third),\(width)\(second),\(width)\(first)"
      case .narrowing: "\(width.divided(by: 2))\(first),\(width)\(third)"
      case .insertion: "\(width)\(first),\(width)\(second),\(width.divided(by: 2))\(third)"
      }
    listing.add("\(name) \(operands)\(row.immediateText)") {
      $0.vector(row.instruction, width, first, second, third, immediate: row.immediate)
    }
  }

  private func add(
    _ row: Row, _ width: Width, _ first: Int, _ second: Int, _ place: Memory, repeats: Bool,
    mask: Assembler.Mask?, to listing: inout X86Listing
  ) {
    let name = row.name(listing.assembler.encoding)
    let maskText = mask.map { "{k\($0.register)}" + ($0.zeroes ? "{z}" : "") } ?? ""
    let memory = place.text + (repeats ? "{1to\(width.byteCount / max(row.broadcast, 1))}" : "")
    let operands =
      switch row.form {
      case .three, .insertion: "\(width)\(first)\(maskText),\(width)\(second),\(memory)"
      case .narrowing: "\(width.divided(by: 2))\(first)\(maskText),\(memory)"
      case .two, .twoOfScalar: "\(width)\(first)\(maskText),\(memory)"
      case .store: "\(memory)\(maskText),\(width)\(first)"
      case .maskedStore: "\(memory),\(width)\(second),\(width)\(first)"
      }
    listing.add("\(name) \(operands)\(row.immediateText)") {
      $0.vector(
        row.instruction, width, first, second, place, broadcasts: repeats, mask: mask,
        immediate: row.immediate)
    }
  }

  private func check(_ listing: consuming X86Listing) throws {
    let differences = try #require(try listing.differences())
    let count = differences.count
    #expect(count == 0, "\(differences.prefix(12).joined(separator: "\n"))")
  }
}

extension X86AssemblerTests.Form {
  var hasSecond: Bool {
    switch self {
    case .three, .insertion, .maskedStore: true
    default: false
    }
  }
  var isStore: Bool {
    switch self {
    case .store, .maskedStore: true
    default: false
    }
  }
}

extension X86AssemblerTests.Row {
  func name(_ encoding: X86Assembler.Encoding) -> String {
    (encoding == .vex ? vexName : evexName) ?? "\(instruction.name)"
  }
  var immediateText: String { immediate.map { ",0x" + String($0, radix: 16) } ?? "" }
}
