// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// The tensors of a model's run beside those of a reference, in the order of the graph.
///
/// ```swift
/// let comparison = try TensorComparison(of: model, withReference: "reference")
/// if let difference = comparison.first { print("first difference:", difference) }
/// ```
///
/// Integers with a scale are compared as the real numbers that they represent. The tolerance of a tensor is a share of the largest
/// magnitude in its reference. By default, it is 0 for integers of the same scale or of none, 1e-4 for float32 and float64, 1e-2
/// where one of the two is of narrower floats, and 0.1 where integers are compared with floats or with integers of another scale.
public struct TensorComparison: Sendable {
  /// The tensors that were compared, in the order in which the model computes them.
  public let differences: [TensorDifference]
  /// The names of the tensors without a counterpart in the reference, in the same order.
  public let uncompared: [String]

  /// The first tensor beyond its tolerance; nil if there is none.
  public var first: TensorDifference? { differences.first { !$0.isWithinTolerance } }

  /// Runs a model and compares its tensors with files.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - folder: A folder of `.npy` files. A tensor's file has its name, with an underscore in place of every character other than
  ///     ASCII letters, digits, `.` and `-`, or with some of these characters kept; or it is `tensor_12.npy` by the tensor's
  ///     index, `output_0.npy` by the output's position. `input_0.npy` and so on are the inputs.
  ///   - inputs: The `.npy` files of the inputs in order; if empty, those in the folder.
  ///   - tolerance: The allowed difference as a share of each reference's largest magnitude; nil for the defaults.
  ///   - options: How to run the model.
  /// - Throws: `unreadableFile` for a folder or a file that cannot be read; `invalidArgument` if an input is missing, a file cannot be used,
  ///   or the folder has no tensor of the model; errors of preparing and running the model.
  public init(
    of model: Model, withReference folder: String, inputs: [String] = [], tolerance: Double? = nil,
    options: Interpreter.Options = Interpreter.Options()
  ) throws(ApusError) {
    try Self.check(tolerance)
    let reference = try ReferenceFolder(path: folder)
    let arrays =
      try inputs.isEmpty
      ? reference.inputs(of: model, tensors: RecordedTensor.all(of: model)) : Self.arrays(inputs, of: model)
    let run = try TensorRun(of: model, options: options, inputs: arrays)
    for (position, array) in arrays.enumerated() { try run.fill(position, with: array) }
    try run.invoke()
    var differences: [TensorDifference] = []
    var uncompared: [String] = []
    for tensor in run.tensors where tensor.producer != nil {
      guard let found = try run.array(of: tensor), let expected = try reference.array(of: tensor) else {
        uncompared.append(tensor.name)
        continue
      }
      differences.append(
        Self.difference(
          of: tensor, found, run.description(of: tensor), expected, expectedTensor: nil, tolerance))
    }
    if differences.isEmpty, let example = run.tensors.last(where: { $0.producer != nil }) {
      throw ApusError(
        .invalidArgument,
        "the folder '\(folder)' has no file for any tensor of the model; expected names such as \(example.fileName).npy"
      )
    }
    (self.differences, self.uncompared) = (differences, uncompared)
  }

  /// Runs two models on the same inputs and compares their tensors.
  ///
  /// Tensors have a counterpart if their names are equal, or one of the names that a converter joined with semicolons. Inputs and outputs
  /// belong together by position. A name that several tensors of a model have tells none of them.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - reference: The model that is right, such as the float one.
  ///   - inputs: The `.npy` files of the inputs in order. Floats are quantized for inputs of integers.
  ///   - tolerance: The allowed difference as a share of each reference's largest magnitude; nil for the defaults.
  ///   - options: How to run both.
  /// - Throws: `invalidArgument` if the models' inputs differ in number, a file cannot be used, or the models share no tensor; errors
  ///   of preparing and running the models.
  public init(
    of model: Model, with reference: Model, inputs: [String], tolerance: Double? = nil,
    options: Interpreter.Options = Interpreter.Options()
  ) throws(ApusError) {
    try self.init(
      of: model, with: reference, arrays: Self.arrays(inputs, of: model), tolerance: tolerance,
      options: options)
  }

