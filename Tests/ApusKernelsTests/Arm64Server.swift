// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// A program for arm64 Linux that reads commands and obeys: an executable file without any library.
///
/// A command is four words of 64 bits: what to do, an address, and two more.
enum Arm64Server {
  /// A command's first word.
  enum Command: Int {
    /// Reads as many bytes as the third word says to the address.
    case fill = 0
    /// Calls the address with the third and fourth words as arguments, then writes ``witnessByteCount`` bytes: what
    /// became of the registers that a function must keep.
    case call = 1
    /// Writes as many bytes as the third word says from the address.
    case fetch = 2
  }

  /// Memory for code and data, without contents at first.
  static let memory = 0x1000_0000
  static let memoryByteCount = 256 << 20

  /// `x19` to `x28`, then the lower halves of `v8` to `v15`.
  static let witnessByteCount = 18 * 8
  /// These bytes' values if a function has kept the registers.
  static let witness: [UInt8] = {
    var bytes = Bytes()
    for number in 1...10 { bytes.add64(number) }
    for number: UInt8 in 10..<18 { bytes.bytes += [UInt8](repeating: number, count: 8) }
    return bytes.bytes
  }()

  /// The file.
  static var executable: [UInt8]? {
    guard let code = code() else { return nil }
    let (load, headerByteCount) = (0x40_0000, 64 + 2 * 56)
    var file = Bytes()
    // ELF of 64 bits, little-endian, for Linux; an executable for arm64.
    file.bytes = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    file.add16(2, 183)
    file.add32(1)
    file.add64(load + headerByteCount, 64, 0)
    file.add32(0)
    file.add16(64, 56, 2, 0, 0, 0)
    // Two segments that may be read, written and executed: this file, and empty memory.
    let count = headerByteCount + code.count
    for (offset, address, fileByteCount, byteCount) in [
      (0, load, count, count), (0, memory, 0, memoryByteCount),
    ] {
      file.add32(1, 7)
      file.add64(offset, address, address, fileByteCount, byteCount, 0x1000)
    }
    return file.bytes + code
  }

  private static func code() -> [UInt8]? {
    typealias General = Arm64Assembler.General
    let kept: [General] = [.x19, .x20, .x21, .x22, .x23, .x24, .x25, .x26, .x27, .x28]
    var a = Arm64Assembler()
    let (call, fetch, end) = (a.makeLabel(), a.makeLabel(), a.makeLabel())
    // 512 bytes of the stack: the command, then the witness.
    a.subtract(.x16, .x16, .x16)
    a.move(.x17, 512)
    a.add(.x16, .sp, 0)
    a.subtract(.x16, .x16, .x17)
    a.add(.sp, .x16, 0)

    let next = a.placeLabel()
    a.add(.x9, .sp, 0)
    a.move(.x10, 32)
    transfer(&a, system: 63, file: 0, end: end)
    a.load(.x11, .sp, 0)
    a.load(.x9, .sp, 8)
    a.load(.x10, .sp, 16)
    a.compare(.x11, Command.call.rawValue)
    a.branch(.equal, call)
    a.branch(.greater, fetch)
    transfer(&a, system: 63, file: 0, end: end)
    a.branch(next)

    a.place(call)
    for (index, register) in kept.enumerated() { a.move(register, index + 1) }
    for register in 8..<16 { a.fill(register, UInt8(register + 2)) }
    a.move(.x0, .x10)
    a.load(.x1, .sp, 24)
    a.call(.x9)
    for (index, register) in kept.enumerated() { a.store(register, .sp, 32 + 8 * index) }
    for register in stride(from: 8, to: 16, by: 2) {
      a.storeHalves(register, register + 1, .sp, 112 + 8 * (register - 8))
    }
    a.add(.x9, .sp, 32)
    a.move(.x10, witnessByteCount)

    a.place(fetch)
    transfer(&a, system: 64, file: 1, end: end)
    a.branch(next)

    a.place(end)
    a.move(.x0, 0)
    a.move(.x8, 93)
    a.callSystem()
    return a.finish()
  }

  /// Reads or writes `x10` bytes at `x9`, as often as it takes.
  private static func transfer(
    _ a: inout Arm64Assembler, system: Int, file: Int, end: Arm64Assembler.Label
  ) {
    let done = a.makeLabel()
    let again = a.placeLabel()
    a.branchIfZero(.x10, done)
    a.move(.x0, file)
    a.move(.x1, .x9)
    a.move(.x2, .x10)
    a.move(.x8, system)
    a.callSystem()
    a.compare(.x0, 0)
    a.branch(.lessOrEqual, end)
    a.add(.x9, .x9, .x0)
    a.subtract(.x10, .x10, .x0)
    a.branch(again)
    a.place(done)
  }

  /// Numbers as bytes, lowest first.
  struct Bytes {
    var bytes: [UInt8] = []

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
      for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    mutating func add16(_ numbers: UInt16...) { for number in numbers { add(number) } }
    mutating func add32(_ numbers: UInt32...) { for number in numbers { add(number) } }
    mutating func add64(_ numbers: Int...) { for number in numbers { add(number) } }
  }
}
