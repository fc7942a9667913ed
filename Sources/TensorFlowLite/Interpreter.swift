// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// Runs a model, with the API of TensorFlowLiteSwift.
///
/// ```swift
/// let interpreter = try Interpreter(modelPath: path)
/// try interpreter.allocateTensors()
/// try interpreter.copy(pixels, toInputAt: 0)
/// try interpreter.invoke()
/// let scores = try interpreter.output(at: 0).data
/// ```
///
/// An interpreter belongs to one thread at a time.
public final class Interpreter {
  /// The options as passed.
  public let options: Options?

  /// The delegates as passed: nil or none, as any is refused.
  public let delegates: [any Delegate]?

  private let model: Apus.Model
  private let variables = SharedVariables()
  private let session: Session

  /// Reads a model from a file.
  ///
  /// - Parameters:
  ///   - modelPath: The path of a `.tflite` file.
  ///   - options: How to run the model; nil for one thread.
  ///   - delegates: Nil or none.
  /// - Throws: `failedToLoadModel` if the file cannot be read or is not a model; `tensorFlowLiteError` with the
  ///   reason where an operator cannot run, or where there is a delegate.
  public convenience init(modelPath: String, options: Options? = nil, delegates: [any Delegate]? = nil) throws
  {
    try self.init(Model(filePath: modelPath), options: options, delegates: delegates)
  }

  /// Reads a model from bytes, which are copied.
  ///
  /// - Parameters:
  ///   - modelData: The bytes of a `.tflite` file.
  ///   - options: How to run the model; nil for one thread.
  ///   - delegates: Nil or none.
  /// - Throws: As ``init(modelPath:options:delegates:)``.
  public convenience init(modelData: Data, options: Options? = nil, delegates: [any Delegate]? = nil) throws {
    try self.init(Model(modelData: modelData), options: options, delegates: delegates)
  }

  /// As ``init(modelData:options:delegates:)``, under the label by which a test of TensorFlowLiteSwift calls it.
  convenience init(modelPath modelData: Data, options: Options? = nil) throws {
    try self.init(modelData: modelData, options: options)
  }

  private init(_ model: Model?, options: Options?, delegates: [any Delegate]?) throws(InterpreterError) {
    guard let model = model?.cModel else { throw .failedToLoadModel }
    if let first = delegates?.first {
      throw .tensorFlowLiteError(
        "Apus runs models by itself and takes no delegates: leave out the \(type(of: first))")
    }
    var reasons: [[String]] = []
    do {
      for signature in [nil] + model.signatures.map(\.key) {
        reasons.append(try model.unsupportedOperators(ofSignature: signature))
      }
    } catch { throw .tensorFlowLiteError(error.message) }
    // A model may train where only its predictions are wanted. What each function lacks is an error of its own allocation.
    if !reasons.contains([]), let first = reasons[0].first {
      throw .tensorFlowLiteError(first + (reasons[0].count > 1 ? " (and \(reasons[0].count - 1) more)" : ""))
    }
    self.model = model
    self.options = options
    self.delegates = delegates
    session = Session(model: model, options: options ?? Options(), variables: variables)
  }

  // MARK: Tensors

  /// The number of inputs.
  public var inputTensorCount: Int { session.inputs.count }

  /// The number of outputs.
  public var outputTensorCount: Int { session.outputs.count }

  /// An input, with a copy of its bytes.
  ///
  /// - Throws: `invalidTensorIndex`; `allocateTensorsRequired` before ``allocateTensors()``, and between a change of the
  ///   input's shape and the next call of it; `invalidTensorDataType` for strings, handles and variants.
  public func input(at index: Int) throws -> Tensor {
    try check(index, below: inputTensorCount)
    do { return try session.input(index) } catch { throw Self.error(error, index) }
  }

  /// An output, with a copy of its bytes: what the last run computed.
  ///
  /// - Throws: `invalidTensorIndex`; `invokeInterpreterRequired` before ``allocateTensors()``, and before ``invoke()``
  ///   where the output's size depends on data; `invalidTensorDataType` for strings, handles and variants.
  public func output(at index: Int) throws -> Tensor {
    try check(index, below: outputTensorCount)
    do { return try session.output(index) } catch {
      if case .notAllocated = error { throw InterpreterError.invokeInterpreterRequired }
      throw Self.error(error, index)
    }
  }

  /// Sets the shape of an input. Call ``allocateTensors()`` next, unless the input has that shape already.
  ///
  /// - Throws: `invalidTensorIndex`; `failedToResizeInputTensor` for a dimension below zero or above `Int32.max`.
  public func resizeInput(at index: Int, to shape: Tensor.Shape) throws {
    try check(index, below: inputTensorCount)
    do { try session.resizeInput(index, to: shape) } catch { throw Self.error(error, index) }
  }

  /// Fills an input.
  ///
  /// - Returns: The input, with these data.
  /// - Throws: `invalidTensorIndex`; `invalidTensorDataCount` unless the bytes are exactly those of the input's shape;
  ///   `allocateTensorsRequired`, as ``input(at:)`` does.
  @discardableResult
  public func copy(_ data: Data, toInputAt index: Int) throws -> Tensor {
    try check(index, below: inputTensorCount)
    do { return try session.copy(data, toInput: index) } catch { throw Self.error(error, index) }
  }

  /// Checks every operator against the shapes of the inputs, plans memory and packs weights.
  ///
  /// Needed once, and again after an input has got another shape, which clears all tensors.
  ///
  /// - Throws: `tensorFlowLiteError` with the operator that refuses the shapes, or with the memory that they would take.
  public func allocateTensors() throws {
    do { try session.allocate() } catch { throw Self.error(error) }
  }

  /// Computes the outputs.
  ///
  /// - Throws: `allocateTensorsRequired`; `tensorFlowLiteError` with the operator whose data stopped the run.
  public func invoke() throws {
    do { try session.invoke() } catch { throw Self.error(error) }
  }

  // MARK: Signatures

  /// The names of the model's signatures, in the file's order.
  public var signatureKeys: [String] { model.signatures.map(\.key) }

  /// Prepares one of the model's signatures, with tensors of its own and the variables that all of them share.
  ///
  /// - Throws: ``SignatureRunnerError/failedToCreateSignatureRunner(signatureKey:)`` where there is no such signature;
  ///   ``InterpreterError/tensorFlowLiteError(_:)`` with the reason where it cannot run with the file's shapes.
  public func signatureRunner(with key: String) throws -> SignatureRunner {
    guard let signature = model.signatures.first(where: { $0.key == key }) else {
      throw SignatureRunnerError.failedToCreateSignatureRunner(signatureKey: key)
    }
    return try SignatureRunner(
      model: model, signature: signature, options: options ?? Options(), variables: variables)
  }

  // MARK: Errors

  private func check(_ index: Int, below count: Int) throws(InterpreterError) {
    guard index >= 0, index < count else { throw .invalidTensorIndex(index: index, maxIndex: count - 1) }
  }

  private static func error(_ failure: Session.Failure, _ index: Int = 0) -> InterpreterError {
    switch failure {
    case .dataCount(let provided, let required):
      .invalidTensorDataCount(provided: provided, required: required)
    case .dataType: .invalidTensorDataType
    case .notAllocated: .allocateTensorsRequired
    case .notInvoked: .invokeInterpreterRequired
    case .impossibleShape: .failedToResizeInputTensor(index: index)
    case .engine(let error): .tensorFlowLiteError(error.message)
    }
  }
}