  /// Compares two models on arrays, which have the first model's elements, or real numbers.
  package init(
    of model: Model, with reference: Model, arrays: [NumPyArray], tolerance: Double?,
    options: Interpreter.Options
  ) throws(ApusError) {
    try Self.check(tolerance)
    guard arrays.count == model.inputs.count, arrays.count == reference.inputs.count else {
      throw ApusError(
        .invalidArgument,
        "the models have \(model.inputs.count) and \(reference.inputs.count) inputs, and \(arrays.count) are given"
      )
    }
    let run = try TensorRun(of: model, options: options, inputs: arrays)
    let other = try TensorRun(of: reference, options: options, inputs: arrays)
    for (position, array) in arrays.enumerated() {
      try run.fill(position, with: array)
      let (one, two) = (run.inputs[position], other.inputs[position])
      if array.holdsFloats || one.type == two.type && one.quantization == two.quantization {
        try other.fill(position, with: array)
      } else {
        try other.fill(position, withReals: one.reals(array.numbers()))
      }
    }
    try run.invoke()
    try other.invoke()
    let counterparts = Counterparts(other.tensors, for: run.tensors)
    var differences: [TensorDifference] = []
    var uncompared: [String] = []
    for tensor in run.tensors where tensor.producer != nil {
      guard let counterpart = counterparts.tensor(for: tensor), let found = try run.array(of: tensor),
        let expected = try other.array(of: counterpart)
      else {
        uncompared.append(tensor.name)
        continue
      }
      differences.append(
        Self.difference(
          of: tensor, found, run.description(of: tensor), expected,
          expectedTensor: other.description(of: counterpart), tolerance))
    }
    guard !differences.isEmpty || uncompared.isEmpty else {
      throw ApusError(.invalidArgument, "the models share no tensor: neither names nor outputs are equal")
    }
    (self.differences, self.uncompared) = (differences, uncompared)
  }

  private static func check(_ tolerance: Double?) throws(ApusError) {
    guard let tolerance else { return }
    guard tolerance >= 0, tolerance.isFinite else {
      throw ApusError(.invalidArgument, "the tolerance is \(tolerance), not a finite number from 0 on")
    }
  }

  private static func arrays(_ paths: [String], of model: Model) throws(ApusError) -> [NumPyArray] {
    guard paths.count == model.inputs.count else {
      throw ApusError(
        .invalidArgument, "the model has \(model.inputs.count) inputs, but \(paths.count) files are given")
    }
    var arrays: [NumPyArray] = []
    for path in paths { arrays.append(try ReferenceFolder.array(atPath: path)) }
    return arrays
  }

  /// Compares a tensor with its reference, which is an array of a folder or another model's tensor.
  private static func difference(
    of tensor: RecordedTensor, _ found: NumPyArray, _ description: Tensor, _ expected: NumPyArray,
    expectedTensor: Tensor?, _ tolerance: Double?
  ) -> TensorDifference {
    let isAlike =
      expectedTensor.map { $0.type == description.type && $0.quantization == description.quantization }
      ?? expected.fits(description.type)
    // The scale of integers in a file is known only if they have the tensor's own type.
    let hasUnknownScale = expectedTensor == nil && !isAlike && !expected.holdsFloats && description.isScaled
    guard !hasUnknownScale, description.holdsComplex == expected.holdsComplex else {
      return TensorDifference(
        of: tensor, shape: found.shape,
        problem: "it is \(description.type), but its reference is \(expected.typeName)")
    }
    do throws(ApusError) {
      let elements = try expected.numbers()
      let interpretation = expectedTensor ?? (isAlike ? description : nil)
      let isTransposed = Self.haveOtherOrder(found.shape, expected.shape)
      guard !isTransposed, found.elementCount == expected.elementCount else {
        return TensorDifference(
          of: tensor, shape: found.shape,
          problem:
            "its shape is \(TensorShape(found.shape)), but its reference has \(TensorShape(expected.shape))"
            + (isTransposed && expectedTensor == nil ? "; transpose the reference" : ""))
      }
      return TensorDifference(
        of: tensor, found: description.reals(try found.numbers()),
        expected: interpretation?.reals(elements) ?? elements, shape: found.shape,
        tolerance: tolerance
          ?? (isAlike
            ? defaultTolerance(description.type)
            : defaultTolerance(of: description, expected, expectedTensor)))
    } catch {
      return TensorDifference(of: tensor, shape: found.shape, problem: "its reference: \(error.message)")
    }
  }

  /// Whether two shapes have the same axes in different orders, as channels first and channels last; axes of one element do not count.
  private static func haveOtherOrder(_ first: [Int], _ second: [Int]) -> Bool {
    let (first, second) = (first.filter { $0 != 1 }, second.filter { $0 != 1 })
    return first != second && first.sorted() == second.sorted()
  }

  private static func defaultTolerance(_ type: ElementType) -> Double {
    switch type {
    case .float32, .float64, .complex64, .complex128: return 1e-4
    case .float16, .bfloat16: return 1e-2
    default: return 0
    }
  }

  /// The default for a tensor whose reference has another type or scale.
  private static func defaultTolerance(of tensor: Tensor, _ expected: NumPyArray, _ expectedTensor: Tensor?)
    -> Double
  {
    if tensor.holdsFloats, expected.holdsFloats {
      // Two kinds of floats: the narrower decides. An array has no bfloat16 of its own.
      let other = expectedTensor?.type ?? (expected.holdsHalves ? .float16 : .float32)
      return max(defaultTolerance(tensor.type), defaultTolerance(other))
    }
    // Integers without a scale, such as indices, have one meaning in every integer type.
    let isPlain =
      !tensor.holdsFloats && !expected.holdsFloats && !tensor.isScaled && expectedTensor?.isScaled != true
    return isPlain ? 0 : 0.1
  }
}
