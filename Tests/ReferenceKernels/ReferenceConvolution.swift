// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The specification of convolutions: one output at a time, one tap at a time.
package enum ReferenceConvolution {
  /// Convolves bytes; every sum wraps at 32 bits, every tap in the padding adds nothing.
  package static func bytes(
    _ convolution: Convolution, input: [UInt8], weights: [UInt8], bias: [Int32]?
  ) -> [UInt8] {
    outputs(of: convolution) { output in
      var sum: Int32 = 0
      forEachTap(of: convolution, output) { inputIndex, weightIndex in
        sum &+=
          difference(input[inputIndex], \.lhs, convolution.operands)
          &* difference(weights[weightIndex], \.rhs, convolution.operands)
      }
      sum &+= bias?[output.channel] ?? 0
      return outputByte(sum, channel: output.channel, convolution.epilogue)
    }
  }

  /// Convolves floats, summed in double precision, so that a kernel's own rounding is all that differs.
  package static func floats(
    _ convolution: Convolution, input: [Float], weights: [Float], bias: [Float]?
  ) -> [Float] {
    outputs(of: convolution) { output in
      var sum = 0.0
      forEachTap(of: convolution, output) { inputIndex, weightIndex in
        sum += Double(input[inputIndex]) * Double(weights[weightIndex])
      }
      return clamp(sum + Double(bias?[output.channel] ?? 0), convolution.epilogue)
    }
  }

  struct Output {
    let batch: Int
    let row: Int
    let column: Int
    let channel: Int
  }

  static func outputs<Element>(of convolution: Convolution, _ value: (Output) -> Element) -> [Element] {
    var result: [Element] = []
    for batch in 0..<convolution.batches {
      for row in 0..<convolution.outputHeight {
        for column in 0..<convolution.outputWidth {
          for channel in 0..<convolution.outputChannels {
            result.append(value(Output(batch: batch, row: row, column: column, channel: channel)))
          }
        }
      }
    }
    return result
  }

  static func forEachTap(of convolution: Convolution, _ output: Output, _ body: (Int, Int) -> Void) {
    let depth = convolution.inputChannels / convolution.groups
    let group = output.channel / (convolution.outputChannels / convolution.groups)
    for filterRow in 0..<convolution.filterHeight {
      let y =
        output.row * convolution.strideHeight + filterRow * convolution.dilationHeight
        - convolution.paddingTop
      guard (0..<convolution.inputHeight).contains(y) else { continue }
      for filterColumn in 0..<convolution.filterWidth {
        let x =
          output.column * convolution.strideWidth + filterColumn * convolution.dilationWidth
          - convolution.paddingLeft
        guard (0..<convolution.inputWidth).contains(x) else { continue }
        for term in 0..<depth {
          let pixel = (output.batch * convolution.inputHeight + y) * convolution.inputWidth + x
          let tap = filterRow * convolution.filterWidth + filterColumn
          let taps = convolution.filterHeight * convolution.filterWidth
          let weight =
            convolution.isDepthwise
            ? tap * convolution.outputChannels + output.channel
            : (output.channel * taps + tap) * depth + term
          body(pixel * convolution.inputChannels + group * depth + term, weight)
        }
      }
    }
  }
}
