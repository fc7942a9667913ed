// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// An operator of your own, for models that use one the engine lacks.
///
/// A model names its custom operators. An operator is prepared once for the shapes of its inputs, and then invoked in
/// every run.
///
/// ```swift
/// let negate = CustomOperator(name: "Negate") { node throws(ApusError) in
///   try node.expect(inputs: 1, outputs: 1)
///   let factor = Float(try node.options.number("factor", default: -1))
///   return CustomOperator.Plan(outputShapes: [try node.input(0).shape]) { tensors throws(ApusError) in
///     let input = try tensors.input(0, as: Float.self)
///     var output = try tensors.output(0, as: Float.self)
///     for index in 0..<input.count { output[index] = factor * input[index] }
///   }
/// }
/// var options = Interpreter.Options()
/// options.customOperators = [negate]
/// let interpreter = try Interpreter(model: model, options: options)
/// ```
///
/// A type that conforms to ``CustomOperatorKernel`` can replace the two closures.
public struct CustomOperator: Sendable {
  /// The result of preparing an operator.
  public struct Plan: Sendable {
    /// The shape of each output. The model declares the types, see ``CustomOperatorNode/outputs``.
    public var outputShapes: [TensorShape]
    /// The bytes of scratch memory that a run needs.
    public var scratchByteCount: Int
    /// Computes the outputs. Interpreters on several threads may call it at the same time; what it throws, the run throws.
    public var invoke: @Sendable (borrowing CustomOperatorTensors) throws(ApusError) -> Void

    /// Makes a plan from the outputs' shapes and a function that computes them.
    public init(
      outputShapes: [TensorShape], scratchByteCount: Int = 0,
      invoke: @escaping @Sendable (borrowing CustomOperatorTensors) throws(ApusError) -> Void
    ) {
      self.outputShapes = outputShapes
      self.scratchByteCount = scratchByteCount
      self.invoke = invoke
    }
  }

  /// The name by which models refer to the operator.
  public let name: String
  /// The versions that this operator implements.
  public let versions: ClosedRange<Int>
  /// Whether equal inputs give equal outputs, so that results on constants can be kept.
  public let isPure: Bool

  private let prepare: @Sendable (CustomOperatorNode) throws(ApusError) -> Plan

  /// Makes an operator from a function that checks one use of it in a model and returns how to run it.
  ///
  /// - Parameters:
  ///   - name: The name by which models refer to the operator. It takes precedence over a custom operator of the engine.
  ///   - versions: The versions that it implements. Any other is an error with the code `unsupportedOperator`.
  ///   - isPure: Whether equal inputs give equal outputs, so that results on constants can be kept.
  ///   - prepare: Called for each use of the operator, and again when shapes change. Its errors are thrown by
  ///     ``Interpreter/init(model:options:signature:)``.
  public init(
    name: String, versions: ClosedRange<Int> = 1...1, isPure: Bool = false,
    prepare: @escaping @Sendable (CustomOperatorNode) throws(ApusError) -> Plan
  ) {
    self.name = name
    self.versions = versions
    self.isPure = isPure
    self.prepare = prepare
  }

  /// Makes an operator from a type that implements it. Its runs have no scratch memory.
  ///
  /// - Parameters:
  ///   - name: The name by which models refer to the operator.
  ///   - versions: The versions that it implements.
  ///   - isPure: Whether equal inputs give equal outputs, so that results on constants can be kept.
  ///   - type: The type; one value of it is made for each use of the operator, and again when shapes change.
  public init<Kernel: CustomOperatorKernel>(
    name: String, versions: ClosedRange<Int> = 1...1, isPure: Bool = false, _ type: Kernel.Type
  ) {
    self.init(name: name, versions: versions, isPure: isPure) { node throws(ApusError) in
      let kernel = try Kernel(preparing: node)
      return Plan(outputShapes: kernel.outputShapes) { tensors throws(ApusError) in try kernel.invoke(tensors)
      }
    }
  }

  /// The operator's registration for the engine.
  var registration: OperatorRegistration {
    let prepare = prepare
    return OperatorRegistration(custom: name, versions: versions, types: ElementType.allCases, isPure: isPure)
    {
      node throws(ApusError) in
      try PreparedCustomOperator(node, plan: prepare(CustomOperatorNode(node)))
    }
  }
}

/// A custom operator as a type: prepared by its initializer, then invoked in every run.
///
/// ```swift
/// struct Negate: CustomOperatorKernel {
///   let outputShapes: [TensorShape]
///
///   init(preparing node: CustomOperatorNode) throws(ApusError) {
///     outputShapes = [try node.input(0).shape]
///   }
///
///   func invoke(_ tensors: borrowing CustomOperatorTensors) throws(ApusError) {
///     let input = try tensors.input(0, as: Float.self)
///     var output = try tensors.output(0, as: Float.self)
///     for index in 0..<input.count { output[index] = -input[index] }
///   }
/// }
/// options.customOperators = [CustomOperator(name: "Negate", Negate.self)]
/// ```
public protocol CustomOperatorKernel: Sendable {
  /// The shape of each output.
  var outputShapes: [TensorShape] { get }

  /// Checks one use of the operator in a model, and computes ``outputShapes``.
  init(preparing node: CustomOperatorNode) throws(ApusError)

  /// Computes the outputs. Interpreters on several threads may call it at the same time.
  func invoke(_ tensors: borrowing CustomOperatorTensors) throws(ApusError)
}

extension [CustomOperator] {
  /// The registrations by name; of several operators of one name, that of the first.
  var registrations: [String: OperatorRegistration] {
    Dictionary(map { ($0.name, $0.registration) }) { first, _ in first }
  }
}
