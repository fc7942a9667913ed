// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The specification of products of bfloat16: one output at a time, one product at a time, each addition in double
/// precision, rounded to odd so that the second rounding is the only one that counts.
package enum ReferenceBFloat16 {
  /// The nearest bfloat16, found by its distance; of two as near, the one whose last digit is even.
  package static func rounded(_ value: Float) -> Float {
    guard value.isFinite else { return value }
    guard value.magnitude >= .leastNormalMagnitude else { return value.sign == .minus ? -0.0 : 0 }
    let below = Float(bitPattern: value.magnitude.bitPattern & 0xFFFF_0000)
    let above = Float(bitPattern: below.bitPattern + 0x1_0000)
    // Beyond the range, the next number would be a power of two.
    let next = above.isInfinite ? 0x1p128 : Double(above)
    let (down, up) = (Double(value.magnitude) - Double(below), next - Double(value.magnitude))
    let isEven = below.bitPattern & 0x1_0000 == 0
    let magnitude = down < up || down == up && isEven ? below : above
    return value.sign == .minus ? -magnitude : magnitude
  }

  /// `sum + a · w` with one rounding; results below the normal floats become zero.
  package static func adding(_ a: Float, _ w: Float, to sum: Float) -> Float {
    let (product, term) = (Double(a) * Double(w), Double(sum))
    var exact = product + term
    guard exact.isFinite else { return Float(exact) }
    let part = exact - product
    let error = (product - (exact - part)) + (term - part)
    if error != 0, exact.bitPattern & 1 == 0 { exact = error > 0 ? exact.nextUp : exact.nextDown }
    if exact.magnitude < 0x1p-120 {
      let scaled = Float(exact * 0x1p64)
      return scaled.magnitude < 0x1p-62 ? (exact.sign == .minus ? -0.0 : 0) : scaled * 0x1p-64
    }
    return Float(exact)
  }

  /// `first + second` with one rounding; results below the normal floats become zero.
  package static func adding(_ first: Float, _ second: Float) -> Float {
    // A double has more than twice the digits of a float, so that rounding twice is rounding once.
    let sum = Float(Double(first) + Double(second))
    return sum.magnitude < .leastNormalMagnitude ? (sum.sign == .minus ? -0.0 : 0) : sum
  }

  /// The sum of products in an order.
  package static func sum(_ products: [(a: Float, w: Float)], _ order: BFloat16Order) -> Float {
    var sum: Float = 0
    switch order {
    case .pairs:
      for first in stride(from: 0, to: products.count, by: 2) {
        for (a, w) in [products[first + 1], products[first]] { sum = adding(a, w, to: sum) }
      }
    case .parts(let pairs):
      for first in stride(from: 0, to: products.count, by: 2 * pairs) {
        var sums: [Float] = [0, 0]
        for term in 0..<2 * pairs {
          let (a, w) = products[first + term]
          sums[term % 2] = adding(a, w, to: sums[term % 2])
        }
        sum = adding(sum, adding(sums[0], sums[1]))
      }
    }
    return sum
  }

  /// Convolves floats; the padding is zeros, which are multiplied, too.
  package static func convolution(
    _ convolution: Convolution, input: [Float], weights: [Float], bias: [Float]?
  ) -> [Float] {
    let c = convolution
    guard case .float32(let minimum, let maximum) = c.epilogue, case .bfloat16(let order) = c.operands
    else { return [] }
    let (input, weights) = (input.map(rounded), weights.map(rounded))
    let depth = c.channelsPerGroup
    return ReferenceConvolution.outputs(of: c) { output in
      var products: [(a: Float, w: Float)] = []
      let group = output.channel / c.columnCount
      for filterRow in 0..<c.filterHeight {
        let y = output.row * c.strideHeight + filterRow * c.dilationHeight - c.paddingTop
        for filterColumn in 0..<c.filterWidth {
          let x = output.column * c.strideWidth + filterColumn * c.dilationWidth - c.paddingLeft
          let isInside = (0..<c.inputHeight).contains(y) && (0..<c.inputWidth).contains(x)
          let pixel =
            ((output.batch * c.inputHeight + y) * c.inputWidth + x) * c.inputChannels + group * depth
          let tap = ((output.channel * c.filterHeight + filterRow) * c.filterWidth + filterColumn) * depth
          for term in 0..<depth { products.append((isInside ? input[pixel + term] : 0, weights[tap + term])) }
        }
      }
      let value = sum(products, order) + (bias?[output.channel] ?? 0)
      return value < minimum ? minimum : value > maximum ? maximum : value
    }
  }
}
