// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The optional instructions and properties of a processor that kernel sets require or consult.
package struct CPUFeatures: OptionSet, Hashable, Sendable {
  /// One bit for each feature.
  package let rawValue: UInt64

  /// Creates a set from its bits.
  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// AVX2 and FMA: 256-bit integers and fused floats.
  package static let avx2 = CPUFeatures(rawValue: 1 << 0)
  /// AVX-VNNI: products of four bytes at once, in VEX-encoded 256 bits.
  package static let avxVNNI = CPUFeatures(rawValue: 1 << 1)
  /// AVX-512 F, BW, DQ, VL and VNNI: products of four bytes at once, in 512 bits.
  package static let avx512VNNI = CPUFeatures(rawValue: 1 << 2)
  /// AVX-512 VBMI: arbitrary byte permutations. No set requires it; some code is better with it.
  package static let avx512VBMI = CPUFeatures(rawValue: 1 << 6)
  /// AVX-512 BF16: products of two bfloat16 at once. No set requires it; it multiplies bfloat16.
  package static let avx512BF16 = CPUFeatures(rawValue: 1 << 9)
  /// AMX with bfloat16: registers of 16 rows of 64 bytes, and products of them. No set requires it; programs may use it only
  /// with ``TilePermission``.
  package static let tiles = CPUFeatures(rawValue: 1 << 10)
  /// Two ports for all 512-bit operations, as in Intel's processors; other processors have two for
  /// multiplications and two more. No set requires this; it decides which work beside multiplications is
  /// free.
  package static let twoWidePipes = CPUFeatures(rawValue: 1 << 7)
  /// 512-bit multiplications take as long as 256-bit ones: Intel's processors of family 6, and AMD's from
  /// family 26 (Zen 5) on. Earlier AMD processors take twice as long; so do Zen 5's mobile variants, where
  /// treating them like the others costs little. No set requires this.
  package static let fullWidth = CPUFeatures(rawValue: 1 << 8)
  /// Executable pages for code that is written at run time; not a property of the processor, but equally
  /// necessary.
  package static let generatedCode = CPUFeatures(rawValue: 1 << 3)

  /// Arm's Advanced SIMD, which every arm64 machine has.
  package static let neon = CPUFeatures(rawValue: 1 << 4)
  /// Arm's DotProd: products of four bytes at once.
  package static let dotProduct = CPUFeatures(rawValue: 1 << 5)

  /// The features of this machine, among those that a set in this build requires.
  package static let current: CPUFeatures = detect()

  /// The names of the features, for messages.
  package var names: [String] {
    let known: [(CPUFeatures, String)] = [
      (.avx2, "AVX2 with FMA"), (.avxVNNI, "AVX-VNNI"), (.avx512VNNI, "AVX-512 VNNI"),
      (.avx512VBMI, "AVX-512 VBMI"), (.avx512BF16, "AVX-512 BF16"), (.tiles, "AMX BF16"),
      (.twoWidePipes, "two pipes for 512 bits"),
      (.fullWidth, "512 bits at a time"),
      (.neon, "NEON"), (.dotProduct, "DotProd"), (.generatedCode, "pages for generated code"),
    ]
    return known.filter { contains($0.0) }.map(\.1)
  }

  #if arch(x86_64)
    /// Asks the processor by `cpuid` and, for the registers that the system saves on a context switch, by
    /// `xgetbv`.
    ///
    /// Both are generated code themselves. If the system refuses generated code, no set that depends on the
    /// answers can run.
    private static func detect() -> CPUFeatures {
      typealias Function = @convention(c) (UnsafeMutableRawPointer) -> Void
      guard let place = unsafe ExecutableMemory.place(queryCode) else { return [] }
      let query = unsafe unsafeBitCast(place, to: Function.self)
      var features: CPUFeatures = [.generatedCode]
      // eax, ecx in; eax, ebx, ecx, edx, and of leaf 1 the low half of XCR0 if there is one, out.
      func ask(_ leaf: UInt32, _ subleaf: UInt32 = 0) -> SIMD8<UInt32> {
        var registers = SIMD8<UInt32>(leaf, subleaf, 0, 0, leaf == 1 ? 1 << 27 : 0, 0, 0, 0)
        unsafe withUnsafeMutablePointer(to: &registers) { unsafe query(UnsafeMutableRawPointer($0)) }
        return registers
      }
      func bit(_ value: UInt32, _ index: UInt32) -> Bool { value >> index & 1 == 1 }
      // Under a hypervisor each query takes microseconds. The number of leaves is not queried: leaf 13, which
      // describes the saved state, exists with XGETBV.
      let basic = ask(1)
      let hasFMA = bit(basic[2], 12)
      guard bit(basic[2], 27) else { return features }
      let state = basic[4]
      let extended = ask(7)
      guard state & 0x6 == 0x6, bit(extended[1], 5), hasFMA else { return features }
      features.insert(.avx2)
      let later = extended[0] >= 1 ? ask(7, 1)[0] : 0
      if bit(later, 4) { features.insert(.avxVNNI) }
      let avx512: UInt32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31
      let hasAVX512 = extended[1] & avx512 == avx512
      if state & 0xE6 == 0xE6, hasAVX512, bit(extended[2], 11) { features.insert(.avx512VNNI) }
      if features.contains(.avx512VNNI), bit(extended[2], 1) { features.insert(.avx512VBMI) }
      if features.contains(.avx512VNNI), bit(later, 5) { features.insert(.avx512BF16) }
      let tiles: UInt32 = 1 << 22 | 1 << 24
      if features.contains(.avx512BF16), extended[3] & tiles == tiles, state & 0x6_0000 == 0x6_0000 {
        features.insert(.tiles)
      }
      // Family 6 is Intel's. Families above 15 are in a second field.
      let family = basic[0] >> 8 & 15 &+ basic[0] >> 20 & 255
      if features.contains(.avx512VNNI) {
        if family == 6 { features.insert(.twoWidePipes) }
        if family == 6 || family >= 26 { features.insert(.fullWidth) }
      }
      return features
    }

    /// `void f(uint32_t r[5])`: cpuid of r[0], r[1] into r[0…3]; if ecx has a bit of r[4], XCR0 into r[4].
    private static let queryCode: [UInt8] = [
      0x53,  // push rbx
      0x49, 0x89, 0xF8,  // mov r8, rdi
      0x41, 0x8B, 0x00,  // mov eax, [r8]
      0x41, 0x8B, 0x48, 0x04,  // mov ecx, [r8+4]
      0x0F, 0xA2,  // cpuid
      0x41, 0x89, 0x00,  // mov [r8], eax
      0x41, 0x89, 0x58, 0x04,  // mov [r8+4], ebx
      0x41, 0x89, 0x48, 0x08,  // mov [r8+8], ecx
      0x41, 0x89, 0x50, 0x0C,  // mov [r8+12], edx
      0x41, 0x85, 0x48, 0x10,  // test [r8+16], ecx
      0x74, 0x09,  // je done
      0x31, 0xC9,  // xor ecx, ecx
      0x0F, 0x01, 0xD0,  // xgetbv
      0x41, 0x89, 0x40, 0x10,  // mov [r8+16], eax
      0x5B,  // done: pop rbx
      0xC3,  // ret
    ]
  #elseif arch(arm64)
    /// Asks the system. Whether it allows generated code is tested with a function that returns its argument.
    private static func detect() -> CPUFeatures {
      typealias Function = @convention(c) (Int) -> Int
      var features: CPUFeatures = [.neon]
      if hasDotProduct { features.insert(.dotProduct) }
      var code = Arm64Assembler()
      code.return()
      guard let bytes = code.finish(), let place = unsafe ExecutableMemory.place(bytes) else {
        return features
      }
      if unsafe unsafeBitCast(place, to: Function.self)(1234) == 1234 { features.insert(.generatedCode) }
      return features
    }

    private static var hasDotProduct: Bool {
      #if canImport(Darwin)
        var value: Int32 = 0
        var byteCount = MemoryLayout<Int32>.size
        return unsafe sysctlbyname("hw.optional.arm.FEAT_DotProd", &value, &byteCount, nil, 0) == 0
          && value == 1
      #else
        // Looked up by name, since not every C library's module shows it.
        typealias AuxiliaryValue = @convention(c) (UInt) -> UInt
        guard let symbol = unsafe dlsym(nil, "getauxval") else { return false }
        let (hardwareCapabilities, dotProduct): (UInt, UInt) = (16, 1 << 20)
        return unsafe unsafeBitCast(symbol, to: AuxiliaryValue.self)(hardwareCapabilities) & dotProduct != 0
      #endif
    }
  #else
    private static func detect() -> CPUFeatures { [] }
  #endif
}
