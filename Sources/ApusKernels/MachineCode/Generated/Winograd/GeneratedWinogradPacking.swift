/// Weights of a Winograd convolution as they are kept: bytes, in the order in which they are transformed when they are used.
///
/// Transforming bytes that lie in a cache takes less time than to read four times as many words from beyond it, and no
/// memory. Packed layout: a word that says how it is packed; the biases, in the order of the panels' lanes; for each panel and
/// step the nine weights of each lane's pair of channels.
struct GeneratedWinogradPacking {
  let plan: GeneratedWinogradPlan
  let operands: ByteOperands
  /// The greatest magnitude of sums that outputs can be made of.
  let sumLimit: Int

  /// Sums up to this magnitude are exact: see Docs/Kernels.md.
  private static let exactLimit = 1 << 25 - 1
  /// The first word; other layouts begin with a smaller one.
  private static let mark = 9
  static let taps = 9

  private var convolution: Convolution { plan.convolution }
  var offsets: Int { 64 }
  private var weightsOffset: Int { roundedUp(offsets + 4 * plan.paddedColumnCount, to: 64) }

  /// The bytes of a step of one vector of columns: each of its nine weights is a pair of channels for each column.
  private var unitByteCount: Int { Self.taps * plan.vectorByteCount / 2 }
  func units(_ panel: GeneratedConvolutionPlan.Panel) -> Int { plan.stepCount &* panel.vectorCount }

  /// Where a panel's weights begin.
  func weights(_ panel: GeneratedConvolutionPlan.Panel) -> Int {
    weightsOffset
      &+ plan.stepCount &* (panel.paddedBefore &* 4 / plan.vectorByteCount) &* unitByteCount
  }

  var byteCount: Int {
    weightsOffset + plan.stepCount * plan.paddedColumnCount * 4 / plan.vectorByteCount * unitByteCount
  }

  /// Whether memory was packed by this, not by what serves weights that would not be exact.
  static func isPacked(_ packed: PackedWeights) -> Bool { unsafe packed.address.load(as: Int.self) == mark }

  /// Packs weights and bias; false, and nothing is written, where some sum might not be exact.
  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) -> Bool {
    precondition(weights.byteCount >= convolution.weightCount && packed.byteCount >= byteCount)
    return unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return false }
      for channel in 0..<convolution.outputChannels {
        let bias = unsafe bias?.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: Int32.self) ?? 0
        guard unsafe isExact(weights + channel * convolution.depth, bias: bias) else { return false }
      }
      unsafe packed.address.storeBytes(of: Self.mark, as: Int.self)
      for panel in plan.panels { unsafe pack(panel, weights: weights, bias: bias, into: packed.address) }
      return true
    }
  }

  /// Whether a channel's sums are exact, whatever the activations.
  ///
  /// Those lie in `−z…255−z`. The greatest sum has the greatest of them for all positive weights and the least for all
  /// negative ones; the least sum the other way round.
  private func isExact(_ weights: UnsafeRawPointer, bias: Int32) -> Bool {
    let count = convolution.depth
    let flips = SIMD8<UInt8>(repeating: operands.signFlip)
    let zeroPoints = SIMD8<Int16>(repeating: Int16(truncatingIfNeeded: operands.rhsZeroPoint))
    let ones = SIMD8<Int16>(repeating: 1)
    var (positive, negative) = (SIMD4<Int32>(), SIMD4<Int32>())
    var index = 0
    while index < count {
      var bytes = SIMD8(lowBytes: zeroPoints)
      if index &+ 8 <= count {
        bytes = unsafe weights.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self) ^ flips
      } else {
        for lane in 0..<count &- index {
          bytes[lane] = unsafe weights.load(fromByteOffset: index &+ lane, as: UInt8.self) ^ operands.signFlip
        }
      }
      let values = SIMD8<Int16>(widening: bytes) &- zeroPoints
      let signs = values &>> 15
      positive &+= pairSums(values & ~signs, ones)
      negative &-= pairSums(values & signs, ones)
      index &+= 8
    }
    let (most, least) = (255 - Int(operands.lhsZeroPoint), Int(operands.lhsZeroPoint))
    let (p, n) = (Int(positive.wrappedSum()), Int(negative.wrappedSum()))
    let sum = max(p * most + n * least, p * least + n * most)
    return sum <= Self.exactLimit && sum + abs(Int(bias)) <= sumLimit
  }

  private func pack(
    _ panel: GeneratedConvolutionPlan.Panel, weights: UnsafeRawPointer, bias: RawSpan?,
    into packed: UnsafeMutableRawPointer
  ) {
    let (channels, depth) = (convolution.inputChannels, convolution.depth)
    let lanes = plan.vectorByteCount / 4
    let zero = UInt16(UInt8(truncatingIfNeeded: operands.rhsZeroPoint) ^ operands.signFlip) &* 0x0101
    let unitStride = unitByteCount &* panel.vectorCount
    for (place, column) in plan.columns(panel).enumerated() {
      var target = unsafe packed + self.weights(panel) + place / lanes * unitByteCount + place % lanes * 2
      let channel = panel.firstColumn + column
      let exists = column < panel.columnCount
      if exists, let bias {
        let bits = unsafe bias.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self)
        unsafe packed.storeBytes(
          of: bits, toByteOffset: offsets + (panel.paddedBefore + place) * 4, as: UInt32.self)
      }
      let source = unsafe weights + (exists ? channel * depth : 0)
      for step in 0..<plan.stepCount {
        for tap in 0..<Self.taps {
          var pair = zero
          if exists {
            let first = tap &* channels &+ 2 &* step
            if 2 &* step &+ 1 < channels {
              pair = unsafe source.loadUnaligned(fromByteOffset: first, as: UInt16.self).littleEndian
            } else {
              pair = zero & 0xFF00 | UInt16(unsafe source.load(fromByteOffset: first, as: UInt8.self))
            }
          }
          unsafe target.storeBytes(of: pair.littleEndian, toByteOffset: tap &* lanes &* 2, as: UInt16.self)
        }
        unsafe target += unitStride
      }
    }
  }
}
