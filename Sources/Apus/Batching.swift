// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusSystem

/// How many items of different callers may share a run of a model, and why no more.
///
/// ```swift
/// let batching = try model.batching(upTo: 8)
/// if batching.joins { print("up to \(batching.count) items") } else { print(batching.reason ?? "") }
/// ```
///
/// A model joins if it is proved, from its graph, that each row of its outputs depends on the same row of its inputs alone, and that
/// its bytes are those of a run of one row. Trying it on some numbers would prove nothing: a model may mix its rows only if one is
/// large.
public struct Batching: Hashable, Sendable {
  /// The maximum number of items of a run; 1 if none may be joined.
  public let count: Int
  /// Why there may be no more; nil if it was not asked for more.
  public let reason: String?

  /// Whether items may be joined at all.
  public var joins: Bool { count > 1 }
}

extension Model {
  /// How many items may share a run, proved for each size up to `most`.
  ///
  /// The first dimension of all inputs and outputs must be open (−1). Other open dimensions are those of the options. An interpreter is
  /// prepared for each size, and dropped. All of them together take no longer than the options' `timeLimit`: larger sizes are not proved.
  ///
  /// - Parameters:
  ///   - most: The largest size that is of interest.
  ///   - options: How the model runs: kernels and passes decide in which order floats are added.
  ///   - key: The signature to run; nil for the main subgraph.
  /// - Throws: As ``Interpreter/init(model:options:signature:)`` for a batch of one.
  public func batching(
    upTo most: Int, options: Interpreter.Options = Interpreter.Options(), signature key: String? = nil
  ) throws(ApusError) -> Batching {
    let subgraph = key.flatMap { key in signatures.first { $0.key == key }?.subgraph } ?? 0
    let entry = file.subgraphs[subgraph]
    for (role, tensors) in [("input", entry.inputs), ("output", entry.outputs)] {
      for (position, index) in tensors.enumerated() {
        let tensor = tensor(index, subgraph: subgraph)
        guard tensor.shapeSignature.first == -1 else {
          let first = tensor.shapeSignature.first.map { "the first dimension \($0)" } ?? "no dimensions"
          return Batching(count: 1, reason: "\(role) \(position) (\(tensor.name.brief)) has \(first), not -1")
        }
      }
    }
    var options = options
    if let limit = options.timeLimit {
      let end = Moment.now + limit
      options.deadline = options.deadline.map { min($0, end) } ?? end
    }
    let alone = try Interpreter(model: self, options: options.withBatch(1, of: entry), signature: key).rows
    if let reason = alone.reason { return Batching(count: 1, reason: reason) }
    for size in stride(from: 2, through: most, by: 1) {
      let reason: String?
      do throws(ApusError) {
        let together = try Interpreter(
          model: self, options: options.withBatch(size, of: entry), signature: key)
        reason = together.rows.reason(toDifferFrom: alone)
      } catch {
        reason = "a batch of \(size) cannot be prepared: \(error.message)"
      }
      if let reason { return Batching(count: size - 1, reason: reason) }
    }
    return Batching(count: max(most, 1), reason: nil)
  }
}

extension Interpreter.Options {
  /// The options with the first dimension of all inputs replaced.
  fileprivate func withBatch(_ size: Int, of subgraph: SubgraphEntry) -> Self {
    var options = self
    for (position, input) in subgraph.inputs.enumerated() {
      var dimensions =
        inputShapes[position]?.dimensions ?? subgraph.tensors[input].shape.map { $0 < 0 ? 1 : $0 }
      guard !dimensions.isEmpty else { continue }
      dimensions[0] = size
      options.inputShapes[position] = TensorShape(dimensions)
    }
    return options
  }
}
