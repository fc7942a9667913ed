// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem

/// How much one tensor of a model differs from its reference.
public struct TensorDifference: Hashable, Sendable {
  /// The operator that computes a tensor.
  public struct Producer: Hashable, Sendable {
    /// Its position in the model's main subgraph.
    public let index: Int
    /// The schema's name, or the custom operator's.
    public let name: String
  }

  /// The tensor's index in `Interpreter.tensors`.
  public let index: Int
  /// The tensor's name.
  public let name: String
  /// The operator that computes it; nil for an input.
  public let producer: Producer?
  /// The tensor's shape in the run.
  public let shape: TensorShape
  /// The largest absolute difference of two real numbers; infinite if only one of them is finite.
  public let largest: Double
  /// The position of the largest difference, counted row by row.
  public let position: Int
  /// The model's number at ``position``.
  public let found: Double
  /// The reference's number at ``position``.
  public let expected: Double
  /// The power of the reference over the power of the difference, in decibels; infinite if the numbers are equal.
  public let signalToNoise: Double
  /// The largest difference that is allowed.
  public let allowed: Double
  /// Why the numbers could not be compared; nil if they were.
  public let problem: String?

  /// Whether the numbers were compared and no difference is larger than ``allowed``.
  public var isWithinTolerance: Bool { problem == nil && largest <= allowed }
}

extension TensorDifference: CustomStringConvertible {
  /// The tensor, its operator, and its largest difference.
  public var description: String {
    let place =
      producer.map { "operator #\($0.index), \($0.name): tensor \(index)" } ?? "input tensor \(index)"
    if let problem { return "\(place) (\(name)): \(problem)" }
    return
      "\(place) (\(name)): element \(position) is \(found), not \(expected): "
      + "a difference of \(largest), where \(allowed) is allowed"
  }
}

extension TensorDifference {
  /// Compares two tensors element by element.
  ///
  /// - Parameter tolerance: The allowed difference as a share of the reference's largest magnitude.
  init(
    of tensor: RecordedTensor, found: [Double], expected: [Double], shape: [Int], tolerance: Double
  ) {
    var (signal, noise, magnitude) = (0.0, 0.0, 0.0)
    var (largest, position) = (0.0, 0)
    if found.count == expected.count {
      for index in found.indices {
        let (one, other) = (found[index], expected[index])
        if other.isFinite { magnitude = max(magnitude, abs(other)) }
        let isSame = one == other || one.isNaN && other.isNaN
        let difference = isSame ? 0 : one.isFinite && other.isFinite ? abs(one - other) : .infinity
        if other.isFinite { signal += other * other }
        noise += difference * difference
        if difference > largest { (largest, position) = (difference, index) }
      }
    }
    (index, name, producer) = (tensor.index, tensor.name, tensor.producer)
    self.shape = TensorShape(shape)
    (self.largest, self.position) = (largest, position)
    self.found = found.indices.contains(position) ? found[position] : 0
    self.expected = expected.indices.contains(position) ? expected[position] : 0
    signalToNoise = noise == 0 ? .infinity : 10 * log10(signal / noise)
    allowed = tolerance * magnitude
    problem =
      found.count == expected.count
      ? nil : "\(TensorShape(shape)) has \(found.count) elements, but the reference has \(expected.count)"
  }

  /// A tensor that could not be compared.
  init(of tensor: RecordedTensor, shape: [Int], problem: String) {
    (index, name, producer) = (tensor.index, tensor.name, tensor.producer)
    self.shape = TensorShape(shape)
    (largest, position, found, expected, signalToNoise, allowed) = (.infinity, 0, 0, 0, -.infinity, 0)
    self.problem = problem
  }
}
