// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport
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
    let choices: [UInt8] = [0, 1, 127, 128, 255]
    let bytes: [UInt8] = (0..<outer * length * inner).map { _ in
      choices[Int.random(in: 0..<choices.count, using: &random)]
    }
    let floats = bytes.map { Float($0) }
    for isMaximum in [true, false] {
      for elements in [ScalarType.uint8, .int8, .float32] {
        var isSigned = false
        if case .int8 = elements { isSigned = true }
        let keys: [Int] = bytes.map { isSigned ? Int(Int8(bitPattern: $0)) : Int($0) }
        let search = ExtremeSearch(
          elements, isMaximum: isMaximum, outer: outer, length: length, inner: inner, isWide: false)
        var places = [Int32](repeating: -1, count: outer * inner)
        var span = places.mutableSpan
        var output = span.mutableBytes
        if case .float32 = elements {
          search.run(floats.span.bytes, to: &output, threads: ThreadTeam(count: 2))
        } else {
          search.run(bytes.span.bytes, to: &output, threads: ThreadTeam(count: 2))
        }
        for (index, place) in places.enumerated() {
          let first = index / inner * length * inner + index % inner
          let line: [Int] = (0..<length).map { keys[first + $0 * inner] }
          let extreme = isMaximum ? line.max() : line.min()
          #expect(line.firstIndex { $0 == extreme } == Int(place))
        }
      }
    }
  }
}
