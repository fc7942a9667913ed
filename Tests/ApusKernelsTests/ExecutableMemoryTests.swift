// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

#if arch(x86_64) && os(Linux)
  import ApusKernels
  import Glibc
  import Testing

  @Suite("ExecutableMemory")
  struct ExecutableMemoryTests {
    /// `mov eax, 1234; ret`
    private static let code: [UInt8] = [0xB8, 0xD2, 0x04, 0x00, 0x00, 0xC3]
    private typealias Function = @convention(c) () -> Int32

    @Test("placed code runs, and its pages cannot be written")
    func placed() throws {
      let place = try #require(ExecutableMemory.place(Self.code))
      #expect(unsafe unsafeBitCast(place, to: Function.self)() == 1234)
      #expect(try protection(of: place) == "r-xp")
    }

    @Test("code that waits to be sealed is never writable and executable at once, and shares pages")
    func appended() throws {
      let first = try #require(ExecutableMemory.append(Self.code))
      #expect(["rw-p", "r-xp"].contains(try protection(of: first)))
      let second = try #require(ExecutableMemory.append(Self.code))
      ExecutableMemory.seal()
      for place in [first, second] {
        #expect(unsafe unsafeBitCast(place, to: Function.self)() == 1234)
        #expect(try protection(of: place) == "r-xp")
      }
    }

    @Test("the limit is no limit for what is needed")
    func needed() throws {
      let large = Array(repeating: UInt8(0xC3), count: ExecutableMemory.byteLimit + 1)
      #expect(ExecutableMemory.append(large) == nil)
      let place = try #require(ExecutableMemory.append(large, withinLimit: false))
      ExecutableMemory.seal()
      #expect(try protection(of: place) == "r-xp")
    }

    @Test("the way by a memory file gives the same")
    func memoryFile() throws {
      let place = try #require(ExecutableMemory.placeInMemoryFile(Self.code, byteCount: Int(getpagesize())))
      #expect(unsafe unsafeBitCast(place, to: Function.self)() == 1234)
      #expect(try protection(of: place) == "r-xp")
    }

    @Test("nothing, and more than the limit, is refused")
    func limits() {
      #expect(ExecutableMemory.place([]) == nil)
      #expect(ExecutableMemory.place(Array(repeating: 0xC3, count: ExecutableMemory.byteLimit + 1)) == nil)
    }

    /// The system's word for what may be done with an address.
    private func protection(of address: UnsafeRawPointer) throws -> String {
      let file = unsafe try #require(fopen("/proc/self/maps", "r"))
      defer { unsafe fclose(file) }
      let place = UInt(bitPattern: address)
      var buffer = [CChar](repeating: 0, count: 4_096)
      while unsafe fgets(&buffer, Int32(buffer.count), file) != nil {
        let line = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = line.split(separator: " ")
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        if ends.count == 2, fields.count > 1, ends[0] <= place, place < ends[1] { return String(fields[1]) }
      }
      return "not mapped"
    }
  }
#endif
