// SPDX-License-Identifier: Apache-2.0

/// A 2-D depthwise convolution of NHWC activations, in which each channel has its own filters, and its
/// epilogue.
///
/// The weights are `1 × filterHeight × filterWidth × outputChannels`; output channel `channel ·
/// depthMultiplier + m` belongs to input channel `channel`. The caller has validated everything, as for
/// `Convolution`.
@usableFromInline package struct DepthwiseConvolution: Hashable, Sendable {
  /// The number of images.
  @usableFromInline package var batches: Int
  /// Rows of one input image.
  @usableFromInline package var inputHeight: Int
  /// Columns of one input image.
  @usableFromInline package var inputWidth: Int
  /// Channels of the input.
  @usableFromInline package var inputChannels: Int
  /// Output channels per input channel.
  @usableFromInline package var depthMultiplier: Int
  /// Rows of the filter.
  @usableFromInline package var filterHeight: Int
  /// Columns of the filter.
  @usableFromInline package var filterWidth: Int
  /// Rows of one output image.
  @usableFromInline package var outputHeight: Int
  /// Columns of one output image.
  @usableFromInline package var outputWidth: Int
  /// Input rows between two output rows.
  package var strideHeight: Int
  /// Input columns between two output columns.
  package var strideWidth: Int
  /// Input rows between two filter rows.
  package var dilationHeight: Int
  /// Input columns between two filter columns.
  package var dilationWidth: Int
  /// Rows of zeros above the input.
  package var paddingTop: Int
  /// Columns of zeros left of the input.
  package var paddingLeft: Int
  /// The types and zero points of activations and weights.
  package var operands: MatrixOperands
  /// The computation of outputs from sums.
  package var epilogue: Epilogue

  /// Describes a depthwise convolution; by default with strides, dilations and multiplier of 1, and without
  /// padding.
  package init(
    batches: Int, inputHeight: Int, inputWidth: Int, inputChannels: Int, depthMultiplier: Int = 1,
    filterHeight: Int, filterWidth: Int, outputHeight: Int, outputWidth: Int,
    strideHeight: Int = 1, strideWidth: Int = 1, dilationHeight: Int = 1, dilationWidth: Int = 1,
    paddingTop: Int = 0, paddingLeft: Int = 0, operands: MatrixOperands, epilogue: Epilogue
  ) {
    self.batches = batches
    self.inputHeight = inputHeight
    self.inputWidth = inputWidth
    self.inputChannels = inputChannels
    self.depthMultiplier = depthMultiplier
    self.filterHeight = filterHeight
    self.filterWidth = filterWidth
    self.outputHeight = outputHeight
    self.outputWidth = outputWidth
    self.strideHeight = strideHeight
    self.strideWidth = strideWidth
    self.dilationHeight = dilationHeight
    self.dilationWidth = dilationWidth
    self.paddingTop = paddingTop
    self.paddingLeft = paddingLeft
    self.operands = operands
    self.epilogue = epilogue
  }
}

extension DepthwiseConvolution {
  /// This convolution with a smaller input and more padding above and left of it.
  package func reading(
    height: Int, width: Int, paddedBy padding: (top: Int, left: Int)
  ) -> DepthwiseConvolution {
    var result = self
    (result.inputHeight, result.inputWidth) = (height, width)
    result.paddingTop += padding.top
    result.paddingLeft += padding.left
    return result
  }

  /// Channels of the output.
  @inlinable package var outputChannels: Int { inputChannels * depthMultiplier }
  /// The products in each sum: the taps of the filter.
  @inlinable package var taps: Int { filterHeight * filterWidth }
  /// The input's size in elements.
  @inlinable package var inputCount: Int { batches * inputHeight * inputWidth * inputChannels }
  /// The output's size in elements.
  @inlinable package var outputCount: Int { batches * outputHeight * outputWidth * outputChannels }
  /// The weights' size in elements.
  var weightCount: Int { taps * outputChannels }

  /// This convolution with rows and columns swapped, if images and filter are one column wide: memory is the
  /// same, and kernels work along rows.
  package var alongRows: DepthwiseConvolution {
    guard inputWidth == 1, filterWidth == 1, outputWidth == 1, paddingLeft == 0 else { return self }
    var result = self
    (result.inputHeight, result.inputWidth) = (1, inputHeight)
    (result.filterHeight, result.filterWidth) = (1, filterHeight)
    (result.outputHeight, result.outputWidth) = (1, outputHeight)
    (result.strideHeight, result.strideWidth) = (1, strideHeight)
    (result.dilationHeight, result.dilationWidth) = (1, dilationHeight)
    (result.paddingTop, result.paddingLeft) = (0, paddingTop)
    return result
  }
}
