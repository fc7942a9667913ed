// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import Testing

@Suite("Arm64Assembler", .enabled(if: Arm64Listing.tool != nil, "needs aarch64-linux-gnu-objdump"))
struct Arm64AssemblerTests {
  typealias Assembler = Arm64Assembler
  typealias Instruction = Arm64Assembler.Instruction

  static let instructions: [Instruction] = [
    .sdot, .smull, .smull2, .smlal, .smlal2, .add, .sqadd, .addp, .sadalp, .saddw, .saddw2, .sqrdmulh, .sshl,
    .srshl, .sqxtnWords, .sqxtnWords2, .sqxtnBytes, .sqxtnBytes2, .sqxtunBytes, .sqxtunBytes2, .sqxtnDoubles,
    .sqxtnDoubles2, .smax, .smin, .umax, .umin, .sxtl, .sxtl2, .scvtf, .fcvtas, .fmulDoubles, .and, .eor,
    .zip1Bytes, .zip2Bytes, .zip1Words, .zip2Words, .fadd, .fmla, .fmax, .fmin,
  ]

  @Test("vector instructions read as they were written")
  func vectors() throws {
    var listing = Arm64Listing()
    let numbers = [0, 1, 7, 15, 16, 29, 31]
    for instruction in Self.instructions {
      let shapes = instruction.shapes
      for d in numbers {
        for n in numbers {
          let start = "\(instruction.name) v\(d).\(shapes[0]), v\(n).\(shapes[1])"
          if shapes.count == 2 {
            listing.add(start) { $0.vector(instruction, d, n) }
            continue
          }
          for m in numbers {
            listing.add("\(start), v\(m).\(shapes[2])") { $0.vector(instruction, d, n, m) }
          }
        }
      }
    }
    for instruction in [Assembler.ByElement.sdot, .fmla] {
      for (d, n, m) in [(0, 1, 2), (31, 30, 29), (17, 8, 15), (4, 16, 31)] {
        for lane in 0..<4 {
          let shapes = instruction.shapes
          listing.add(
            "\(instruction.name) v\(d).\(shapes[0]), v\(n).\(shapes[1]), v\(m).\(shapes[2])[\(lane)]"
          ) {
            $0.vector(instruction, d, n, m, lane: lane)
          }
        }
      }
    }
    for (d, n) in [(0, 31), (31, 0), (9, 20)] {
      for count in [1, 16, 31, 32] {
        listing.add("sshr v\(d).4s, v\(n).4s, #\(count)") { $0.shiftRight(d, n, by: count) }
        listing.add("ssra v\(d).4s, v\(n).4s, #\(count)") { $0.addShiftedRight(d, n, by: count) }
      }
      for lane in 0..<4 {
        // The disassembler prefers this name for a repeated lane.
        listing.add("dup v\(d).4s, v\(n).s[\(lane)]") { $0.repeatLane(d, n, lane: lane) }
      }
    }
    for value: UInt8 in [0, 1, 0x1F, 0x80, 0xA5, 0xFF] {
      listing.add("movi v\(value & 31).16b, #0x\(String(value, radix: 16))") {
        $0.fill(Int(value & 31), value)
      }
    }
    try check(listing)
  }

  @Test("vector loads and stores read as they were written")
  func memory() throws {
    var listing = Arm64Listing()
    for base in Assembler.General.allCases {
      let register = Int(base.rawValue) ^ 9
      for part in Assembler.Part.allCases {
        for offset in [0, 1, 3, 4_095] {
          let place = offset == 0 ? "[\(base)]" : "[\(base), #\(offset * part.byteCount)]"
          listing.add("ldr \(part)\(register), \(place)") {
            $0.load(part, register, base, offset * part.byteCount)
          }
          listing.add("str \(part)\(register), \(place)") {
            $0.store(part, register, base, offset * part.byteCount)
          }
        }
        for step in [1, 16, 255, -256] {
          listing.add("ldr \(part)\(register), [\(base)], #\(step)") {
            $0.load(part, register, base, step: step)
          }
        }
        let index = Assembler.General.allCases[(Int(base.rawValue) + 5) % 31]
        listing.add("ldr \(part)\(register), [\(base), \(index)]") {
          $0.load(part, register, base, index: index)
        }
        guard part != .q else { continue }
        for lane in 0..<16 / part.byteCount {
          listing.add("st1 {v\(register).\(part)}[\(lane)], [\(base)], #\(part.byteCount)") {
            $0.storeLane(part, register, lane, base)
          }
        }
      }
      let other = 31 - register
      for step in [16, 64, -1_024, 1_008] {
        listing.add("ldp q\(register), q\(other), [\(base)], #\(step)") {
          $0.loadPair(register, other, base, step: step)
        }
        listing.add("ldp q\(register), q\(other), [\(base), #\(step)]") {
          $0.loadPair(register, other, base, step)
        }
        listing.add("stp d\(register), d\(other), [\(base), #\(step / 2)]") {
          $0.storeHalves(register, other, base, step / 2)
        }
        listing.add("ldp d\(register), d\(other), [\(base), #\(step / 2)]") {
          $0.loadHalves(register, other, base, step / 2)
        }
      }
      // Four registers that do not go round have a shorter name.
      let first = min(register, 28)
      listing.add("ld4 {v\(first).16b-v\(first + 3).16b}, [\(base)], #64") { $0.loadInterleaved(first, base) }
    }
    try check(listing)
  }

