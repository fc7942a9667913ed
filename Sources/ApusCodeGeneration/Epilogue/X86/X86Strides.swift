// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Registers with one, three and five times a stride, which address six places at that distance.
struct X86Strides: Hashable {
  let one: X86Assembler.General
  let three: X86Assembler.General
  let five: X86Assembler.General

  /// Loads the stride from an argument.
  func load(_ a: inout X86Assembler, _ offset: Int) {
    a.load(one, .init(.rdi, offset))
    complete(&a)
  }

  /// Computes three and five strides from one.
  func complete(_ a: inout X86Assembler) {
    a.address(three, .init(one, index: one, scale: 2))
    a.address(five, .init(one, index: one, scale: 4))
  }

  /// The address of `index` strides after a base, up to five.
  func place(_ base: X86Assembler.General, _ index: Int, _ displacement: Int = 0) -> X86Assembler.Memory {
    switch index {
    case 0: .init(base, displacement)
    case 1: .init(base, index: one, displacement)
    case 2: .init(base, index: one, scale: 2, displacement)
    case 3: .init(base, index: three, displacement)
    case 4: .init(base, index: one, scale: 4, displacement)
    default: .init(base, index: five, displacement)
    }
  }

  /// The address of six strides after a base.
  func sixth(_ base: X86Assembler.General) -> X86Assembler.Memory { .init(base, index: three, scale: 2) }
}
