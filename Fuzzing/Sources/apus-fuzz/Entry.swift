// SPDX-License-Identifier: Apache-2.0

import FuzzTargets

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Chooses the target by the variable `APUS_FUZZ_TARGET`, or by the name under which the program was started, such as
/// `fuzz-model`.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
  var name = getenv("APUS_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  if name.isEmpty, let path = arguments.pointee[0] {
    // OSS-Fuzz has debug builds beside the others: `fuzz-model_debug`.
    let file = String(cString: path).split(separator: "/").last ?? ""
    name = file.drop { $0 != "-" }.dropFirst().split(separator: "_").first.map { String($0) } ?? ""
  }
  guard FuzzTargets.choose(name) else {
    let line = Array("there is no target \(name), only: \(FuzzTargets.names)\n".utf8)
    _ = write(2, line, line.count)
    exit(64)
  }
  return 0
}

/// One execution.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  FuzzTargets.run(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

@_silgen_name("LLVMFuzzerMutate")
private func mutate(_ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ capacity: Int) -> Int

/// A mutation of the target's own, every other time, which keeps the form of its input.
@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(
  _ start: UnsafeMutablePointer<UInt8>, _ count: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
  if seed & 1 == 0 {
    let old = Array(UnsafeBufferPointer(start: start, count: count))
    if let bytes = FuzzTargets.mutated(old, seed: UInt64(seed)), bytes.count <= capacity {
      bytes.withUnsafeBufferPointer {
        if let from = $0.baseAddress { start.update(from: from, count: bytes.count) }
      }
      return bytes.count
    }
  }
  return mutate(start, count, capacity)
}
