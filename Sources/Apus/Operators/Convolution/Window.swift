// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// How a window of taps slides over the height and width of an NHWC tensor.
struct Window {
  /// Sizes of the result.
  let outputHeight: Int
  let outputWidth: Int
  /// Rows and columns of padding before the first.
  let paddingTop: Int
  let paddingLeft: Int
  let strideHeight: Int
  let strideWidth: Int
  let dilationHeight: Int
  let dilationWidth: Int

  /// Checks padding, strides and dilations, and derives the size of the result.
  ///
  /// SAME gives `⌈in / stride⌉` and pads as needed, the odd element at the end; VALID uses whole windows only.
  ///
  /// With `mayMiss`, a window larger than the input has no positions, as in the reference's pooling.
  ///
  /// - Throws: if a stride or dilation is not positive, or sizes overflow.
  init(
    node: Node, input: TensorSlot, filterHeight: Int, filterWidth: Int, padding: Int, strideHeight: Int,
    strideWidth: Int, dilationHeight: Int = 1, dilationWidth: Int = 1, mayMiss: Bool = false
  ) throws(ApusError) {
    guard padding == 0 || padding == 1 else { throw node.malformed("padding \(padding) is unknown") }
    (self.strideHeight, self.strideWidth) = (strideHeight, strideWidth)
    (self.dilationHeight, self.dilationWidth) = (dilationHeight, dilationWidth)
    guard strideWidth > 0, strideHeight > 0, dilationWidth > 0, dilationHeight > 0 else {
      throw node.malformed(
        "strides \(strideHeight), \(strideWidth) and dilations \(dilationHeight), \(dilationWidth) must be positive"
      )
    }
    guard filterHeight > 0, filterWidth > 0 else {
      throw node.malformed("the window is \(filterHeight)×\(filterWidth); at least 1×1 is expected")
    }
    func extent(
      _ size: Int, _ filter: Int, _ stride: Int, _ dilation: Int
    ) throws(ApusError) -> (output: Int, before: Int) {
      let (reach, overflow) = (filter - 1).multipliedReportingOverflow(by: dilation)
      guard !overflow, reach < 1 << 40, size < 1 << 40 else {
        throw node.malformed("a window of \(filter) taps \(dilation) apart is too large")
      }
      let effective = reach + 1
      if padding == 1 {
        // A window that nearly fits gives an empty result, as in the reference.
        let output = (size + stride - effective) / stride
        guard output >= 0 || mayMiss else {
          throw node.malformed(
            "a window of \(effective) does not fit in the \(size) of \(input.name) without padding")
        }
        return (output, 0)
      }
      let output = (size + stride - 1) / stride
      return (output, max(0, (output - 1) * stride + effective - size) / 2)
    }
    let vertical = try extent(input.shape[1], filterHeight, strideHeight, dilationHeight)
    let horizontal = try extent(input.shape[2], filterWidth, strideWidth, dilationWidth)
    let isTooWide = horizontal.output < 0
    (outputHeight, paddingTop) = (isTooWide ? 0 : max(vertical.output, 0), vertical.before)
    (outputWidth, paddingLeft) = (max(horizontal.output, 0), horizontal.before)
  }
}

extension Convolution {
  /// Describes a convolution of NHWC images under a window; the second and third dimension of the filter are
  /// its height and width.
  init(
    _ window: Window, of input: TensorSlot, _ filter: TensorSlot, outputChannels: Int, groups: Int = 1,
    isDepthwise: Bool = false, operands: MatrixOperands, epilogue: Epilogue
  ) {
    self.init(
      batches: input.shape[0], inputHeight: input.shape[1], inputWidth: input.shape[2],
      inputChannels: input.shape[3], filterHeight: filter.shape[1], filterWidth: filter.shape[2],
      outputHeight: window.outputHeight, outputWidth: window.outputWidth, outputChannels: outputChannels,
      strideHeight: window.strideHeight, strideWidth: window.strideWidth,
      dilationHeight: window.dilationHeight, dilationWidth: window.dilationWidth,
      paddingTop: window.paddingTop, paddingLeft: window.paddingLeft, groups: groups,
      isDepthwise: isDepthwise, operands: operands, epilogue: epilogue)
  }
}
