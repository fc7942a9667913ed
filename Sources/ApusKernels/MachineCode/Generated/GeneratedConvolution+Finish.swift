/// What is done to floats right after they were computed.
extension GeneratedConvolution: FinishingConvolution {
  func run(
    _ packed: PackedWeights, input: RawSpan, other: RawSpan?, finish: FloatFinish,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(finishing != nil)
    guard let other else {
      precondition(!finish.addsOther)
      return unsafe run(
        packed, input: input, finish: finish, other: nil, output: &output, scratch: &scratch, threads: threads
      )
    }
    precondition(other.byteCount >= convolution.outputCount * 4)
    unsafe other.withUnsafeBytes { other in
      unsafe run(
        packed, input: input, finish: finish, other: other.baseAddress?.assumingMemoryBound(to: Float.self),
        output: &output, scratch: &scratch, threads: threads)
    }
  }

  /// Itself, where outputs are floats.
  var finishing: (any FinishingConvolution)? {
    switch convolution.epilogue {
    case .float32, .hybrid: self
    default: nil
    }
  }

  /// Does to the outputs of a tile what is to be done in the end.
  func finish(
    _ finish: Unmanaged<FloatFinish>, _ work: Work, pixels: Range<Int>, channels: Range<Int>
  ) {
    let output = unsafe work.memory.output.assumingMemoryBound(to: Float.self)
    let stride = convolution.outputChannels
    let finish = unsafe finish._withUnsafeGuaranteedRef { $0 }
    guard channels.count < stride else {
      return unsafe finish.apply(
        to: output, other: work.other, first: pixels.lowerBound &* stride, count: pixels.count &* stride)
    }
    for pixel in pixels {
      unsafe finish.apply(
        to: output, other: work.other, first: pixel &* stride &+ channels.lowerBound, count: channels.count)
    }
  }
}
