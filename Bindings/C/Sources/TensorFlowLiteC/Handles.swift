// SPDX-License-Identifier: Apache-2.0

import Apus
import Synchronization

/// A `TfLiteModel`.
final class ModelHandle: HandleObject {
  static let typeName = "TfLiteModel"
  let model: Model

  init(_ model: Model) { self.model = model }
}

/// A `TfLiteInterpreterOptions`.
final class OptionsHandle: HandleObject {
  static let typeName = "TfLiteInterpreterOptions"
  let values: Mutex<InterpreterOptions>

  init(_ values: InterpreterOptions = InterpreterOptions()) { self.values = Mutex(values) }
}

/// A `TfLiteDelegate`: a pointer of the client's. Delegates are never applied.
final class DelegateHandle: HandleObject, @unchecked Sendable {
  static let typeName = "TfLiteOpaqueDelegate"
  let data: UnsafeMutableRawPointer?

  init(data: UnsafeMutableRawPointer?) { self.data = data }
}

/// A `TfLiteOpaqueTensorBuilder`: the type of a tensor that an operator adds.
final class TensorBuilderHandle: HandleObject {
  static let typeName = "TfLiteOpaqueTensorBuilder"
  let type = Mutex(ElementType.float32)
}

/// A `TfLiteInterpreter`.
final class InterpreterHandle: HandleObject, @unchecked Sendable {
  static let typeName = "TfLiteInterpreter"

  let model: Model
  let options: InterpreterOptions
  let exclusion = Exclusion()
  /// The main subgraph.
  let main: Session
  /// How many subgraphs the model has; few clients ask.
  private(set) lazy var subgraphCount = model.subgraphs.count
  /// The signatures' names, as clients read them.
  let signatures: [Signature]
  let signatureNames: CStrings
  /// The indices of inputs and outputs, as clients read them.
  let inputIndices: CIntegers, outputIndices: CIntegers

  private let variables = SharedVariables()
  private var operatorList: OperatorList?
  private var sessions: [Int: Session]
  private let running = Mutex<Cancellation?>(nil)

  var reporter: ErrorReporter { options.reporter }

  init(_ model: Model, _ options: InterpreterOptions) throws(Refusal) {
    self.model = model
    var options = options
    if let reason = options.refusals.first { throw Refusal(reason) }
    options.operators += try options.resolver?.operators(of: model) ?? []
    options.customOperators = ClientOperator.joined(options.operators).map { [reporter = options.reporter] in
      $0.customOperator(reporter)
    }
    var reasons: [[String]] = []
    do throws(ApusError) {
      for signature in [nil] + model.signatures.map(\.key) {
        reasons.append(
          try model.unsupportedOperators(besides: options.customOperators, ofSignature: signature))
      }
    } catch { throw Refusal(error) }
    // A model may train where only its predictions are wanted. What each function lacks is an error of its own allocation.
    if !reasons.contains([]), let first = reasons[0].first {
      throw Refusal(first + (reasons[0].count > 1 ? " (and \(reasons[0].count - 1) more)" : ""))
    }
    self.options = options
    signatures = model.signatures
    signatureNames = CStrings(signatures.map(\.key))
    main = try Session(
      model, subgraph: 0, signature: nil, options: options, variables: variables, exclusion: exclusion)
    sessions = [0: main]
    inputIndices = CIntegers(main.inputIndices)
    outputIndices = CIntegers(main.outputIndices)
  }

  /// A subgraph with its tensors. One that a signature runs can be run, as the main one can.
  func session(ofSubgraph subgraph: Int) throws(Refusal) -> Session {
    if let session = sessions[subgraph] { return session }
    let session = try Session(
      model, subgraph: subgraph, signature: signatures.first { $0.subgraph == subgraph }?.key,
      options: options, variables: variables, exclusion: exclusion)
    sessions[subgraph] = session
    return session
  }

  /// The main subgraph's operators, as clients read them.
  func operators() throws(Refusal) -> OperatorList {
    if let operatorList { return operatorList }
    do throws(ApusError) {
      let list = OperatorList(try model.operators(ofSubgraph: 0))
      operatorList = list
      return list
    } catch { throw Refusal(error) }
  }

  /// Resets the variable tensors of all subgraphs.
  func resetVariables() { for session in sessions.values { session.resetVariables() } }

  /// Runs a session, so that ``cancel()`` can stop it.
  func invoke(_ session: Session) throws(Refusal) {
    guard options.allowsCancellation else { return try session.invoke(nil) }
    let cancellation = Cancellation()
    running.withLock { $0 = cancellation }
    defer { running.withLock { $0 = nil } }
    try session.invoke(cancellation)
  }

  /// Stops the run that another thread is in, if there is one.
  func cancel() throws(Refusal) {
    guard options.allowsCancellation else {
      throw Refusal("cancellation is not enabled: call TfLiteInterpreterOptionsEnableCancellation first")
    }
    running.withLock { $0?.cancel() }
  }
}

/// A `TfLiteSignatureRunner`.
final class RunnerHandle: HandleObject {
  static let typeName = "TfLiteSignatureRunner"

  /// Kept alive, as a runner may outlive its interpreter in a program that forgets the order.
  let interpreter: InterpreterHandle
  let session: Session
  let inputNames: CStrings, outputNames: CStrings
  private let inputs: [String: Int], outputs: [String: Int]

  /// The signature's arguments; nil for the main subgraph, whose tensors have their own names.
  init(_ interpreter: InterpreterHandle, _ signature: Signature?) throws(Refusal) {
    self.interpreter = interpreter
    session =
      try signature.map { s throws(Refusal) in try interpreter.session(ofSubgraph: s.subgraph) }
      ?? interpreter.main
    func names(_ arguments: [Signature.Argument]?, _ indices: [Int], _ tensors: [Tensor]) -> [(String, Int)] {
      guard let arguments else { return indices.enumerated().map { (tensors[$1].name, $0) } }
      let known = arguments.compactMap { argument in
        indices.firstIndex(of: argument.tensor.index).map { (argument.name, $0) }
      }
      return known.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    }
    let inputs = names(signature?.inputs, session.inputIndices, session.tensors)
    let outputs = names(signature?.outputs, session.outputIndices, session.tensors)
    self.inputs = Dictionary(inputs) { first, _ in first }
    self.outputs = Dictionary(outputs) { first, _ in first }
    inputNames = CStrings(inputs.map(\.0))
    outputNames = CStrings(outputs.map(\.0))
  }

  /// The position of an input.
  func input(_ name: UnsafePointer<CChar>?) throws(Refusal) -> Int {
    try Self.position(name, in: inputs, "input")
  }

  /// The position of an output.
  func output(_ name: UnsafePointer<CChar>?) throws(Refusal) -> Int {
    try Self.position(name, in: outputs, "output")
  }

  private static func position(
    _ name: UnsafePointer<CChar>?, in positions: [String: Int], _ what: String
  ) throws(Refusal) -> Int {
    guard let name else { throw Refusal("the name of the \(what) is NULL") }
    let text = String(cString: name)
    guard let position = positions[text] else {
      throw Refusal(
        "the signature has no \(what) \(text), only: \(positions.keys.sorted().joined(separator: ", "))")
    }
    return position
  }
}
