// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Testing

@Suite struct ApusErrorTests {
  private struct Refusal: Error {}

  @Test("what Foundation says of an error is its message")
  func localizedDescription() {
    let error: any Error = ApusError(.cancelled, "the run was cancelled")
    #expect(error.localizedDescription == "the run was cancelled")
  }

  @Test("a closure that gets a tensor's memory may throw an error of its own")
  func ownErrors() throws {
    let interpreter = try Interpreter(model: TestModel.chain().model())
    #expect(throws: Refusal.self) {
      try interpreter.withInputBytes(at: 0) { bytes in
        if bytes.byteCount > 0 { throw Refusal() }
      }
    }
    #expect(throws: Refusal.self) {
      try interpreter.withOutputBytes(at: 0) { bytes in
        if bytes.byteCount >= 0 { throw Refusal() }
      }
    }
  }
}
