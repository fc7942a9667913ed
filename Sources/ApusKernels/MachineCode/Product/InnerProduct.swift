// SPDX-License-Identifier: Apache-2.0

/// Products of floats for few columns: steps multiply whole vectors of terms, with the weights of each column apart, as lanes
/// for columns would mostly be padding. At the end each sum's lanes are added.
struct InnerProduct: Hashable {
  /// Terms of a tap after its whole steps, for one step more.
  let rest: Int
}

extension InnerProduct {
  /// The most rows of a block of such products; nil where the others are faster, or there are none.
  static func mostRows(
    _ convolution: Convolution, _ product: ProductKind, _ target: any CodeTarget, _ taps: TapLayout
  ) -> Int? {
    guard product == .floats, convolution.columnCount > 0 else { return nil }
    // To add the lanes takes as long as three steps or so; other products have two terms in that time.
    let steps = taps.count * ceilingQuotient(taps.lanesPerTap, target.lanes) + 3
    guard 2 * convolution.columnCount * steps < convolution.depth else { return nil }
    return target.mostInnerRows(columnCount: convolution.columnCount)
  }
}

extension ProductPlan {
  /// Steps of a tap that its list counts.
  var listedStepsPerTap: Int { strategy.isInner ? lanesPerTap / lanesPerStep : stepsPerTap }
}

extension PanelLayout.Panel {
  /// All columns, each with a vector of weights for a step.
  init(innerColumns columnCount: Int, lanes: Int) {
    self.init(
      vectorCount: 1, columns: LaneOrder(count: lanes), firstColumn: 0, columnCount: columnCount,
      paddedCount: columnCount * lanes,
      paddedBefore: 0)
  }
}

extension ProductPacking {
  /// Writes the weights of few columns: for each step a vector of each column, with zeros after a tap's last term.
  func packInner(
    _ weights: UnsafeRawPointer, group: Int, panel: ProductPlan.Panel,
    to target: UnsafeMutableRawPointer
  ) {
    let stepByteCount = panel.paddedCount * plan.weightByteCount
    for column in 0..<panel.columnCount {
      for tap in 0..<plan.tapCount {
        let source = position(group: group, column: panel.firstColumn + column, tap: tap)
        for step in 0..<plan.stepsPerTap {
          let first = step * plan.lanesPerStep
          let place =
            (tap * plan.stepsPerTap + step) * stepByteCount + column * plan.lanesPerStep
            * plan.weightByteCount
          unsafe (target + place).copyMemory(
            from: weights + (source + first) * 4,
            byteCount: min(plan.lanesPerStep, plan.lanesPerTap - first) * 4)
        }
      }
    }
  }
}
