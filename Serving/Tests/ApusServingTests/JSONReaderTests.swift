// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore
import Testing

/// What the reader of JSON takes, by requests and parameters.
@Suite struct JSONReaderTests {
  private func parameters(_ text: String) throws(ServingError) -> RequestParameters {
    try InferenceJSON.object(Array(text.utf8))
  }

  /// The elements of an input of type FP32, as bits.
  private func floats(_ numbers: String) throws -> [UInt32] {
    let text = """
      {"inputs":[{"name":"x","datatype":"FP32","shape":[\(numbers.split(separator: ",").count)],"data":[\(numbers)]}]}
      """
    let request = try InferenceJSON.request(header: Array(text.utf8), tail: ByteChunks())
    guard case .elements(var buffer, let count) = request.inputs[0].data else { return [] }
    return (0..<count).compactMap { _ in buffer.readInteger(endianness: .little) }
  }

  @Test("values are those that were written")
  func values() throws {
    let text =
      #" { "a" : 1 , "b":-2.5e1,"c":"\u00e9\n\ud83d\ude00","d":true,"e":[1,{}],"f":9223372036854775807 } "#
    let expected: RequestParameters = [
      "a": .integer(1), "b": .number(-25), "c": .text("é\n😀"), "d": .bool(true), "e": .other,
      "f": .integer(.max),
    ]
    #expect(try parameters(text) == expected)
  }

  @Test(
    "malformed text is refused with its place",
    arguments: [
      ("", "column 1"), ("{", "column 2"), (#"{"a":}"#, "column 6"), (#"{"a":1,}"#, "column 8"),
      ("{\n\"a\":01}", "line 2, column 5"), (#"{"a":1.}"#, "a number ends after its point"),
      (#"{"a":1e}"#, "within its exponent"), (#"{"a":"\x"}"#, "an unknown escape"),
      (#"{"a":"\ud800"}"#, "half a surrogate pair"), ("{\"a\":\"\t\"}", "a control character"),
      (#"{"a":1,"a":2}"#, "repeated"), (#"{"a":nul}"#, "column 6"), ("{} {}", "after the end"),
      (#"{"a":+1}"#, "column 6"), (#"{"a":.5}"#, "column 6"),
      (#"{"a":NaN}"#, "NaN and Infinity are not JSON"),
    ])
  func mistakes(text: String, place: String) {
    let error = #expect(throws: ServingError.self) { try parameters(text) }
    #expect(error?.kind == .badRequest)
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
  }

  @Test(
    "bytes that are no UTF-8 are refused",
    arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]])
  func encodings(bytes: [UInt8]) {
    let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
    #expect(throws: ServingError.self) { try InferenceJSON.object(text) }
  }

  @Test("nesting, keys and parameters have limits")
  func limits() throws {
    func nested(_ depth: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
    }
    #expect(try parameters(nested(99)) == ["a": .other])
    #expect(throws: ServingError.self) { try parameters(nested(100)) }
    #expect(throws: ServingError.self) { try parameters(nested(1_000_000)) }
    let many = (0...RequestDescription.maximumParameters).map { #""\#($0)":1"# }.joined(separator: ",")
    #expect(throws: ServingError.self) { try parameters("{\(many)}") }
  }

  @Test("keys that differ only in how they are composed are two")
  func composition() throws {
    #expect(throws: Never.self) { try parameters("{\"caf\u{E9}\":1,\"cafe\u{301}\":1}") }
  }

  @Test("single precision is rounded once")
  func rounding() throws {
    // The second lies just below the middle of two floats, to which double precision rounds it.
    let numbers = [
      "0.1", "1.00000017881393432617187499", "1.000000178813934326171875", "16777217", "16777219", "1e-45",
      "7e-46",
      "-3.4028235e38", "1.1754943e-38", "5e-324", "-0", "123456789012345678901234567890e-29",
    ]
    #expect(try floats(numbers.joined(separator: ",")) == numbers.map { Float($0)?.bitPattern })
    #expect(throws: ServingError.self) { try floats("3.5e38") }
  }
}
