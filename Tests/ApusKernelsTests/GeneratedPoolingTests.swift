// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Generated pooling agrees with plain Swift and stays between guard pages.
@Suite struct GeneratedPoolingTests {
  static let sets = KernelSet.tested.filter { $0.generated != nil }

  private struct Shape: CustomStringConvertible {
    var batches = 1
    var (height, width, channels) = (1, 1, 1)
    var (filterHeight, filterWidth) = (1, 1)
    var (strideHeight, strideWidth) = (1, 1)
    var (top, left) = (0, 0)
    var (outputHeight, outputWidth) = (1, 1)

    var description: String {
      "\(batches)×\(height)×\(width)×\(channels) under \(filterHeight)×\(filterWidth), strides \(strideHeight) and "
        + "\(strideWidth), padding \(top) and \(left), to \(outputHeight)×\(outputWidth)"
    }

    func pooling(_ kind: Pooling.Kind, _ elements: Pooling.Elements, using set: KernelSet) -> Pooling? {
      Pooling(
        kind: kind, elements: elements, batches: batches,
        vertical: WindowAxis(
          size: height, places: outputHeight, taps: filterHeight, stride: strideHeight, padding: top),
        horizontal: WindowAxis(
          size: width, places: outputWidth, taps: filterWidth, stride: strideWidth, padding: left),
        channels: channels, using: set)
    }
  }

  private static let elements: [Pooling.Elements] = [
    .float32(minimum: -.greatestFiniteMagnitude, maximum: .greatestFiniteMagnitude),
    .float32(minimum: 0, maximum: 6), .integer(.int8, minimum: -128, maximum: 127),
    .integer(.int8, minimum: -5, maximum: 100), .integer(.uint8, minimum: 0, maximum: 255),
    .integer(.uint8, minimum: 3, maximum: 200),
  ]

  @Test("every set pools as plain Swift does", arguments: sets, 0..<400)
  func agreesWithPlainSwift(set: KernelSet, seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let shape = Self.shape(using: &random)
    for kind in [Pooling.Kind.maximum, .average] {
      for elements in Self.elements { try compare(shape, kind, elements, set, using: &random) }
    }
  }

  @Test("windows of whole pictures", arguments: sets)
  func wholePictures(set: KernelSet) throws {
    var random = SeededGenerator(seed: 5)
    for (height, width, channels) in [
      (7, 7, 130), (7, 7, 3), (16, 16, 5), (14, 9, 64), (90, 3, 7), (1, 1, 40),
    ] {
      var shape = Shape()
      (shape.height, shape.width, shape.channels) = (height, width, channels)
      (shape.filterHeight, shape.filterWidth) = (height, width)
      shape.batches = 2
      for kind in [Pooling.Kind.maximum, .average] {
        for elements in Self.elements { try compare(shape, kind, elements, set, using: &random) }
      }
    }
  }

