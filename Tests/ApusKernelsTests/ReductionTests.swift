// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Reductions and searches, against loops over each element.
@Suite struct ReductionTests {
  @Test(
    "any axes can be folded, on any number of threads",
    arguments: [
      [false, true, false], [true, false, true], [true, true, true], [false, false, true],
      [false, false, false],
    ],
    [1, 3])
  func foldsAxes(isFolded: [Bool], threads: Int) {
    let dimensions = [41, 33, 57]
    let values = (0..<dimensions.reduce(1, *)).map { Int32(truncatingIfNeeded: $0 &* 0x9E37_79B9) >> 12 }
    let reduction = Reduction(dimensions: dimensions, isFolded: isFolded)
    var sums = [Int32](repeating: 0, count: reduction.outputCount)
    var most = [Int32](repeating: .min, count: reduction.outputCount)
    for (index, value) in values.enumerated() {
      var (rest, place, stride) = (index, 0, 1)
      for axis in dimensions.indices.reversed() {
        if !isFolded[axis] {
          place += rest % dimensions[axis] * stride
          stride *= dimensions[axis]
        }
        rest /= dimensions[axis]
      }
      sums[place] &+= value
      most[place] = max(most[place], value)
    }
    for (kind, expected) in [(Reduction.Kind.sum, sums), (.maximum, most)] {
      var output = [Int32](repeating: 77, count: reduction.outputCount)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      reduction.run(
        kind, .int32, values.span.bytes, to: &bytes, startsWithFirst: false,
        threads: ThreadTeam(count: threads))
      #expect(output == expected)
    }
  }

  @Test("extremes and sums of rows and columns of any length", arguments: [1, 15, 16, 17, 31, 64, 77, 4_200])
  func foldsAnyLength(length: Int) {
    var random = SeededGenerator(seed: UInt64(length))
    func check<T: Comparable & BitwiseCopyable>(_ type: ScalarType, _ values: [T], others: Int) {
      for foldsRows in [true, false] {
        // Rows of the length, or columns of it.
        let dimensions = foldsRows ? [others, length] : [length, others]
        let reduction = Reduction(dimensions: dimensions, isFolded: [!foldsRows, foldsRows])
        for kind in [Reduction.Kind.maximum, .minimum] {
          let expected = (0..<others).map { other in
            (0..<length).map { values[foldsRows ? other * length + $0 : $0 * others + other] }
              .reduce(nil as T?) { best, next in
                guard let best else { return next }
                return kind == .maximum ? (next > best ? next : best) : (next < best ? next : best)
              }
          }
          var output = Array(values.prefix(others))
          var span = output.mutableSpan
          var bytes = span.mutableBytes
          reduction.run(
            kind, type, values.span.bytes, to: &bytes, startsWithFirst: false, threads: ThreadTeam(count: 2))
          #expect(output.map { $0 as T? } == expected, "\(type), \(kind), \(dimensions)")
        }
      }
    }
    let others = 21
    func values<T>(_ make: (inout SeededGenerator) -> T) -> [T] {
      (0..<others * length).map { _ in make(&random) }
    }
    check(.float32, values { Float.random(in: -9...9, using: &$0) }, others: others)
    check(.uint8, values { UInt8.random(in: 0...255, using: &$0) }, others: others)
    check(.int8, values { Int8.random(in: -128...127, using: &$0) }, others: others)
    check(.int16, values { Int16.random(in: .min ... .max, using: &$0) }, others: others)
    check(.int64, values { Int64.random(in: .min ... .max, using: &$0) }, others: others)
    for isSigned in [false, true] {
      let bytes = values { UInt8.random(in: 0...255, using: &$0) }
      let reduction = Reduction(dimensions: [others, length], isFolded: [false, true])
      var sums = [Int32](repeating: 77, count: others)
      var span = sums.mutableSpan
      var output = span.mutableBytes
      reduction.sum(isSigned ? .int8 : .uint8, bytes.span.bytes, to: &output, threads: ThreadTeam(count: 2))
      let expected = (0..<others).map { row in
        bytes[row * length..<(row + 1) * length].reduce(Int32(0)) {
          $0 + (isSigned ? Int32(Int8(bitPattern: $1)) : Int32($1))
        }
      }
      #expect(sums == expected)
    }
  }

