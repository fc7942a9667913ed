// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates the writing of a row of results through a table: for each channel of a pixel, the entry of a byte.
struct X86PictureTableGenerator: CodeGenerator, Hashable {
  /// The bytes of a pixel that become the channels: one or three.
  let channels: [Int]
  /// Bytes of an entry: 1 or 4.
  let width: Int

  private typealias A = PictureCode.Elements
  private typealias Memory = X86Assembler.Memory

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .vex)
    a.load(.rax, .init(.rdi, A.offset(\.line)))
    a.load(.rcx, .init(.rdi, A.offset(\.target)))
    a.load(.rdx, .init(.rdi, A.offset(\.step)))
    a.load(.rsi, .init(.rdi, A.offset(\.channelStep)))
    a.load(.r8, .init(.rdi, A.offset(\.table)))
    a.load(.r9, .init(.rdi, A.offset(\.count)))
    let next = a.loopHead()
    for (channel, byte) in channels.enumerated() {
      a.loadByte(.r10, Memory(.rax, byte))
      let entry = Memory(.r8, index: .r10, scale: width, 256 * width * channel)
      // The third channel is two steps away.
      let place = channel == 0 ? Memory(.rcx) : Memory(.rcx, index: .rsi, scale: channel)
      if width == 1 {
        a.loadByte(.r10, entry)
        a.storeByte(place, .r10)
      } else {
        a.loadDouble(.r10, entry)
        a.storeDouble(place, .r10)
      }
    }
    a.add(.rax, 4)
    a.add(.rcx, .rdx)
    a.decrement(.r9)
    a.jump(.notEqual, next)
    a.return()
    return a.finish()
  }
}
