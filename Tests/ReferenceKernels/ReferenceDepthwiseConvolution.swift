// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The specification of depthwise convolutions.
package enum ReferenceDepthwiseConvolution {
  /// Convolves bytes; every sum wraps at 32 bits, every tap in the padding adds nothing.
  package static func bytes(
    _ convolution: DepthwiseConvolution, input: [UInt8], weights: [UInt8], bias: [Int32]?
  ) -> [UInt8] {
    outputs(of: convolution) { taps, channel, _ in
      var sum: Int32 = 0
      for (inputIndex, weightIndex) in taps {
        sum &+=
          difference(input[inputIndex], \.lhs, convolution.operands)
          &* difference(weights[weightIndex], \.rhs, convolution.operands)
      }
      return outputByte(sum &+ (bias?[channel] ?? 0), channel: channel, convolution.epilogue)
    }
  }

  /// Convolves floats, summed in double precision.
  package static func floats(
    _ convolution: DepthwiseConvolution, input: [Float], weights: [Float], bias: [Float]?
  ) -> [Float] {
    outputs(of: convolution) { taps, channel, _ in
      var sum = Double(bias?[channel] ?? 0)
      for (inputIndex, weightIndex) in taps {
        sum += Double(input[inputIndex]) * Double(weights[weightIndex])
      }
      return clamp(sum, convolution.epilogue)
    }
  }

  static func outputs<Element>(
    of convolution: DepthwiseConvolution, _ value: ([(Int, Int)], Int, Int) -> Element
  ) -> [Element] {
    let channels = convolution.inputChannels * convolution.depthMultiplier
    var result: [Element] = []
    for batch in 0..<convolution.batches {
      for row in 0..<convolution.outputHeight {
        for column in 0..<convolution.outputWidth {
          for channel in 0..<channels {
            var taps: [(Int, Int)] = []
            for filterRow in 0..<convolution.filterHeight {
              for filterColumn in 0..<convolution.filterWidth {
                let y = row * convolution.strideHeight + filterRow * convolution.dilationHeight
                let x = column * convolution.strideWidth + filterColumn * convolution.dilationWidth
                let inputRow = y - convolution.paddingTop
                let inputColumn = x - convolution.paddingLeft
                guard (0..<convolution.inputHeight).contains(inputRow),
                  (0..<convolution.inputWidth).contains(inputColumn)
                else { continue }
                let line = batch * convolution.inputHeight + inputRow
                let pixel = line * convolution.inputWidth + inputColumn
                taps.append(
                  (
                    pixel * convolution.inputChannels + channel / convolution.depthMultiplier,
                    (filterRow * convolution.filterWidth + filterColumn) * channels + channel
                  ))
              }
            }
            result.append(value(taps, channel, batch))
          }
        }
      }
    }
    return result
  }
}
