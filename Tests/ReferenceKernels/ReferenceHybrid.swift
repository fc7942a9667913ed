// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The specification of products of floats, quantized image by image as they come, with signed bytes as weights.
///
/// NaN does not count for an image's range. It becomes the lowest integer, as in LiteRT on x86, and so does what an
/// infinite range makes NaN of.
package enum ReferenceHybrid {
  /// Convolves; exact up to the order of the last operations, which is that of all kernels.
  package static func convolve(
    _ convolution: Convolution, input: [Float], weights: [UInt8], bias: [Float]?
  ) -> [Float] {
    let images = images(input, batches: convolution.batches, convolution.operands)
    return ReferenceConvolution.outputs(of: convolution) { output in
      var sum: Int32 = 0
      ReferenceConvolution.forEachTap(of: convolution, output) { inputIndex, weightIndex in
        sum &+= images.differences[inputIndex] &* Int32(Int8(bitPattern: weights[weightIndex]))
      }
      // Zero times an infinite scale is NaN, also without a tap.
      return value(
        sum, scale: images.scales[output.batch], channel: output.channel, bias: bias, convolution.epilogue)
    }
  }

  private static func value(
    _ sum: Int32, scale: Float, channel: Int, bias: [Float]?, _ epilogue: Epilogue
  ) -> Float {
    guard case .hybrid(let factors, let minimum, let maximum, let areWeightsFirst) = epilogue else {
      return .nan
    }
    let factor = factors.count > 1 ? factors[channel] : factors[0]
    let scaled = areWeightsFirst ? Float(sum) * factor * scale : Float(sum) * (factor * scale)
    return min(max(scaled + (bias?[channel] ?? 0), minimum), maximum)
  }

  private static func images(
    _ input: [Float], batches: Int, _ operands: MatrixOperands
  ) -> (differences: [Int32], scales: [Float]) {
    guard case .hybrid(let isAsymmetric) = operands else { return ([], []) }
    let count = input.count / max(1, batches)
    var result: (differences: [Int32], scales: [Float]) = ([], [])
    for batch in 0..<batches {
      let image = input[batch * count..<(batch + 1) * count]
      let numbers = image.filter { !$0.isNaN }
      let (least, most) = (numbers.min() ?? 0, numbers.max() ?? 0)
      var (scale, inverse, zeroPoint): (Float, Float, Float) = (1, 0, 0)
      var isZero = true
      if !isAsymmetric {
        let range = max(abs(least), abs(most))
        if range > 0 { (scale, inverse) = (range / 127, 127 / range) }
        isZero = range == 0
      } else if min(0, least) < max(0, most) {
        let (low, high) = (Double(min(0, least)), Double(max(0, most)))
        // LiteRT takes the range in single precision; `float32_hybrid_…` of GRAPHS.zip shows it.
        let step = Double(max(0, most) - min(0, least)) / 255
        // The end of the range from which the zero point is found with the lesser error.
        let exact = 128 + abs(low / step) < 127 + abs(high / step) ? -128 - low / step : 127 - high / step
        zeroPoint = exact.isNaN ? 0 : Float(min(max(exact.rounded(.toNearestOrAwayFromZero), -128), 127))
        isZero = false
        scale = Float(step)
        inverse = 1 / scale
      }
      result.scales.append(scale)
      result.differences += image.map {
        if isZero { return 0 }
        let low: Float = isAsymmetric ? -128 : -127
        let rounded = ($0 * inverse).rounded(.toNearestOrAwayFromZero) + zeroPoint
        return Int32((rounded > low ? min(rounded, 127) : low) - zeroPoint)
      }
    }
    return result
  }
}
