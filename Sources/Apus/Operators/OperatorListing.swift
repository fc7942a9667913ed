// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// A line of ``OperatorRegistry``. It becomes an ``OperatorRegistration`` when a model uses the operator.
///
/// Closures defer what takes time or memory: a model uses about ten of nearly two hundred operators.
struct OperatorListing: Sendable {
  /// A function that makes a runnable operator from a node.
  typealias Preparation = @Sendable (Node) throws(ApusError) -> any Operator

  let code: OperatorCode
  /// The custom operator's name; empty for others.
  let customName: String
  let versions: ClosedRange<Int>
  let types: @Sendable () -> [ElementType]
  let floats: @Sendable () -> [ElementType]
  let data: OperatorRegistration.Place
  let firstInputTypes: @Sendable () -> [ElementType]
  let isPure: Bool
  let preparation: @Sendable () -> Preparation

  /// Lists a builtin operator.
  ///
  /// - Parameters:
  ///   - types: the types of the data, which are the first input unless `place` says otherwise.
  ///   - floats: further types of the data: floats of 16 bits, for which the operator computes in `float32` and
  ///     rounds its results once.
  ///   - first: the types of the first input where it is not the data.
  init(
    _ code: OperatorCode, versions: ClosedRange<Int>,
    types: @autoclosure @escaping @Sendable () -> [ElementType],
    asFloats floats: @autoclosure @escaping @Sendable () -> [ElementType] = [],
    at place: OperatorRegistration.Place = .input(0),
    first: @autoclosure @escaping @Sendable () -> [ElementType] = [], isPure: Bool = true,
    _ preparation: @autoclosure @escaping @Sendable () -> Preparation
  ) {
    self.code = code
    customName = ""
    self.versions = versions
    self.types = types
    self.floats = floats
    data = place
    firstInputTypes = first
    self.isPure = isPure
    self.preparation = preparation
  }

  /// Lists a custom operator.
  init(
    custom name: String, versions: ClosedRange<Int> = 1...1,
    types: @autoclosure @escaping @Sendable () -> [ElementType], isPure: Bool = true,
    _ preparation: @autoclosure @escaping @Sendable () -> Preparation
  ) {
    code = .custom
    customName = name
    self.versions = versions
    self.types = types
    floats = { [] }
    data = .input(0)
    firstInputTypes = { [] }
    self.isPure = isPure
    self.preparation = preparation
  }
}