  @Test(
    "columns of bytes are summed, on any number of threads",
    arguments: [(1, 1), (3, 15), (2, 16), (255, 17), (257, 47), (700, 33), (520, 200), (9_000, 75)],
    [1, 2, 3])
  func sumsColumns(size: (rows: Int, columns: Int), threads: Int) {
    let (rows, columns) = size
    for batches in [1, 2] {
      let values = (0..<batches * rows * columns).map { index in
        index % 5 == 0 ? UInt8.max : UInt8(truncatingIfNeeded: (index &* 0x9E37_79B9) >> 12)
      }
      for isSigned in [false, true] {
        var expected = [Int32](repeating: 0, count: batches * columns)
        for (index, byte) in values.enumerated() {
          let value = isSigned ? Int32(Int8(bitPattern: byte)) : Int32(byte)
          expected[index / (rows * columns) * columns + index % columns] += value
        }
        let reduction = Reduction(dimensions: [batches, rows, columns], isFolded: [false, true, false])
        var sums = [Int32](repeating: 77, count: reduction.sumCount)
        var span = sums.mutableSpan
        var bytes = span.mutableBytes
        reduction.sum(
          isSigned ? .int8 : .uint8, values.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
        #expect(Array(sums.prefix(expected.count)) == expected)
      }
    }
  }

  @Test("columns of floats have the same sums with any number of threads", arguments: [7, 32, 75])
  func sumsColumns(columns: Int) {
    let rows = 4_001
    let values = (0..<rows * columns).map { index -> Float in
      let noise: Int = (index &* 0x9E37_79B9) >> 7 & 0xFFFF
      return Float(noise) / 0x8000 - 1
    }
    var exact = [Double](repeating: 0, count: columns)
    for (index, value) in values.enumerated() { exact[index % columns] += Double(value) }
    let reduction = Reduction(dimensions: [1, rows, columns], isFolded: [false, true, false])
    let results = (1...4).map { threads in
      var sums = [Float](repeating: .nan, count: reduction.sumCount)
      var span = sums.mutableSpan
      var bytes = span.mutableBytes
      reduction.sum(.float32, values.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
      return Array(sums.prefix(columns))
    }
    for result in results {
      #expect(result == results[0])
      for (sum, exact) in zip(result, exact) { #expect(abs(Double(sum) - exact) < 2e-3) }
    }
  }

  @Test(
    "the first of equal bytes is found, at any length", arguments: [1, 2, 21, 64, 255, 1000], [true, false])
  func searchesBytes(length: Int, isMaximum: Bool) {
    // Enough for several tiles of the longest.
    let rows = 150
    for isSigned in [false, true] {
      let values = (0..<rows * length).map { UInt8(truncatingIfNeeded: ($0 &* 0x9E37_79B9) >> 11) & 0xF1 }
      let search = ExtremeSearch(
        isSigned ? .int8 : .uint8, isMaximum: isMaximum, outer: rows, length: length, inner: 1, isWide: false)
      var output = [Int32](repeating: -1, count: rows)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      search.run(values.span.bytes, to: &bytes, threads: ThreadTeam(count: 3))
      let expected = (0..<rows).map { row in
        let line = values[row * length..<(row + 1) * length].map {
          isSigned ? Int(Int8(bitPattern: $0)) : Int($0)
        }
        let extreme = isMaximum ? line.max() : line.min()
        return Int32(line.firstIndex { $0 == extreme } ?? -1)
      }
      #expect(output == expected)
    }
  }

  @Test("any number beats NaN, and equal zeros count as equal", arguments: [3, 8, 11, 30])
  func searchesFloats(length: Int) {
    let rows: [[Float]] = [[.nan, -1, .nan], [-0.0, 0.0, -.infinity], [.nan, .nan, .nan]]
    let values = rows.flatMap { $0 + Array(repeating: .nan, count: length - 3) }
    for (isMaximum, expected) in [(true, [Int32(1), 0, 0]), (false, [1, 2, 0])] {
      let search = ExtremeSearch(
        .float32, isMaximum: isMaximum, outer: 3, length: length, inner: 1, isWide: false)
      var output = [Int32](repeating: -1, count: 3)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      search.run(values.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
      #expect(output == expected)
    }
  }

  @Test("the greatest values come in order, the first of equals first", arguments: [1, 7, 30])
  func selectsGreatest(count: Int) {
    let values = (0..<60).map { Int32(($0 * 37) % 11) }
    var found = [Int32](repeating: -1, count: 2 * count)
    var places = [Int32](repeating: -1, count: 2 * count)
    var heap = [Int32](repeating: 0, count: count)
    var foundSpan = found.mutableSpan
    var placeSpan = places.mutableSpan
    var heapSpan = heap.mutableSpan
    var foundBytes = foundSpan.mutableBytes
    var placeBytes = placeSpan.mutableBytes
    var heapBytes = heapSpan.mutableBytes
    Selection(.int32, rows: 2, length: 30, count: count, placeByteCount: 4).run(
      values.span.bytes, values: &foundBytes, places: &placeBytes, heap: &heapBytes,
      threads: ThreadTeam(count: 1))
    for row in 0..<2 {
      let line = Array(values[row * 30..<row * 30 + 30])
      func precedes(_ lhs: Int, _ rhs: Int) -> Bool {
        line[lhs] == line[rhs] ? lhs < rhs : line[lhs] > line[rhs]
      }
      let expected = Array((0..<30).sorted(by: precedes).prefix(count))
      #expect(places[row * count..<(row + 1) * count].map(Int.init) == expected)
      #expect(Array(found[row * count..<(row + 1) * count]) == expected.map { line[$0] })
    }
  }
}
