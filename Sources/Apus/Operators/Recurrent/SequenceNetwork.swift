// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Layers that read sequences, each in its direction.
struct SequenceNetwork: UnpackedOperator {
  /// One layer with its tensors.
  struct Direction {
    var layer: any SequenceReader
    let input: TensorSlot
    var auxiliary: TensorSlot?
    let output: TensorSlot
    /// Where in each row of the output this layer's values begin.
    var offset = 0
    var isBackward = false

    /// The step that comes after `count` others.
    func step(_ count: Int, of layout: SequenceLayout) -> Int {
      isBackward ? layout.time - 1 - count : count
    }

    /// Where in the output the values of a row begin.
    func place(row: Int) -> Int { row * (output.shape.dimensions.last ?? 0) + offset }
  }

  let layout: SequenceLayout
  var directions: [Direction]
  /// How often the sequence is read; each reading continues from the state of the previous one.
  var readings = 1
  /// Whether each direction may have a thread of its own.
  var areSeparate = false

  var unpacked: (any UnpackedOperator)? {
    directions.contains { $0.layer.hasWeights } ? self : nil
  }

  var implementation: Implementation { directions.first?.layer.implementation ?? .plain }

  func packed(by packer: WeightPacker) throws(ApusError) -> any Operator {
    var copy = self
    for index in directions.indices {
      copy.directions[index].layer = try directions[index].layer.packed(by: packer)
    }
    let states = copy.directions.map { $0.layer.separateStates?.map(\.index) }
    let all = states.compactMap { $0 }.joined()
    copy.areSeparate =
      states.count > 1 && !states.contains(nil) && Set(all).count == all.count && readings == 1
      && layout.work >= Double(Self.minimumSharedWork)
    return copy
  }

  func invoke(_ tensors: borrowing TensorTable) {
    guard layout.batch > 0, layout.time > 0 else { return }
    if areSeparate, tensors.threads.count > 1 {
      return tensors.forEachTile(
        directions.count, Work(network: self, team: tensors.threads.alone))
    }
    for _ in 0..<readings {
      if tensors.threads.mustStop { return }
      for direction in directions { direction.layer.read(direction, layout, tensors) }
    }
  }

  /// Less work than this is not worth a second thread.
  private static let minimumSharedWork = 1 << 18

  /// A tile is a direction.
  private struct Work: TableWork {
    let network: SequenceNetwork
    /// One thread, with what ends products early.
    let team: ThreadTeam

    func run(tile: Int, _ tensors: borrowing TensorTable) {
      let direction = network.directions[tile]
      direction.layer.read(direction, network.layout, TensorTable(sharing: tensors, threads: team))
    }
  }
}
