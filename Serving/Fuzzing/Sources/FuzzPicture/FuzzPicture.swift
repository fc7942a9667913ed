// SPDX-License-Identifier: Apache-2.0
@_spi(Fuzzing) import ApusServing
import Foundation

/// Fuzzes encoded pictures.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target.picture(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// The models that requests name; without them there is nothing to fuzz.
nonisolated(unsafe) private let target: RequestTarget = {
  do {
    return try RequestTarget(modelsIn: ProcessInfo.processInfo.environment["APUS_FUZZ_MODELS"])
  } catch { fatalError("\(error)") }
}()
