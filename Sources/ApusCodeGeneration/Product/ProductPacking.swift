// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// Packs the weights of a convolution for the generated products.
///
/// A panel is packed K-step by K-step. A K-step has one 32-bit lane for each column: four bytes, two `int16`,
/// two bfloat16 or one float.
///
/// Packed memory has, in this order: the head, with a record for each panel of each group; the offsets that
/// are added to sums; the panels, each followed by its extra K-steps and their list of (tap, K-step) pairs.
struct ProductPacking {
  let plan: ProductPlan
  private(set) var terms: WeightTerms

  var convolution: Convolution { plan.convolution }
  private var recordCount: Int { convolution.groups * plan.panels.count }

  /// The position of a group's offsets, which for floats are the biases. If column sums are kept, they follow
  /// the offsets of each panel.
  func offsets(group: Int) -> Int {
    roundedUp(WeightTerms.recordOffset(recordCount), to: 64) + group * plan.paddedColumnCount
      * plan.offsetByteCount
  }

  private var marksOffset: Int { roundedUp(offsets(group: convolution.groups), to: 64) }
  var weightsOffset: Int { roundedUp(marksOffset + plan.stepCount, to: 64) }
  var weightByteCount: Int {
    convolution.groups * plan.paddedColumnCount * plan.stepCount * plan.weightByteCount
  }

  /// The maximum size of packed weights, whatever their values are.
  var byteCount: Int {
    let extras =
      terms.mayHaveExtras ? 2 * weightByteCount + recordCount * (plan.stepCount * 2 * 16 + 64) : 0
    return weightsOffset + weightByteCount + extras
  }

  /// The size of these weights when packed.
  func byteCount(for weights: RawSpan) -> Int {
    guard terms.mayHaveExtras, weights.byteCount >= convolution.weightCount else { return byteCount }
    var total = weightsOffset + weightByteCount
    var marks = [UInt8](repeating: 0, count: plan.stepCount)
    unsafe weights.withUnsafeBytes { weights in
      unsafe marks.withUnsafeMutableBufferPointer { marks in
        guard let weights = weights.baseAddress, let marks = marks.baseAddress else { return }
        for group in 0..<convolution.groups {
          for panel in plan.panels {
            let extras = unsafe mark(marks, weights: weights, group: group, panel: panel)
            total += extras * panel.paddedCount * plan.weightByteCount + roundedUp(extras * 16, to: 64)
          }
        }
      }
    }
    return total
  }

