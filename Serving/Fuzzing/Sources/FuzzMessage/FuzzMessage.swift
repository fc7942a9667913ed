// SPDX-License-Identifier: Apache-2.0
@_spi(Fuzzing) import ApusServing
import ApusServingMessages
import Foundation

/// Fuzzes requests as protobuf messages. The first byte chooses the model.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let description = try? RequestDescription(message: Array(bytes[1...])) {
    target.answer(description, byModel: bytes[0])
  }
  return 0
}

/// The models that requests name; without them there is nothing to fuzz.
nonisolated(unsafe) private let target: RequestTarget = {
  do {
    return try RequestTarget(modelsIn: ProcessInfo.processInfo.environment["APUS_FUZZ_MODELS"])
  } catch { fatalError("\(error)") }
}()
