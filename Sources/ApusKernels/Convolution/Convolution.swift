// SPDX-License-Identifier: Apache-2.0

/// A 2-D convolution of NHWC activations with OHWI weights, and its epilogue.
///
/// As a matrix product: M = output pixels, N = output channels, K = filter height × width × input channels,
/// per group. A fully connected layer has a 1×1 filter, and its rows are batches. In a depthwise convolution,
/// each input channel is a group. The caller has validated everything: counts are positive (outputs may be
/// zero), products do not overflow, zero points are in the range of their type, and both channel counts are
/// multiples of `groups`.
@usableFromInline package struct Convolution: Hashable, Sendable {
  /// The number of images.
  @usableFromInline package var batches: Int
  /// How the filter slides over the rows of an image.
  @usableFromInline package var vertical: WindowAxis
  /// How the filter slides over the columns of an image.
  @usableFromInline package var horizontal: WindowAxis
  /// Channels of the input, of all groups.
  @usableFromInline package var inputChannels: Int
  /// Channels of the output, of all groups.
  @usableFromInline package var outputChannels: Int
  /// The number of groups that the channels are divided into.
  @usableFromInline package var groups: Int
  /// Whether each input channel is a group, and weights are `1 × filterHeight × filterWidth × outputChannels`.
  package var isDepthwise: Bool
  /// The types and zero points of activations and weights.
  package var operands: MatrixOperands
  /// The computation of outputs from sums.
  package var epilogue: Epilogue
  /// Whether weights come with each run, so that packing them takes time from it.
  package var hasTransientWeights = false

  /// Describes a convolution; by default with one group. With `isDepthwise`, there are as many groups as input channels.
  package init(
    batches: Int, vertical: WindowAxis, horizontal: WindowAxis, inputChannels: Int, outputChannels: Int,
    groups: Int = 1, isDepthwise: Bool = false, operands: MatrixOperands, epilogue: Epilogue
  ) {
    self.batches = batches
    self.vertical = vertical
    self.horizontal = horizontal
    self.inputChannels = inputChannels
    self.outputChannels = outputChannels
    self.groups = isDepthwise ? inputChannels : groups
    self.isDepthwise = isDepthwise
    self.operands = operands
    self.epilogue = epilogue
  }

  /// Describes a convolution by its sizes; by default with strides, dilations and groups of 1, and without padding.
  package init(
    batches: Int, inputHeight: Int, inputWidth: Int, inputChannels: Int,
    filterHeight: Int, filterWidth: Int,
    outputHeight: Int, outputWidth: Int, outputChannels: Int,
    strideHeight: Int = 1, strideWidth: Int = 1, dilationHeight: Int = 1, dilationWidth: Int = 1,
    paddingTop: Int = 0, paddingLeft: Int = 0, groups: Int = 1,
    isDepthwise: Bool = false, operands: MatrixOperands, epilogue: Epilogue
  ) {
    self.init(
      batches: batches,
      vertical: WindowAxis(
        size: inputHeight, places: outputHeight, taps: filterHeight, stride: strideHeight,
        dilation: dilationHeight, padding: paddingTop),
      horizontal: WindowAxis(
        size: inputWidth, places: outputWidth, taps: filterWidth, stride: strideWidth,
        dilation: dilationWidth, padding: paddingLeft),
      inputChannels: inputChannels, outputChannels: outputChannels, groups: groups, isDepthwise: isDepthwise,
      operands: operands, epilogue: epilogue)
  }

  /// Describes a fully connected layer: M×K activations times N×K weights.
  package init(rows: Int, depth: Int, columns: Int, operands: MatrixOperands, epilogue: Epilogue) {
    self.init(
      batches: rows, vertical: WindowAxis(), horizontal: WindowAxis(), inputChannels: depth,
      outputChannels: columns, operands: operands, epilogue: epilogue)
  }
}