  /// The record of a group's panel.
  func record(_ packed: PackedWeights, group: Int, panel: Int) -> WeightTerms.Record {
    WeightTerms.record(packed, group &* plan.panels.count &+ panel)
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(
      weights.byteCount >= convolution.weightCount * terms.elementByteCount
        && packed.byteCount >= weightsOffset + weightByteCount)
    var bounds = SumBounds.kept
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      var next = weightsOffset
      for group in 0..<convolution.groups {
        for (index, panel) in plan.panels.enumerated() {
          let record = unsafe packPanel(
            weights, bias: bias, group: group, panel: panel, at: next, into: packed, bounds: &bounds)
          WeightTerms.setRecord(record, group * plan.panels.count + index, in: packed)
          // Panels begin at cache lines.
          next = record.extras + roundedUp(record.extraCount * 16, to: 64)
        }
      }
    }
    WeightTerms.setBounds(bounds, in: packed)
    if bounds != .kept, terms.faint != nil {
      // The code for any sum makes the outputs then; it uses the factors as given.
      var general = self
      general.terms = terms.general
      general.pack(weights: weights, bias: bias, into: packed)
      WeightTerms.setBounds(bounds, in: packed)
    }
  }

  // MARK: Panels

  /// The range of K that is packed for all columns of a group of 16 before the next range.
  private static let floatTerms = 64

  /// The index of a column's first weight for a tap.
  func position(group: Int, column: Int, tap: Int) -> Int {
    (group &* convolution.columnCount &+ column) &* convolution.depth &+ tap &* plan.depthPerTap
  }

  private func packPanel(
    _ weights: UnsafeRawPointer, bias: RawSpan?, group: Int, panel: ProductPlan.Panel,
    at start: Int, into packed: PackedWeights, bounds: inout SumBounds
  ) -> WeightTerms.Record {
    let marks = unsafe (packed.address + marksOffset).assumingMemoryBound(to: UInt8.self)
    guard !packed.mustStop else { return WeightTerms.Record(weights: start, extras: start, extraCount: 0) }
    let extraCount = unsafe mark(marks, weights: weights, group: group, panel: panel)
    let stepByteCount = panel.paddedCount * plan.weightByteCount
    let extraSteps = start + plan.stepCount * stepByteCount
    let extras = extraSteps + extraCount * stepByteCount
    precondition(extras + extraCount * 16 <= packed.byteCount)

    if plan.strategy.isInner {
      unsafe packInner(weights, group: group, panel: panel, at: start, into: packed)
    }
    let pairs = plan.pairs(panel)
    if let pairs, pairs.hasHalf {
      unsafe packHalf(weights, pairs, group: group, panel: panel, at: start, into: packed)
    }
    let columns = panel.columns
    let (firstChannel, depth) = (group * convolution.columnCount + panel.firstColumn, convolution.depth)
    let offsets = unsafe packed.address + offsets(group: group) + panel.paddedBefore * plan.offsetByteCount
    /// Four lanes of the panel from `place` on.
    func quad(_ place: Int) -> Quad {
      var quad = unsafe Quad(
        target: unsafe packed.address + start + place * (pairs == nil ? plan.weightByteCount : 4),
        stepByteCount: pairs?.wholeByteCount ?? stepByteCount,
        pairByteCount: pairs?.stepByteCount ?? 2 * stepByteCount)
      for lane in 0..<4 where columns[place + lane] < panel.columnCount {
        quad.sources[lane] = (firstChannel &+ columns[place + lane]) &* depth
        quad.masks[lane] = -1
      }
      return quad
    }
    if plan.product.isBFloat16 {
      unsafe packBFloat16(weights, group: group, panel: panel, at: start, into: packed)
    } else if terms.operands == nil, !plan.strategy.isInner {
      // 16 columns of floats are one cache line, which is completed while it is in the cache.
      let wholeCount = pairs.map { $0.wholeByteCount / 4 } ?? columns.count
      for first in stride(from: 0, to: wholeCount, by: 16) {
        for term in stride(from: 0, to: depth, by: Self.floatTerms) {
          if term & 0xFFFF == 0, packed.mustStop { break }
          for place in stride(from: first, to: min(first + 16, wholeCount), by: 4) {
            unsafe packFloats(weights, quad(place), terms: term..<min(term + Self.floatTerms, depth))
          }
        }
      }
    }
    let hasPlainOffsets = bias == nil && !plan.hasColumnSums && terms.hasPlainOffsets(count: depth)
    for place in stride(from: 0, to: plan.strategy.isInner ? 0 : columns.count, by: 4) {
      guard let operands = terms.operands, let packedOperands = terms.packedOperands else { break }
      let quad = quad(place)
      guard var totals = unsafe packWeights(weights, packedOperands, quad, stoppedBy: packed) else {
        return WeightTerms.Record(weights: start, extras: start, extraCount: 0)
      }
      // The difference of the zero points, once for each weight.
      let rest = (packedOperands.rhsZeroPoint &- operands.rhsZeroPoint) &* Int32(truncatingIfNeeded: depth)
      totals &+= SIMD4(repeating: rest)
      if hasPlainOffsets {
        unsafe offsets.storeBytes(
          of: terms.plainOffsets(sums: totals), toByteOffset: place * 4, as: SIMD4<Int32>.self)
        continue
      }
      let sources = quad.sources
      for lane in 0..<4 where quad.masks[lane] != 0 {
        let channel = firstChannel &+ columns[place + lane]
        let bias = unsafe bias?.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self) ?? 0
        let sums = terms.offset(
          bias: bias, channel: channel, sum: totals[lane], count: depth,
          magnitude: unsafe magnitude(weights, operands, source: sources[lane], stoppedBy: packed))
        if case .kept = bounds { bounds = sums.bounds }
        unsafe offsets.storeBytes(of: sums.bits, toByteOffset: (place + lane) * 4, as: UInt32.self)
        guard plan.hasColumnSums else { continue }
        unsafe offsets.storeBytes(
          of: totals[lane], toByteOffset: (panel.paddedCount + place + lane) * 4, as: Int32.self)
      }
    }
    if terms.operands == nil, let bias {
      for (place, column) in columns.enumerated() where column < panel.columnCount {
        let channel = firstChannel + column
        let bits = unsafe bias.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self)
        unsafe offsets.storeBytes(of: bits, toByteOffset: place * 4, as: UInt32.self)
      }
    }
    if extraCount > 0, let operands = terms.operands {
      unsafe packExtras(
        weights, operands, marks: marks, group: group, panel: panel, steps: packed.address + extraSteps,
        entries: packed.address + extras)
    }
    return WeightTerms.Record(weights: start, extras: extras, extraCount: extraCount)
  }
}
