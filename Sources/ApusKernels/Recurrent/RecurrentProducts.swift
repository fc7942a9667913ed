// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Products of a matrix and a vector, added to existing values: the core of recurrent operators.
package enum RecurrentProducts {
  /// Adds `weights · vector` to `sums`, unless the run has to end; a row of weights for each sum.
  package static func add(
    _ weights: Span<Float>, _ vector: Span<Float>, to sums: inout MutableSpan<Float>, threads: ThreadTeam
  ) {
    let depth = vector.count
    precondition(weights.count == depth * sums.count)
    var poll = StopPoll(threads)
    unsafe weights.withUnsafeBufferPointer { weights in
      unsafe vector.withUnsafeBufferPointer { vector in
        guard let row = weights.baseAddress, let values = vector.baseAddress else { return }
        for index in 0..<sums.count {
          if poll.mustStop(before: depth) { return }
          unsafe sums[index] += dot(row + index * depth, values, depth)
        }
      }
    }
  }

  /// Adds the products of `weights` and `vector`, element by element, to `sums`.
  package static func addDiagonal(
    _ weights: Span<Float>, _ vector: Span<Float>, to sums: inout MutableSpan<Float>
  ) {
    precondition(weights.count == sums.count && vector.count >= sums.count)
    for index in 0..<sums.count { sums[index] += weights[index] * vector[index] }
  }

  /// Adds the products of `weights · scale` and `vector`, element by element, to `sums`.
  package static func addDiagonal(
    _ weights: Span<Int8>, scale: Float, _ vector: Span<Float>, to sums: inout MutableSpan<Float>
  ) {
    precondition(weights.count == sums.count && vector.count >= sums.count)
    for index in 0..<sums.count { sums[index] += scale * Float(weights[index]) * vector[index] }
  }

  /// Adds `weights · vector · scale` to `sums`, unless the run has to end; the vector is quantized, minus its zero point.
  package static func add(
    _ weights: Span<Int8>, _ vector: Span<Int16>, scale: Float, to sums: inout MutableSpan<Float>,
    threads: ThreadTeam
  ) {
    let depth = vector.count
    precondition(weights.count == depth * sums.count)
    var poll = StopPoll(threads)
    unsafe weights.withUnsafeBufferPointer { weights in
      unsafe vector.withUnsafeBufferPointer { vector in
        guard let row = weights.baseAddress, let values = vector.baseAddress else { return }
        for index in 0..<sums.count {
          if poll.mustStop(before: depth) { return }
          unsafe sums[index] += Float(dot(row + index * depth, values, depth)) * scale
        }
      }
    }
  }

  /// Adds the rescaled `weights · vector + bias` to `results`, saturating.
  package static func add(
    _ weights: Span<Int8>, _ vector: Span<Int8>, bias: Span<Int32>, _ multiplier: FixedPointMultiplier,
    to results: inout MutableSpan<Int16>, using code: RecurrentCode? = nil
  ) {
    let depth = vector.count
    precondition(weights.count == depth * results.count && bias.count == results.count)
    if let code {
      let rows = results.count
      unsafe weights.withUnsafeBufferPointer { weights in
        unsafe vector.withUnsafeBufferPointer { vector in
          unsafe bias.withUnsafeBufferPointer { bias in
            unsafe results.withUnsafeMutableBufferPointer { results in
              guard let weights = weights.baseAddress, let vector = vector.baseAddress,
                let bias = bias.baseAddress, let results = results.baseAddress
              else { return }
              unsafe code.add(weights, vector, depth: depth, bias: bias, multiplier, to: results, rows: rows)
            }
          }
        }
      }
      return
    }
    unsafe weights.withUnsafeBufferPointer { weights in
      unsafe vector.withUnsafeBufferPointer { vector in
        guard let row = weights.baseAddress, let values = vector.baseAddress else { return }
        for index in 0..<results.count {
          let sum = unsafe bias[index] &+ dot(row + index * depth, values, depth)
          results[index] = Int16(clamping: multiplier.apply(sum) &+ Int32(results[index]))
        }
      }
    }
  }

  /// Sets `results` to the rescaled and saturated `weights · vector + bias`, plus a zero point.
  package static func set(
    _ weights: Span<Int8>, _ vector: Span<Int8>, bias: Span<Int32>, _ multiplier: FixedPointMultiplier,
    zeroPoint: Int32, _ results: inout MutableSpan<Int8>
  ) {
    let depth = vector.count
    precondition(weights.count == depth * results.count && bias.count == results.count)
    unsafe weights.withUnsafeBufferPointer { weights in
      unsafe vector.withUnsafeBufferPointer { vector in
        guard let row = weights.baseAddress, let values = vector.baseAddress else { return }
        for index in 0..<results.count {
          let sum = unsafe bias[index] &+ dot(row + index * depth, values, depth)
          results[index] = Int8(clamping: multiplier.apply(sum) &+ zeroPoint)
        }
      }
    }
  }

  /// Sets every `stride`th of `results`, from `offset` on, to the rescaled and saturated `weights · (vector − zeroPoint)`, unless the run
  /// has to end.
  package static func set(
    _ weights: Span<Int8>, _ vector: Span<Int8>, zeroPoint: Int32, _ multiplier: FixedPointMultiplier,
    _ results: inout MutableSpan<Int16>, rows: Int, offset: Int, stride: Int, threads: ThreadTeam
  ) {
    var poll = StopPoll(threads)
    let depth = vector.count
    precondition(weights.count == depth * rows && (rows == 0 || offset + (rows - 1) * stride < results.count))
    unsafe weights.withUnsafeBufferPointer { weights in
      unsafe vector.withUnsafeBufferPointer { vector in
        guard let matrix = weights.baseAddress, let values = vector.baseAddress else { return }
        for row in 0..<rows {
          if poll.mustStop(before: 2 &* depth) { return }
          let line = unsafe matrix + row * depth
          var total: Int32 = 0
          if zeroPoint != 0 { for column in 0..<depth { unsafe total &+= Int32(line[column]) } }
          let sum = unsafe dot(line, values, depth) &- total &* zeroPoint
          results[offset + row * stride] = Int16(clamping: multiplier.apply(sum))
        }
      }
    }
  }

  /// The sum of each row of a matrix, times a factor; wraps.
  package static func rowSums(_ weights: [Int8], rows: Int, times factor: Int32) -> [Int32] {
    guard rows > 0 else { return [] }
    let depth = weights.count / rows
    return (0..<rows).map { row in
      var sum: Int32 = 0
      for column in 0..<depth { sum &+= Int32(weights[row * depth + column]) }
      return sum &* factor
    }
  }

  private static func dot(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
    var first = SIMD8<Float>(repeating: 0)
    var second = SIMD8<Float>(repeating: 0)
    var index = 0
    let (left, right) = unsafe (UnsafeRawPointer(a), UnsafeRawPointer(b))
    while index &+ 16 <= count {
      let byte = index &* 4
      unsafe first +=
        left.loadUnaligned(fromByteOffset: byte, as: SIMD8<Float>.self)
        * right.loadUnaligned(fromByteOffset: byte, as: SIMD8<Float>.self)
      unsafe second +=
        left.loadUnaligned(fromByteOffset: byte &+ 32, as: SIMD8<Float>.self)
        * right.loadUnaligned(fromByteOffset: byte &+ 32, as: SIMD8<Float>.self)
      index &+= 16
    }
    var sum = (first + second).sum()
    while index < count {
      unsafe sum += a[index] * b[index]
      index &+= 1
    }
    return sum
  }

  private static func dot(_ a: UnsafePointer<Int8>, _ b: UnsafePointer<Int16>, _ count: Int) -> Int32 {
    var sums = SIMD4<Int32>()
    var index = 0
    while index &+ 8 <= count {
      let values = unsafe UnsafeRawPointer(b + index).loadUnaligned(as: SIMD8<Int16>.self)
      sums &+= unsafe pairSums(eight(a + index), values)
      index &+= 8
    }
    var sum = sums.wrappedSum()
    while index < count {
      sum &+= unsafe Int32(a[index]) &* Int32(b[index])
      index &+= 1
    }
    return sum
  }

  private static func dot(_ a: UnsafePointer<Int8>, _ b: UnsafePointer<Int8>, _ count: Int) -> Int32 {
    var (first, second) = (SIMD4<Int32>(), SIMD4<Int32>())
    var index = 0
    while index &+ 16 <= count {
      first &+= unsafe pairSums(eight(a + index), eight(b + index))
      second &+= unsafe pairSums(eight(a + (index &+ 8)), eight(b + (index &+ 8)))
      index &+= 16
    }
    if index &+ 8 <= count {
      first &+= unsafe pairSums(eight(a + index), eight(b + index))
      index &+= 8
    }
    var sum = (first &+ second).wrappedSum()
    while index < count {
      sum &+= unsafe Int32(a[index]) &* Int32(b[index])
      index &+= 1
    }
    return sum
  }

  @inline(__always)
  private static func eight(_ bytes: UnsafePointer<Int8>) -> SIMD8<Int16> {
    unsafe SIMD8<Int16>(widening: UnsafeRawPointer(bytes).loadUnaligned(as: SIMD8<Int8>.self))
  }
}
