// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// Random numbers go on from run to run, and begin again on request; that they are right is shown by the goldens.
@Suite struct RandomNumberTests {
  @Test(arguments: ["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"])
  func goOnUntilReset(name: String) throws {
    let contents = try GoldenArchive(name: name).open()
    // One with many numbers, so that two runs are not equal by chance.
    let sizes = try contents.cases.map { try contents.arrays("output", of: $0)[0].bytes.count }
    let largest = try #require(sizes.indices.max { sizes[$0] < sizes[$1] })
    let interpreter = try Interpreter(model: contents.model(of: contents.cases[largest]))
    func run() throws -> [UInt8] {
      try interpreter.invoke()
      return try interpreter.bytes(ofOutputAt: 0)
    }
    let first = try run()
    let second = try run()
    #expect(first != second)
    interpreter.resetVariables()
    #expect(try run() == first)
    #expect(try run() == second)
  }
}
