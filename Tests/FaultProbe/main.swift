// SPDX-License-Identifier: Apache-2.0

// Runs models while the system refuses something: FaultProbe FAULT MODEL…, and prints a line for each model: the kernel set,
// a digest of its outputs, and whether code lies in a memory file.
//
//   nothing      refuses nothing
//   code         pages cannot be made executable, and files cannot be mapped so
//   code-later   pages cannot be made executable any more once the last model is prepared
//   threads      threads cannot be created
//
// The status is 77 where the system has no such filters.
import Apus

#if os(Linux) && arch(x86_64) && canImport(Glibc)
  import Glibc

  func fail(_ text: String, status: Int32 = 1) -> Never {
    let line = "error: \(text)\n"
    _ = unsafe line.withCString { unsafe write(2, $0, strlen($0)) }
    exit(status)
  }

  /// An instruction of the filter: see `linux/filter.h`.
  struct Instruction {
    var code: UInt16
    var (whenTrue, whenFalse): (UInt8, UInt8)
    var value: UInt32

    init(_ code: UInt16, _ value: UInt32, _ whenTrue: UInt8 = 0, _ whenFalse: UInt8 = 0) {
      (self.code, self.value, self.whenTrue, self.whenFalse) = (code, value, whenTrue, whenFalse)
    }
  }

  /// A filter that the system runs for each call: see `linux/seccomp.h`.
  @safe struct Program {
    var count: UInt16
    var start: UnsafePointer<Instruction>?
  }

  let (load, jumpIfEqual, jumpIfSet, answer): (UInt16, UInt16, UInt16, UInt16) = (0x20, 0x15, 0x45, 0x06)
  let (number, thirdArgument): (UInt32, UInt32) = (0, 32)
  let (refusal, permission): (UInt32, UInt32) = (0x0005_0000, 0x7FFF_0000)
  let (mapCall, protectCall, cloneCall, clone3Call): (UInt32, UInt32, UInt32, UInt32) = (9, 10, 56, 435)

  /// Refuses pages that are executable.
  func withoutCode(_ calls: (UInt32, UInt32)) -> [Instruction] {
    [
      .init(load, number), .init(jumpIfEqual, calls.0, 1, 0), .init(jumpIfEqual, calls.1, 0, 3),
      .init(load, thirdArgument), .init(jumpIfSet, UInt32(PROT_EXEC), 0, 1),
      .init(answer, refusal | UInt32(EACCES)), .init(answer, permission),
    ]
  }

  /// Refuses threads.
  let withoutThreads: [Instruction] = [
    .init(load, number), .init(jumpIfEqual, cloneCall, 1, 0), .init(jumpIfEqual, clone3Call, 0, 1),
    .init(answer, refusal | UInt32(EAGAIN)), .init(answer, permission),
  ]

  /// Filters this thread's calls, and those of threads that it makes, until the process ends.
  func install(_ instructions: [Instruction]) {
    // Swift does not import functions of any number of arguments.
    typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    guard let symbol = unsafe dlsym(nil, "prctl") else { fail("there is no prctl", status: 77) }
    let control = unsafe unsafeBitCast(symbol, to: Control.self)
    let (setNoNewPrivileges, setFilter, filterMode): (Int32, Int32, UInt) = (38, 22, 2)
    let code = unsafe instructions.withUnsafeBufferPointer { buffer -> Int32 in
      var program = unsafe Program(count: UInt16(buffer.count), start: buffer.baseAddress)
      return unsafe withUnsafeMutablePointer(to: &program) { place in
        guard control(setNoNewPrivileges, 1, 0, 0, 0) == 0 else { return -1 }
        return control(setFilter, filterMode, UInt(bitPattern: place), 0, 0)
      }
    }
    guard code == 0 else { fail("the system has no filters", status: 77) }
  }

  /// Whether this process has code in a memory file.
  func hasCodeInFile() -> Bool {
    guard let file = unsafe fopen("/proc/self/maps", "r") else { return false }
    defer { unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 4096)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      if unsafe strstr(line, "memfd:apus-code") != nil { return true }
    }
    return false
  }

  let fault = CommandLine.arguments.dropFirst().first ?? ""
  let paths = CommandLine.arguments.dropFirst(2)
  switch fault {
  case "nothing", "code-later": break
  case "code": install(withoutCode((mapCall, protectCall)))
  case "threads": install(withoutThreads)
  default: fail("'\(fault)' is not nothing, code, code-later or threads", status: 64)
  }
  for (position, path) in paths.enumerated() {
    do throws(ApusError) {
      if fault == "code-later", position == paths.count - 1 {
        install(withoutCode((protectCall, protectCall)))
      }
      var options = Interpreter.Options()
      options.threadCount = 4
      let interpreter = try Interpreter(model: Model(contentsOfFile: path), options: options)
      for input in interpreter.inputs.indices {
        try interpreter.withInputBytes(at: input) { span in
          for offset in 0..<span.byteCount {
            span.storeBytes(
              of: UInt8(truncatingIfNeeded: offset &* 37 &+ input), toByteOffset: offset, as: UInt8.self)
          }
        }
      }
      try interpreter.invoke()
      // FNV-1a.
      var digest: UInt64 = 0xCBF2_9CE4_8422_2325
      for output in interpreter.outputs.indices {
        try interpreter.withOutputBytes(at: output) { span in
          for offset in 0..<span.byteCount {
            unsafe digest ^= UInt64(span.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            digest &*= 0x100_0000_01B3
          }
        }
      }
      let line = "\(interpreter.kernels) \(String(digest, radix: 16)) \(hasCodeInFile())\n"
      _ = unsafe line.withCString { unsafe write(1, $0, strlen($0)) }
    } catch {
      fail("\(path): \(error.message)")
    }
  }
#endif