extension Convolution {
  /// Rows of one input image.
  @inlinable package var inputHeight: Int { vertical.size }
  /// Columns of one input image.
  @inlinable package var inputWidth: Int { horizontal.size }
  /// Rows of the filter.
  @inlinable package var filterHeight: Int { vertical.taps }
  /// Columns of the filter.
  @inlinable package var filterWidth: Int { horizontal.taps }
  /// Rows of one output image.
  @inlinable package var outputHeight: Int { vertical.places }
  /// Columns of one output image.
  @inlinable package var outputWidth: Int { horizontal.places }
  /// Input rows between two output rows.
  @inlinable package var strideHeight: Int { vertical.stride }
  /// Input columns between two output columns.
  @inlinable package var strideWidth: Int { horizontal.stride }
  /// Input rows between two filter rows.
  @inlinable package var dilationHeight: Int { vertical.dilation }
  /// Input columns between two filter columns.
  @inlinable package var dilationWidth: Int { horizontal.dilation }
  /// Rows of zeros above the input.
  @inlinable package var paddingTop: Int { vertical.padding }
  /// Columns of zeros left of the input.
  @inlinable package var paddingLeft: Int { horizontal.padding }

  /// This convolution with a smaller input and more padding above and left of it.
  package func reading(height: Int, width: Int, paddedBy padding: (top: Int, left: Int)) -> Convolution {
    var result = self
    (result.vertical.size, result.horizontal.size) = (height, width)
    result.vertical.padding += padding.top
    result.horizontal.padding += padding.left
    return result
  }

  /// M: the number of output pixels.
  @inlinable package var rowCount: Int { batches * outputHeight * outputWidth }
  /// N: the output channels of one group.
  @inlinable package var columnCount: Int { outputChannels / groups }
  /// Output channels for each input channel of a depthwise convolution.
  @inlinable package var depthMultiplier: Int { outputChannels / inputChannels }
  /// Input channels of one group.
  @inlinable package var channelsPerGroup: Int { inputChannels / groups }
  /// The taps of the filter.
  @inlinable @inline(__always) package var taps: Int { filterHeight * filterWidth }
  /// Input rows from the first tap of an output to its last.
  @inlinable package var reachHeight: Int { vertical.reach }
  /// Input columns from the first tap of an output to its last.
  @inlinable package var reachWidth: Int { horizontal.reach }
  /// K: the products in each sum.
  @inlinable @inline(__always) package var depth: Int { taps * channelsPerGroup }
  /// The input's size in elements.
  @inlinable package var inputCount: Int { batches * inputHeight * inputWidth * inputChannels }
  /// The output's size in elements.
  @inlinable package var outputCount: Int { rowCount * outputChannels }
  /// The weights' size in elements.
  @inlinable package var weightCount: Int { outputChannels * depth }

  /// Whether each row of the matrix product is a row of the input, so that nothing is gathered.
  package var readsInputInPlace: Bool {
    filterHeight == 1 && filterWidth == 1 && strideHeight == 1 && strideWidth == 1
      && paddingTop == 0 && paddingLeft == 0 && outputHeight == inputHeight && outputWidth == inputWidth
  }

  /// Whether a tap lies outside the input at some pixel of the output.
  package var reachesOutside: Bool {
    batches > 0 && outputHeight > 0 && outputWidth > 0
      && (vertical.reachesOutside || horizontal.reachesOutside)
  }

  /// The minimum number of taps for ``filter``.
  package static let minimumFilterTaps = 16

  /// This convolution as a depthwise one, whose kernels compute many pixels at once: for filters of a single
  /// float channel; nil for all others.
  package var filter: Convolution? {
    guard operands == .float32, inputChannels == 1, outputChannels == 1, taps >= Self.minimumFilterTaps
    else { return nil }
    var result = self
    result.isDepthwise = true
    return result
  }

  /// This convolution with rows and columns swapped, if images and filter are one column wide: memory is the
  /// same, and kernels work along rows.
  package var alongRows: Convolution {
    guard inputWidth == 1, filterWidth == 1, outputWidth == 1, paddingLeft == 0 else { return self }
    var result = self
    (result.vertical, result.horizontal) = (WindowAxis(), vertical)
    return result
  }
}
