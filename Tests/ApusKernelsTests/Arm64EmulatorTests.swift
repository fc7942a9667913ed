// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration

#if arch(x86_64) && os(Linux)
  import ApusKernels
  import Testing

  @Suite("Arm64Emulator", .enabled(if: Arm64Emulator.tool != nil, "needs qemu-aarch64"))
  struct Arm64EmulatorTests {
    @Test("the sets for arm64 are tested here, by an emulator")
    func sets() {
      #expect([Arm64Target.dotProduct, .neon].allSatisfy { Arm64Emulator.kernels($0) != nil })
    }

    @Test("a function is placed once")
    func placement() throws {
      /// A function that does nothing.
      struct Nothing: CodeGenerator, Hashable {
        func generate() -> [UInt8]? {
          var a = Arm64Assembler()
          a.return()
          return a.finish()
        }
      }
      let emulator = try #require(Arm64Emulator.processor(.neon))
      #expect(emulator.place(Nothing()) != nil)
      #expect(emulator.place(Nothing()) == emulator.place(Nothing()))
    }
  }
#endif
