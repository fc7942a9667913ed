// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The calls that make up a small product on one thread, with all arguments but addresses.
///
/// All rows are one block that is read in place, so one call serves all panels of equal width, and a second
/// one the last panel if it is narrower. Computing these arguments in each run would take as long as
/// multiplying a few thousand weights.
///
/// A class, because a run would copy a structure.
final class DirectCalls {
  private struct Call {
    let function: CodeFunction<ConvolutionArguments>
    let arguments: ConvolutionArguments
    let panel: Int
    let outputOffset: Int
  }

  private let calls: [Call]
  private let weightPacking: ProductPacking
  private let offsets: Int

  /// Prepares the calls; nil if the product needs others. `taps` and the code's factors must keep their
  /// addresses.
  init?(
    _ plan: ProductPlan, _ code: EpilogueCode, _ weightPacking: ProductPacking,
    taps: Int, elementByteCount: Int
  ) {
    let c = plan.convolution
    guard plan.movesAlongPanels, plan.isInPlace, c.groups == 1, plan.singleThreadTiling.count == 1,
      !weightPacking.terms.mayHaveExtras, plan.rowTerms == nil
    else { return nil }
    let panelCount = plan.panels.count
    let alikeCount = plan.alikeCount(panelCount)
    var calls: [Call] = []
    for (first, count) in [(0, alikeCount), (alikeCount, panelCount - alikeCount)] where count > 0 {
      let panel = plan.panels[first]
      guard let function = code.functions.function(rows: plan.lineLength, columns: panel.columnCount) else {
        return nil
      }
      calls.append(
        Call(
          function: function,
          arguments: ConvolutionArguments(
            rows: 0, rowStride: plan.rowStride, taps: taps, tapCount: plan.tapCount, weights: 0,
            offsets: panel.paddedBefore * plan.offsetByteCount, factors: code.factors(first),
            output: 0,
            outputStride: c.outputChannels * elementByteCount, blocks: count, scales: 0),
          panel: first, outputOffset: panel.firstColumn * elementByteCount))
    }
    self.calls = calls
    self.weightPacking = weightPacking
    offsets = weightPacking.offsets(group: 0)
  }

  /// Computes all outputs.
  @inline(__always)
  func run(_ packed: PackedWeights, _ memory: ConvolutionScheme.Memory) {
    let weights = unsafe Int(bitPattern: packed.address)
    for index in calls.indices {
      var arguments = calls[index].arguments
      unsafe arguments.rows = Int(bitPattern: memory.input)
      arguments.weights =
        weights &+ weightPacking.record(packed, group: 0, panel: calls[index].panel).weights
      arguments.offsets &+= weights &+ offsets
      unsafe arguments.output = Int(bitPattern: memory.output) &+ calls[index].outputOffset
      unsafe arguments.scales = Int(bitPattern: memory.scales)
      unsafe arguments.zeroPoints = Int(bitPattern: memory.zeroPoints)
      calls[index].function.call(&arguments)
    }
  }
}
