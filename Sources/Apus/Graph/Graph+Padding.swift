import ApusFormat

/// What a convolution reads: a tensor, and the rows and columns of padding that the model puts before it.
struct PaddedInput {
  let tensor: TensorSlot
  let top: Int
  let left: Int
}

/// A `PAD` whose only reader is a convolution takes no time and no memory: the convolution pads by itself.
extension Graph {
  /// Amounts beyond this are left to the `PAD`.
  private static let absorbedLimit = 256

  /// Lets the reader of `output` pad `input` itself, if it is one that can.
  ///
  /// `amounts` has the padding before and after each axis; it is filled with zeros, or with the zero point of `output`.
  func absorbPadding(_ output: TensorSlot, of input: TensorSlot, amounts: [Int]) -> Bool {
    guard !preservesAllTensors, !input.isConstant, input.shape.rank == 4, states[input.index].padding == nil,
      amounts[0...1].allSatisfy({ $0 == 0 }), amounts[6...7].allSatisfy({ $0 == 0 }),
      amounts.allSatisfy({ $0 <= Self.absorbedLimit }), isReadByConvolutionAlone(output)
    else { return false }
    share(output, with: input)
    states[output.index].padding = TensorState.Padding(tensor: input.index, top: amounts[2], left: amounts[4])
    return true
  }

  /// A convolution's input before the padding that the convolution does itself.
  func unpadded(_ input: TensorSlot) -> PaddedInput {
    guard let padding = states[input.index].padding, let shape = states[padding.tensor].shape else {
      return PaddedInput(tensor: input, top: 0, left: 0)
    }
    // What the convolution reads has the quantization of what it was given.
    let source = TensorSlot(
      index: padding.tensor, entry: input.entry, type: input.type, shape: shape, isConstant: false)
    return PaddedInput(tensor: source, top: padding.top, left: padding.left)
  }

  /// Whether one operator alone reads a tensor, as the first input of a convolution whose filter is of the same kind.
  private func isReadByConvolutionAlone(_ tensor: TensorSlot) -> Bool {
    let state = states[tensor.index]
    guard state.readerCount == 1, subgraph.operators.indices.contains(state.lastUse) else { return false }
    let reader = subgraph.operators[state.lastUse]
    guard reader.inputs.count >= 2, reader.inputs[0] == tensor.index, reader.inputs[1] >= 0 else {
      return false
    }
    switch model.file.operatorCodes[reader.operatorCode].code {
    case .conv2D, .depthwiseConv2D: break
    default: return false
    }
    return switch (tensor.type, states[reader.inputs[1]].type) {
    case (.float32, .float32), (.uint8, .uint8), (.int8, .int8): true
    default: false
    }
  }
}
