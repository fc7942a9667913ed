// SPDX-License-Identifier: Apache-2.0

internal import Apus

/// Runs one signature of a model, by the names of its tensors. ``Interpreter/signatureRunner(with:)`` makes it.
///
/// ```swift
/// let add = try interpreter.signatureRunner(with: "add")
/// try add.invoke(with: ["x": data])
/// let sum = try add.output(named: "output_0").data
/// ```
///
/// A runner has tensors of its own, allocated when it is made. It shares the model's resource variables with its interpreter
/// and the other runners, and belongs to one thread at a time, together with them.
public final class SignatureRunner {
  /// The name of the signature.
  public let signatureKey: String

  /// The names of the inputs, sorted.
  public let inputs: [String]

  /// The names of the outputs, sorted.
  public let outputs: [String]

  /// Why the last ``allocateTensors()`` or ``invoke(with:)`` failed: the operator, what was found and what was
  /// expected; nil if it did not. TensorFlowLiteSwift has no such property.
  public private(set) var failureReason: String?

  private let session: Session
  private let inputIndices: [String: Int]
  private let outputIndices: [String: Int]

  init(
    model: Apus.Model, signature: Apus.Signature, options: Interpreter.Options, variables: SharedVariables
  ) throws {
    session = Session(model: model, options: options, signature: signature, variables: variables)
    signatureKey = signature.key
    (inputs, inputIndices) = Self.names(signature.inputs, in: session.inputs)
    (outputs, outputIndices) = Self.names(signature.outputs, in: session.outputs)
    do { try allocateTensors() } catch {
      // A runner that was not made cannot be asked for its reason.
      throw failureReason.map(InterpreterError.tensorFlowLiteError) ?? error
    }
  }

  /// The names of tensors, sorted by their bytes, and each one's place in the subgraph.
  private static func names(
    _ arguments: [Apus.Signature.Argument], in tensors: [Apus.Tensor]
  ) -> ([String], [String: Int]) {
    let known = Dictionary(tensors.enumerated().map { ($1.index, $0) }) { first, _ in first }
    let places = arguments.compactMap { argument in
      known[argument.tensor.index].map { (argument.name, $0) }
    }
    let indices = Dictionary(places) { first, _ in first }
    return (indices.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, indices)
  }

  /// Allocates if need be, fills inputs, and computes the outputs.
  ///
  /// - Parameter inputs: Data by the names of inputs; an input that is left out keeps its values.
  /// - Throws: `failedToGetTensor` if there is no input of that name; `invalidTensorDataCount`; `failedToAllocateTensors` or
  ///   `failedToInvokeSignature`, whose cause is ``failureReason``.
  public func invoke(with inputs: [String: Data]) throws {
    try allocateTensors()
    for name in inputs.keys.sorted() {
      if let data = inputs[name] { try copy(data, toInputNamed: name) }
    }
    do { try session.invoke() } catch { throw self.error(error) }
  }

  /// An input, with a copy of its bytes.
  ///
  /// - Throws: `failedToGetTensor`; `allocateTensorsRequired` between a change of the input's shape and the next
  ///   allocation; `invalidTensorDataType` for strings, handles and variants.
  public func input(named name: String) throws -> Tensor {
    let index = try index(of: name, in: inputIndices, type: "input")
    do { return try session.input(index) } catch { throw self.error(error) }
  }

  /// An output, with a copy of its bytes: what the last run computed.
  ///
  /// - Throws: `failedToGetTensor`; `allocateTensorsRequired` before a run where the output's size depends on data;
  ///   `invalidTensorDataType` for strings, handles and variants.
  public func output(named name: String) throws -> Tensor {
    let index = try index(of: name, in: outputIndices, type: "output")
    do { return try session.output(index) } catch { throw self.error(error) }
  }

  /// Sets the dimensions of an input that the file leaves open, which takes effect at the next allocation.
  ///
  /// - Throws: `failedToResizeInputTensor` if there is no such input, for a dimension below zero or above `Int32.max`, and for
  ///   another one than the file fixes.
  public func resizeInput(named name: String, toShape shape: Tensor.Shape) throws {
    guard let index = inputIndices[name] else {
      throw SignatureRunnerError.failedToResizeInputTensor(inputName: name)
    }
    do { try session.resizeInput(index, to: shape, isStrict: true) } catch {
      throw SignatureRunnerError.failedToResizeInputTensor(inputName: name)
    }
  }

  /// Fills an input.
  ///
  /// - Throws: `failedToGetTensor`; `invalidTensorDataCount` unless the bytes are exactly those of the input's shape;
  ///   `allocateTensorsRequired`, as ``input(named:)`` does.
  public func copy(_ data: Data, toInputNamed name: String) throws {
    let index = try index(of: name, in: inputIndices, type: "input")
    do { _ = try session.copy(data, toInput: index) } catch { throw self.error(error) }
  }

  /// Makes the signature ready for the shapes of its inputs; ``invoke(with:)`` does so by itself.
  ///
  /// - Throws: `failedToAllocateTensors`, whose cause is ``failureReason``.
  public func allocateTensors() throws {
    failureReason = nil
    do { try session.allocate() } catch {
      _ = self.error(error)
      throw SignatureRunnerError.failedToAllocateTensors
    }
  }

  private func index(
    of name: String, in indices: [String: Int], type: String
  ) throws(SignatureRunnerError) -> Int {
    guard let index = indices[name] else {
      throw .failedToGetTensor(tensorType: type, nameInSignature: name)
    }
    return index
  }

  private func error(_ failure: Session.Failure) -> SignatureRunnerError {
    switch failure {
    case .dataCount(let provided, let required):
      return .invalidTensorDataCount(provided: provided, required: required)
    case .dataType: return .invalidTensorDataType
    case .notAllocated, .notInvoked: return .allocateTensorsRequired
    case .impossibleShape: return .failedToAllocateTensors
    case .engine(let error):
      failureReason = error.message
      return .failedToInvokeSignature(signatureKey: signatureKey)
    }
  }
}
