// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Testing

@Suite struct OptionsTableTests {
  private func options(_ fields: [Int: FlatValue]) throws -> OptionsTable {
    var model = SampleModel()
    model.operators[0][4] = .table(fields)
    return try model.decoded().subgraphs[0].operators[0].options
  }

  @Test func readsFieldsOfEveryType() throws {
    let options = try options([
      0: .int8(-3), 1: .uint8(200), 2: .int32(-70000), 3: .uint32(4_000_000_000),
      4: .uint64(UInt64(bitPattern: -5)),
      5: .float(1.5), 6: .uint8(1), 7: .int32s([1, -1]), 8: .int64s([1 << 40]), 9: .floats([0.5]),
      10: .string("name"), 11: .table([0: .int32(7)]), 12: .bytes([1, 2]),
    ])
    #expect(try options.int8(0, default: 0) == -3)
    #expect(try options.uint8(1, default: 0) == 200)
    #expect(try options.int32(2, default: 0) == -70000)
    #expect(try options.uint32(3, default: 0) == 4_000_000_000)
    #expect(try options.int64(4, default: 0) == -5)
    #expect(try options.float(5, default: 0) == 1.5)
    #expect(try options.bool(6, default: false))
    #expect(try options.int32Vector(7) == [1, -1])
    #expect(try options.int64Vector(8) == [1 << 40])
    #expect(try options.floatVector(9) == [0.5])
    #expect(try options.string(10) == "name")
    #expect(try options.table(11)?.int32(0, default: 0) == 7)
    #expect(try options.uint8Vector(12) == [1, 2])
  }

  @Test("absent fields answer their defaults", arguments: [0, 3, 100, 40_000, Int.max, -1])
  func answersDefaults(field: Int) throws {
    for options in [OptionsTable.empty, try options([:]), try options([5: .uint8(1)])] {
      #expect(try options.int8(field, default: -1) == -1)
      #expect(try options.uint8(field, default: 2) == 2)
      #expect(try options.bool(field, default: true))
      #expect(try options.int32(field, default: 3) == 3)
      #expect(try options.int64(field, default: 4) == 4)
      #expect(try options.uint32(field, default: 5) == 5)
      #expect(try options.float(field, default: .infinity) == .infinity)
      #expect(try options.int32Vector(field) == nil)
      #expect(try options.floatVector(field) == nil)
      #expect(try options.int64Vector(field) == nil)
      #expect(try options.string(field) == nil)
      #expect(try options.table(field) == nil)
    }
  }

  @Test func refusesAFieldThatIsWiderThanItsTable() throws {
    let options = try options([0: .int8(1)])
    #expect(throws: FormatError.self) { try options.int32(0, default: 0) }
    #expect(throws: FormatError.self) { try options.int32Vector(0) }
    #expect(throws: FormatError.self) { try options.table(0) }
  }

  @Test func refusesReferencesThatLeaveTheFile() throws {
    let options = try options([0: .uint32(1 << 30), 1: .uint32(.max)])
    for field in 0...1 {
      #expect(throws: FormatError.self) { try options.int32Vector(field) }
      #expect(throws: FormatError.self) { try options.string(field) }
      #expect(throws: FormatError.self) { try options.table(field) }
    }
  }

  @Test func ignoresATableWithoutAType() throws {
    var model = SampleModel()
    model.operators[0][3] = .uint8(0)
    let node = try model.decoded().subgraphs[0].operators[0]
    #expect(node.options.isEmpty)
    #expect(try node.options.int32(1, default: 77) == 77)
  }
}