  @Test("a maximum of −0 is −0, with a rectifier, too", arguments: KernelSet.tested)
  func keepsNegativeZeros(set: KernelSet) throws {
    for (size, channels) in [(1, 1), (1, 3), (1, 40), (2, 1), (2, 40), (3, 130)] {
      var shape = Shape()
      (shape.height, shape.width, shape.channels) = (size + 2, size + 3, channels)
      (shape.filterHeight, shape.filterWidth) = (size, size)
      (shape.outputHeight, shape.outputWidth) = (3, 4)
      let count = shape.height * shape.width * channels
      let input = (0..<count).flatMap { _ in withUnsafeBytes(of: Float(-0.0)) { Array($0) } }
      for elements in Self.elements[..<2] {
        let pooling = try #require(shape.pooling(.maximum, elements, using: set))
        // The reference's `max(value, 0)` is the value if both are zeros.
        let found = Self.floats(try run(pooling, shape, input, threads: 1))
        #expect(
          found.allSatisfy { $0.bitPattern == Float(-0.0).bitPattern },
          "\(shape), \(elements), \(pooling.implementation)")
      }
    }
  }

  @Test("common pools have code", arguments: sets)
  func areCovered(set: KernelSet) throws {
    for channels in [1, 3, 8, 16, 24, 64, 100] {
      var shape = Shape()
      (shape.height, shape.width, shape.channels) = (56, 56, channels)
      (shape.filterHeight, shape.filterWidth, shape.strideHeight, shape.strideWidth) = (3, 3, 2, 2)
      (shape.outputHeight, shape.outputWidth) = (28, 28)
      for kind in [Pooling.Kind.maximum, .average] {
        for elements in Self.elements {
          let pooling = try #require(shape.pooling(kind, elements, using: set))
          #expect(pooling.choice.set == set.name, "\(kind) of \(elements), \(channels) channels")
        }
      }
    }
  }

  @Test("means of bytes are exact for every sum")
  func meansAreExact() throws {
    var counts = 0
    for isSigned in [false, true] {
      for count in 1...WordMean.maximumBytes {
        guard let mean = WordMean(count: count, isSigned: isSigned) else { continue }
        counts += 1
        let sums = isSigned ? -128 * count...127 * count : 0...255 * count
        let wrong = sums.filter { sum in
          let half = sum > 0 ? count / 2 : -(count / 2)
          let word = UInt16(truncatingIfNeeded: sum)
          let moved =
            word &+ mean.rounding &+ (UInt16(bitPattern: Int16(bitPattern: word) >> 15) & mean.halves)
          let quotient = Int((UInt32(moved) * UInt32(mean.factor)) >> 16) >> mean.shift
          return quotient - (isSigned ? 128 : 0) != (sum + half) / count
        }
        #expect(wrong.count == 0, "\(count) bytes")
      }
    }
    // All windows up to 11 × 11 at least.
    #expect(counts > 2 * 121 && (1...121).allSatisfy { WordMean(count: $0, isSigned: true) != nil })
  }

  // MARK: Cases

  private static func shape(using random: inout SeededGenerator) -> Shape {
    var shape = Shape()
    shape.batches = [1, 1, 2].pick(using: &random)
    shape.height = .random(in: 1...9, using: &random)
    shape.width = .random(in: 1...20, using: &random)
    shape.channels = [1, 2, 3, 5, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 96, 130].pick(
      using: &random)
    shape.filterHeight = .random(in: 1...min(4, shape.height), using: &random)
    shape.filterWidth = .random(in: 1...min(5, shape.width), using: &random)
    shape.strideHeight = .random(in: 1...3, using: &random)
    shape.strideWidth = .random(in: 1...3, using: &random)
    shape.top = .random(in: 0..<shape.filterHeight, using: &random)
    shape.left = .random(in: 0..<shape.filterWidth, using: &random)
    // The last window begins in the picture.
    shape.outputHeight = (shape.height - 1 + shape.top) / shape.strideHeight + 1
    shape.outputWidth = (shape.width - 1 + shape.left) / shape.strideWidth + 1
    return shape
  }

  private func compare(
    _ shape: Shape, _ kind: Pooling.Kind, _ elements: Pooling.Elements, _ set: KernelSet,
    using random: inout SeededGenerator
  ) throws {
    let count = shape.batches * shape.height * shape.width * shape.channels
    var input: [UInt8] = []
    let isFloat: Bool
    switch elements {
    case .float32:
      isFloat = true
      // Numbers whose sums are exact, and some that are none.
      for _ in 0..<count {
        let value: Float =
          Int.random(in: 0..<200, using: &random) == 0
          ? [.nan, .infinity, -.infinity, -0.0].pick(using: &random)
          : Float(Int.random(in: -2000...2000, using: &random)) / 64
        withUnsafeBytes(of: value) { input += $0 }
      }
    case .integer:
      isFloat = false
      input = (0..<count).map { _ in .random(in: 0...255, using: &random) }
    }
    let expected = try run(
      try #require(shape.pooling(kind, elements, using: .portable)), shape, input, threads: 1)
    let pooling = try #require(shape.pooling(kind, elements, using: set))
    for threads in [1, 2] {
      let found = try run(pooling, shape, input, threads: threads)
      let isSame =
        isFloat
        ? zip(Self.floats(found), Self.floats(expected)).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN }
        : found == expected
      #expect(isSame, "\(kind) of \(elements), \(shape), \(pooling.implementation)")
    }
  }

  private func run(_ pooling: Pooling, _ shape: Shape, _ input: [UInt8], threads: Int) throws -> [UInt8] {
    let size = input.count / max(1, shape.batches * shape.height * shape.width)
    let count = shape.batches * shape.outputHeight * shape.outputWidth * size
    let source = try #require(GuardedMemory(input))
    let target = try #require(GuardedMemory(count: count, repeating: 0xAB))
    let scratch = try #require(
      GuardedMemory(count: pooling.scratchByteCount(threads: threads), repeating: 0xCD))
    var output = unsafe target.bytes.mutableBytes
    var memory = unsafe scratch.bytes.mutableBytes
    pooling.run(
      unsafe UnsafeRawBufferPointer(source.bytes).bytes, to: &output, scratch: &memory,
      threads: ThreadTeam(count: threads))
    return unsafe Array(target.bytes)
  }

  private static func floats(_ bytes: [UInt8]) -> [Float] {
    unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
  }
}
