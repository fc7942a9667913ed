// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// Products of floats with few columns (small N): vectors run along K rather than along N.
///
/// If lanes were columns, most of them would be padding. Instead a K-step multiplies a whole vector of a row
/// with a vector of each column; a horizontal add at the end completes each sum.
struct InnerProduct: Hashable {
  /// Values of a tap beyond its whole K-steps; one masked K-step multiplies them.
  let rest: Int
}

extension InnerProduct {
  /// The maximum height of a block of floats; throws if other strategies are faster, or the target has no such code.
  static func maximumRows(
    _ convolution: Convolution, _ target: any CodeTarget, _ taps: TapLayout
  ) throws(Decline) -> Int {
    let (columns, depth) = (convolution.columnCount, convolution.depth)
    // The horizontal add takes about three K-steps; blocks of rows and panels do two values of K in the time
    // of one K-step.
    let steps = taps.count * ceilingQuotient(taps.depthPerTap, target.lanes) + 3
    guard columns > 0, 2 * columns * steps < depth else {
      throw Decline("twice \(columns) columns of \(steps) K-steps are not below K, \(depth)")
    }
    guard let rows = target.maximumInnerRows(columnCount: columns) else {
      throw Decline("there is no code for \(columns) columns")
    }
    return rows
  }
}

extension ProductPlan {
  /// The number of K-steps per tap in the tap list; for inner products, only whole ones.
  var listedStepsPerTap: Int { strategy.isInner ? depthPerTap / depthPerStep : stepsPerTap }
}

extension PanelLayout.Panel {
  /// A panel of all columns, with a vector of weights per column and K-step.
  init(innerColumns columnCount: Int, lanes: Int) {
    self.init(
      vectorCount: 1, columns: LaneOrder(count: lanes), firstColumn: 0, columnCount: columnCount,
      paddedCount: columnCount * lanes,
      paddedBefore: 0)
  }
}

extension ProductPacking {
  /// Packs the weights: for each K-step one vector per column, with zeros beyond the end of a tap.
  func packInner(
    _ weights: UnsafeRawPointer, group: Int, panel: ProductPlan.Panel,
    at start: Int, into packed: PackedWeights
  ) {
    let target = unsafe packed.address + start
    let stepByteCount = panel.paddedCount * plan.weightByteCount
    var sinceClock = 0
    for column in 0..<panel.columnCount {
      for tap in 0..<plan.tapCount {
        let source = position(group: group, column: panel.firstColumn + column, tap: tap)
        for step in 0..<plan.stepsPerTap {
          sinceClock &+= 1
          if sinceClock & 0x7FFF == 0, packed.mustStop { return }
          let first = step * plan.depthPerStep
          let place =
            (tap * plan.stepsPerTap + step) * stepByteCount + column * plan.depthPerStep
            * plan.weightByteCount
          unsafe (target + place).copyMemory(
            from: weights + (source + first) * 4,
            byteCount: min(plan.depthPerStep, plan.depthPerTap - first) * 4)
        }
      }
    }
  }
}
