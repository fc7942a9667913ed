// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport
import Testing

@Suite struct MemoryPlanTests {
  @Test("allocations that live at the same time share no byte", arguments: 0..<40)
  func lifetimesDoNotOverlap(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let requests = (0..<Int.random(in: 1...120, using: &random)).map { _ in
      let first = Int.random(in: 0...40, using: &random)
      return OffsetAssignment.Request(
        byteCount: Int.random(in: 0...9, using: &random) == 0 ? 0 : Int.random(in: 1...5000, using: &random),
        lifetime: first...(first + Int.random(in: 0...12, using: &random)))
    }
    let assignment = OffsetAssignment(requests)
    let total = try #require(assignment.byteCount)
    for (index, request) in requests.enumerated() {
      let offset = assignment.offsets[index]
      #expect(offset % 64 == 0)
      #expect(offset >= 0 && offset + request.byteCount <= total)
      for other in requests.indices.prefix(index) where requests[other].lifetime.overlaps(request.lifetime) {
        let begin = assignment.offsets[other]
        let isApart = begin + requests[other].byteCount <= offset || offset + request.byteCount <= begin
        #expect(isApart, "\(other) and \(index)")
      }
    }
    let sum = requests.reduce(0) { $0 + ($1.byteCount + 63) / 64 * 64 }
    #expect(total <= sum)
  }

  @Test("memory is used again when its tensor is dead")
  func reusesMemory() throws {
    let chain = (0..<10).map { OffsetAssignment.Request(byteCount: 640, lifetime: $0...($0 + 1)) }
    #expect(OffsetAssignment(chain).byteCount == 1280)
  }

  @Test("sums that cannot be counted are no plan")
  func refusesOverflow() {
    let huge = OffsetAssignment.Request(byteCount: .max - 100, lifetime: 0...0)
    #expect(OffsetAssignment([huge, huge]).byteCount == nil)
    #expect(OffsetAssignment([.init(byteCount: .max, lifetime: 0...0)]).byteCount == nil)
  }

  @Test("a plan's entries lie apart where their lifetimes meet")
  func planOfAModel() throws {
    let interpreter = try Interpreter(model: TestModel.chain(shape: [1, 1000]).model())
    let entries = interpreter.memoryPlan.entries
    // The sum becomes the answer in place.
    #expect(entries.count == 3)
    for (index, entry) in entries.enumerated() {
      for other in entries.prefix(index)
      where other.block == entry.block && other.lifetime.overlaps(entry.lifetime) {
        #expect(
          other.offset + other.byteCount <= entry.offset || entry.offset + entry.byteCount <= other.offset)
      }
    }
    // A chain in one generated loop needs no memory of its own; one of kernels does.
    #expect(interpreter.memoryPlan.arenaByteCount >= 2 * 4000)
    #expect(interpreter.memoryPlan.arenaByteCount < 4 * 4096)
  }
}
