// SPDX-License-Identifier: Apache-2.0
import Apus
import Synchronization

/// Interpreters of one model; each caller gets one for itself.
///
/// There are as many as there were concurrent callers; they share the model's weights.
final class InterpreterPool: Sendable {
  /// An idle interpreter. Whoever takes it from the pool has the only reference, so it may change threads.
  private struct Idle: @unchecked Sendable {
    let interpreter: Interpreter
    let batch: Int
  }

  private let model: Model
  private let options: Interpreter.Options
  /// The shape of the input for this many pictures.
  private let shape: @Sendable (Int) -> TensorShape
  private let idle: Mutex<[Idle]>

  /// Makes a pool with an interpreter for one picture, to which the caller keeps no reference.
  init(
    _ interpreter: Interpreter, options: Interpreter.Options,
    shape: @escaping @Sendable (_ batch: Int) -> TensorShape
  ) {
    model = interpreter.model
    self.options = options
    self.shape = shape
    idle = Mutex([Idle(interpreter: interpreter, batch: 1)])
  }

  /// Lends an interpreter whose input takes this many pictures.
  func withInterpreter<R>(
    batch: Int = 1, _ body: (Interpreter) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    let lent = try take(batch: batch)
    defer { idle.withLock { $0.append(lent) } }
    return try body(lent.interpreter)
  }

  private func take(batch: Int) throws(ApusError) -> Idle {
    let found = idle.withLock { idle in
      idle.lastIndex { $0.batch == batch }.map { idle.remove(at: $0) }
    }
    if let found { return found }
    var options = options
    options.inputShapes[0] = shape(batch)
    return Idle(interpreter: try Interpreter(model: model, options: options), batch: batch)
  }
}
