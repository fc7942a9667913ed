import ApusKernels
import Testing

/// Places of greatest and least values.
@Suite struct ExtremeSearchTests {
  @Test(
    "the first of equal extremes is found", arguments: [1, 7, 8, 9, 16, 21, 255, 256, 257, 1001],
    [1, 3, 8, 17])
  func findsTheFirst(length: Int, inner: Int) {
    var random = SeededGenerator(seed: UInt64(length * 100 + inner))
    let outer = 5
    // Few values, so that many are equal; the ends of the range among them.
    let bytes = (0..<outer * length * inner).map { _ in
      [UInt8(0), 1, 127, 128, 255].randomElement(using: &random) ?? 0
    }
    for isMaximum in [true, false] {
      for elements in [Reduction.Elements.uint8, .int8, .float32] {
        func key(_ byte: UInt8) -> Int { elements == .int8 ? Int(Int8(bitPattern: byte)) : Int(byte) }
        let floats = bytes.map { Float($0) }
        let input = elements == .float32 ? floats.span.bytes : bytes.span.bytes
        var places = [Int32](repeating: -1, count: outer * inner)
        var span = places.mutableSpan
        var output = span.mutableBytes
        ExtremeSearch(
          elements, isMaximum: isMaximum, outer: outer, length: length, inner: inner, isWide: false
        ).run(input, to: &output, threads: ThreadTeam(count: 2))
        let expected = (0..<outer * inner).map { index -> Int32 in
          let line = (0..<length).map { key(bytes[(index / inner * length + $0) * inner + index % inner]) }
          let extreme = (isMaximum ? line.max() : line.min()) ?? 0
          return Int32(line.firstIndex(of: extreme) ?? -1)
        }
        #expect(places == expected)
      }
    }
  }
}
