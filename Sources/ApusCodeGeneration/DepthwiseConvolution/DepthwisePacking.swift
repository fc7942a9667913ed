// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// Packs depthwise weights for generated code.
///
/// Packed memory has, in this order: the head, with a record for each block of channels; the offsets that are
/// added to sums; for each block the weights of its groups of taps, then of extra groups, then the index of
/// the group that each of those repeats.
struct DepthwisePacking {
  let plan: DepthwisePlan
  private(set) var terms: WeightTerms

  private var groupByteCount: Int { plan.blockChannels * 4 }

  /// The position of a block's offsets.
  func offsets(block: Int) -> Int {
    roundedUp(WeightTerms.recordOffset(plan.blockCount), to: 64) + block * groupByteCount
  }

  private var weightsOffset: Int { roundedUp(offsets(block: plan.blockCount), to: 64) }

  var byteCount: Int {
    let groups = plan.blockCount * plan.groupCount
    let extras = terms.mayHaveExtras ? groups * 2 * (groupByteCount + 8) + plan.blockCount * 64 : 0
    return weightsOffset + groups * groupByteCount + extras
  }

  func byteCount(for weights: RawSpan) -> Int {
    guard terms.mayHaveExtras, weights.byteCount >= plan.tapCount * plan.channels else { return byteCount }
    var total = weightsOffset + plan.blockCount * plan.groupCount * groupByteCount
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress, unsafe hasExtras(weights) else { return }
      for block in 0..<plan.blockCount {
        var extras = 0
        for group in 0..<plan.groupCount {
          extras += unsafe extraCount(weights, block: block, group: group)
        }
        total += extras * groupByteCount + roundedUp(8 * extras, to: 64)
      }
    }
    return total
  }

  /// Whether any weight needs an extra K-step.
  private func hasExtras(_ weights: UnsafeRawPointer) -> Bool {
    guard terms.mayHaveExtras, let operands = terms.operands else { return false }
    var (least, most) = (UInt8.max, UInt8.min)
    for index in 0..<plan.tapCount * plan.channels {
      let weight = unsafe weights.load(fromByteOffset: index, as: UInt8.self) ^ operands.signFlip
      least = min(least, weight)
      most = max(most, weight)
    }
    return !terms.bounds.contains(Int32(least) &- operands.rhsZeroPoint)
      || !terms.bounds.contains(Int32(most) &- operands.rhsZeroPoint)
  }

  /// A byte weight minus its zero point; zero for a group's missing taps.
  @inline(__always)
  private func value(_ weights: UnsafeRawPointer, tap: Int?, channel: Int, _ operands: ByteOperands) -> Int32
  {
    guard let tap else { return 0 }
    return unsafe terms.value(weights, tap &* plan.channels &+ channel, operands)
  }

  private func extraCount(_ weights: UnsafeRawPointer, block: Int, group: Int) -> Int {
    guard let operands = terms.operands, terms.mayHaveExtras else { return 0 }
    var count = 0
    let taps = plan.taps(group: group)
    let first = block * plan.blockChannels
    for index in first..<min(first + plan.blockChannels, plan.channels * plan.pixelsTogether) {
      for tap in taps {
        let value = unsafe value(weights, tap: tap, channel: index % plan.channels, operands)
        count = max(count, terms.extraCount(value))
      }
    }
    return count
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    let (channels, groupCount) = (plan.channels, plan.groupCount)
    precondition(
      weights.byteCount >= plan.tapCount * channels * terms.elementByteCount
        && packed.byteCount >= weightsOffset + plan.blockCount * groupCount * groupByteCount)
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      let hasExtras = unsafe hasExtras(weights)
      // Per channel: 32 bits for each group, and the offset.
      unsafe withUnsafeTemporaryAllocation(of: UInt32.self, capacity: (groupCount + 1) * channels) { lanes in
        guard let lanes = lanes.baseAddress else { return }
        let offsets = unsafe lanes + groupCount * channels
        WeightTerms.setBounds(unsafe fill(lanes, offsets, weights, bias), in: packed)
        var next = weightsOffset
        for block in 0..<plan.blockCount {
          var record = WeightTerms.Record(weights: next, extras: 0, extraCount: 0)
          for (place, column) in plan.weightColumns.enumerated() {
            guard let channel = plan.channel(block: block, column: column) else { continue }
            var target = unsafe packed.address + next + place &* 4
            for group in 0..<groupCount {
              unsafe target.storeBytes(of: lanes[group &* channels &+ channel], as: UInt32.self)
              unsafe target += groupByteCount
            }
          }
          next += groupCount * groupByteCount
          record.extras = next
          if hasExtras { unsafe packExtras(weights, block: block, to: &record, in: packed, next: &next) }
          WeightTerms.setRecord(record, block, in: packed)
          for (place, column) in plan.columns.enumerated() {
            let offset = plan.channel(block: block, column: column).map { unsafe offsets[$0] } ?? 0
            unsafe packed.address.storeBytes(
              of: offset, toByteOffset: self.offsets(block: block) + place * 4, as: UInt32.self)
          }
        }
      }
    }
    if let bounds = WeightTerms.bounds(packed), bounds != .kept, terms.faint != nil {
      // The code for any sum makes the outputs then; it uses the factors as given.
      var general = self
      general.terms = terms.general
      general.pack(weights: weights, bias: bias, into: packed)
      WeightTerms.setBounds(bounds, in: packed)
    }
  }

  /// Computes the 32 bits of each group and channel, and each channel's offset; returns whether all sums keep
  /// within the limit.
  private func fill(
    _ lanes: UnsafeMutablePointer<UInt32>, _ offsets: UnsafeMutablePointer<UInt32>,
    _ weights: UnsafeRawPointer, _ bias: RawSpan?
  ) -> SumBounds {
    let (channels, tapCount) = (plan.channels, plan.tapCount)
    for channel in 0..<channels {
      unsafe offsets[channel] =
        bias?.unsafeLoadUnaligned(fromByteOffset: channel &* 4, as: UInt32.self) ?? 0
    }
    guard let operands = terms.operands else {
      unsafe UnsafeMutableRawPointer(lanes).copyMemory(from: weights, byteCount: tapCount * channels * 4)
      return .kept
    }
    unsafe lanes.update(repeating: 0, count: plan.groupCount * channels)
    let (bits, laneBits): (UInt32, UInt32) = terms.areWords ? (0xFFFF, 16) : (0xFF, 8)
    return unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * channels) { sums in
      guard let sums = sums.baseAddress else { return .exceeded }
      let magnitudes = unsafe sums + channels
      unsafe sums.update(repeating: 0, count: 2 * channels)
      for group in 0..<plan.groupCount {
        let lanes = unsafe lanes + group * channels
        let first = unsafe fillEights(lanes, sums, magnitudes, weights, operands, group: group)
        for index in 0..<plan.tapsPerGroup {
          guard let tap = plan.tap(group: group, index: index) else { continue }
          let shift = laneBits &* UInt32(truncatingIfNeeded: index)
          for channel in first..<channels {
            let value = unsafe terms.value(weights, tap &* channels &+ channel, operands)
            unsafe lanes[channel] |= (UInt32(bitPattern: terms.bounded(value)) & bits) &<< shift
            unsafe sums[channel] &+= value
            unsafe magnitudes[channel] &+= abs(value)
          }
        }
      }
      var bounds = SumBounds.kept
      for channel in 0..<channels {
        let offset = unsafe terms.offset(
          bias: offsets[channel], channel: channel, sum: sums[channel], count: tapCount,
          magnitude: Int(magnitudes[channel]))
        unsafe offsets[channel] = offset.bits
        if case .kept = bounds { bounds = offset.bounds }
      }
      return bounds
    }
  }

  /// Computes the 32 bits of one group for channels by eights, and adds to their sums; returns how many
  /// channels it did.
  private func fillEights(
    _ lanes: UnsafeMutablePointer<UInt32>, _ sums: UnsafeMutablePointer<Int32>,
    _ magnitudes: UnsafeMutablePointer<Int32>, _ weights: UnsafeRawPointer, _ operands: ByteOperands,
    group: Int
  ) -> Int {
    let (channels, areWords, isSplit) = (plan.channels, terms.areWords, terms.mayHaveExtras)
    let flips = SIMD8<UInt8>(repeating: operands.signFlip)
    let zeroPoints = SIMD8<Int16>(repeating: Int16(truncatingIfNeeded: operands.rhsZeroPoint))
    let least = SIMD8(repeating: Int16(truncatingIfNeeded: terms.bounds.lowerBound))
    let most = SIMD8(repeating: Int16(truncatingIfNeeded: terms.bounds.upperBound))
    func start(_ index: Int) -> Int {
      guard index < plan.tapsPerGroup, let tap = plan.tap(group: group, index: index) else { return -1 }
      return tap &* channels
    }
    let (start0, start1, start2, start3) = (start(0), start(1), start(2), start(3))
    let end = channels & ~7
    var channel = 0
    while channel < end {
      var (sum, magnitude) = (SIMD8<Int16>(), SIMD8<Int16>())
      @inline(__always)
      func values(_ start: Int) -> SIMD8<Int16> {
        guard start >= 0 else { return SIMD8<Int16>() }
        let bytes = unsafe weights.loadUnaligned(fromByteOffset: start &+ channel, as: SIMD8<UInt8>.self)
        let values = SIMD8<Int16>(widening: bytes ^ flips) &- zeroPoints
        let signs = values &>> 15
        sum &+= values
        magnitude &+= (values ^ signs) &- signs
        return isSplit && !areWords ? values.bounded(least, most) : values
      }
      let (values0, values1) = (values(start0), values(start1))
      let (values2, values3) = (values(start2), values(start3))
      let bytes = SIMD8<Int16>(repeating: 0xFF)
      var words = SIMD16<Int16>()
      words.evenHalf = areWords ? values0 : values0 & bytes | values1 &<< 8
      words.oddHalf = areWords ? values1 : values2 & bytes | values3 &<< 8
      unsafe UnsafeMutableRawPointer(lanes + channel).storeBytes(of: words, as: SIMD16<Int16>.self)
      let place = unsafe UnsafeMutableRawPointer(sums + channel)
      let sums = unsafe place.loadUnaligned(as: SIMD8<Int32>.self) &+ SIMD8<Int32>(widening: sum)
      unsafe place.storeBytes(of: sums, as: SIMD8<Int32>.self)
      let second = unsafe UnsafeMutableRawPointer(magnitudes + channel)
      let added = unsafe second.loadUnaligned(as: SIMD8<Int32>.self) &+ SIMD8<Int32>(widening: magnitude)
      unsafe second.storeBytes(of: added, as: SIMD8<Int32>.self)
      channel &+= 8
    }
    return end
  }

  /// Writes a block's extra groups: their weights, then the index of the group that each repeats.
  private func packExtras(
    _ weights: UnsafeRawPointer, block: Int, to record: inout WeightTerms.Record,
    in packed: PackedWeights, next: inout Int
  ) {
    var repeated: [Int] = []
    for group in 0..<plan.groupCount {
      let extras = unsafe extraCount(weights, block: block, group: group)
      for round in 0..<extras {
        precondition(next + groupByteCount <= packed.byteCount)
        unsafe packGroup(weights, block: block, group: group, round: round + 1, to: packed.address + next)
        next += groupByteCount
        repeated.append(group)
      }
    }
    record.extras = next
    record.extraCount = repeated.count
    precondition(next + 8 * repeated.count <= packed.byteCount)
    for group in repeated {
      unsafe packed.address.storeBytes(of: group, toByteOffset: next, as: Int.self)
      next += 8
    }
    next = record.extras + roundedUp(8 * repeated.count, to: 64)
  }

  /// Writes what remains of a group's weights after `round` groups.
  private func packGroup(
    _ weights: UnsafeRawPointer, block: Int, group: Int, round: Int, to destination: UnsafeMutableRawPointer
  ) {
    let taps = plan.taps(group: group)
    // The memory may hold other weights' extra groups.
    unsafe destination.initializeMemory(as: UInt8.self, repeating: 0, count: groupByteCount)
    for (place, column) in plan.weightColumns.enumerated() {
      let place = unsafe destination + place * 4
      guard let channel = plan.channel(block: block, column: column), let operands = terms.operands else {
        continue
      }
      for (index, tap) in taps.enumerated() {
        let value = unsafe value(weights, tap: tap, channel: channel, operands)
        unsafe place.storeBytes(of: terms.piece(value, round: round), toByteOffset: index, as: Int8.self)
      }
    }
  }
}