  @Test("general instructions read as they were written")
  func general() throws {
    var listing = Arm64Listing()
    let all = Assembler.General.allCases
    let plain = all.filter { $0 != .sp }
    for (place, first) in plain.enumerated() {
      for second in plain {
        listing.add("add \(first), \(second), \(first)") { $0.add(first, second, first) }
        listing.add("sub \(first), \(second), \(second)") { $0.subtract(first, second, second) }
        listing.add("mov \(first), \(second)") { $0.move(first, second) }
        listing.add("cmp \(first), \(second)") { $0.compare(first, second) }
        listing.add("bic \(first), \(second), \(first)") { $0.clearBits(first, second, first) }
        listing.add("lsl \(first), \(first), \(second)") { $0.shiftLeft(first, first, second) }
        listing.add("madd \(first), \(second), \(first), \(second)") {
          $0.multiplyAdd(first, second, first, second)
        }
        listing.add("ubfx \(first), \(second), #16, #4") {
          $0.extractBits(first, second, lowest: 16, count: 4)
        }
        listing.add("ubfx \(first), \(second), #0, #4") { $0.extractBits(first, second, lowest: 0, count: 4) }
      }
      for value in [1, 64, 4_095] {
        let hex = "#0x" + String(value, radix: 16)
        listing.add("add \(first), sp, \(hex)") { $0.add(first, .sp, value) }
        listing.add("add sp, \(first), \(hex)") { $0.add(.sp, first, value) }
        listing.add("adds \(first), \(first), \(hex)") { $0.addSettingFlags(first, first, value) }
        listing.add("subs \(first), \(first), \(hex)") { $0.subtractSettingFlags(first, first, value) }
        listing.add("cmp \(first), \(hex)") { $0.compare(first, value) }
      }
      for value in [0, 1, 0xFFFF] {
        listing.add("mov \(first), #0x\(String(value, radix: 16))") { $0.move(first, value) }
        for part in 1..<4 {
          listing.add("movk \(first), #0x\(String(value, radix: 16)), lsl #\(16 * part)") {
            $0.insert(first, value, part: part)
          }
        }
      }
      let base = all[(place + 1) % all.count]
      let other = plain[(place + 7) % plain.count]
      for offset in [0, 8, 32_760] {
        let text = offset == 0 ? "[\(base)]" : "[\(base), #\(offset)]"
        listing.add("ldr \(first), \(text)") { $0.load(first, base, offset) }
        listing.add("str \(first), \(text)") { $0.store(first, base, offset) }
      }
      for step in [8, -8, 248] {
        listing.add("ldr \(first), [\(base)], #\(step)") { $0.load(first, base, step: step) }
        listing.add("ldp \(first), \(other), [\(base)], #\(step)") {
          $0.loadPair(first, other, base, step: step)
        }
        listing.add("stp \(first), \(other), [\(base), #\(-step)]!") {
          $0.pushPair(first, other, base, step: step)
        }
      }
      listing.add("blr \(first)") { $0.call(first) }
      listing.add("mrs \(first), ctr_el0") { $0.readCacheType(first) }
      listing.add("dc cvau, \(first)") { $0.cleanData(first) }
      listing.add("ic ivau, \(first)") { $0.invalidateInstructions(first) }
    }
    listing.add("dsb ish") { $0.synchronizeData() }
    listing.add("isb") { $0.synchronizeInstructions() }
    listing.add("svc #0x0") { $0.callSystem() }
    listing.add("ret") { $0.return() }
    try check(listing)
  }

  @Test("branches lead to their labels")
  func branches() throws {
    let names: [Assembler.Condition: String] = [
      .equal: "eq", .notEqual: "ne", .aboveOrEqual: "cs", .below: "cc", .greaterOrEqual: "ge", .less: "lt",
      .greater: "gt", .lessOrEqual: "le",
    ]
    var listing = Arm64Listing()
    listing.add("ret") { $0.return() }
    let head = listing.assembler.placeLabel()
    let end = listing.assembler.makeLabel()
    let count = Assembler.Condition.allCases.count * 2 + 6
    let target = String(4 + count * 4, radix: 16)
    for condition in Assembler.Condition.allCases {
      listing.add("b.\(names[condition] ?? "") 0x\(target)") { $0.branch(condition, end) }
      listing.add("b.\(names[condition] ?? "") 0x4") { $0.branch(condition, head) }
    }
    listing.add("b 0x\(target)") { $0.branch(end) }
    listing.add("b 0x4") { $0.branch(head) }
    listing.add("cbz x17, 0x\(target)") { $0.branchIfZero(.x17, end) }
    listing.add("cbz x30, 0x4") { $0.branchIfZero(.x30, head) }
    listing.add("cbnz x0, 0x\(target)") { $0.branchUnlessZero(.x0, end) }
    listing.add("cbnz x9, 0x4") { $0.branchUnlessZero(.x9, head) }
    listing.assembler.place(end)
    listing.add("ret") { $0.return() }
    try check(listing)
  }

  @Test("code whose label was never placed is refused")
  func missingLabel() {
    var assembler = Assembler()
    let label = assembler.makeLabel()
    assembler.branch(label)
    #expect(assembler.finish() == nil)
  }

  private func check(_ listing: Arm64Listing) throws {
    let differences = try #require(try listing.differences())
    let count = differences.count
    #expect(count == 0, "\(differences.prefix(12).joined(separator: "\n"))")
  }
}
