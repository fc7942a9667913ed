// SPDX-License-Identifier: Apache-2.0
import Apus

/// The third model of a face landmarker: how far the expressions of a face go, from its points.
struct BlendshapeModel: Sendable {
  /// The largest index of a point that the model asks for.
  static let maximumPointIndex = FaceMeshPoints.blendshapes.max() ?? 0

  private let interpreters: InterpreterPool

  /// Prepares a model with 146 points in, and 52 numbers out.
  ///
  /// - Throws: `invalidArgument` for other models; errors of `Apus.Interpreter`.
  init(_ model: Model, options: Interpreter.Options) throws(ApusError) {
    let interpreter = try Interpreter(model: model, options: options)
    let count = FaceMeshPoints.blendshapes.count
    let (inputs, outputs) = (interpreter.inputs, interpreter.outputs)
    guard inputs.count == 1, inputs[0].type == .float32, inputs[0].shape.elementCount == 2 * count,
      outputs.count == 1, outputs[0].type == .float32,
      outputs[0].shape.elementCount == FaceMesh.blendshapeNames.count
    else {
      throw ApusError(
        .invalidArgument,
        """
        the model of blendshapes has the inputs \(inputs.map(\.description).joined(separator: ", ")) and the outputs \
        \(outputs.map(\.description).joined(separator: ", ")), not one of \(2 * count) and one of \
        \(FaceMesh.blendshapeNames.count) float32 numbers
        """)
    }
    let shape = inputs[0].shape
    interpreters = InterpreterPool(interpreter, options: options) { _ in shape }
  }

  /// The expressions of a face.
  ///
  /// - Parameter landmarks: 478 points.
  /// - Throws: `invalidData` if the model's numbers are not finite.
  func blendshapes(of landmarks: [Landmark], cancellation: Cancellation?) throws(ApusError)
    -> [FaceMesh.Blendshape]
  {
    try interpreters.withInterpreter(cancellation: cancellation) { interpreter throws(ApusError) in
      try interpreter.withInput(at: 0, as: Float.self) { input throws(ApusError) in
        for (place, index) in FaceMeshPoints.blendshapes.enumerated() {
          input[2 * place] = landmarks[index].x
          input[2 * place + 1] = landmarks[index].y
        }
      }
      try interpreter.invoke(cancellation: cancellation)
      let names = FaceMesh.blendshapeNames
      let scores = try ModelRun(interpreter).finiteValues(of: 0, count: names.count, "blendshapes")
      return zip(names, scores).map { FaceMesh.Blendshape(name: $0, score: $1) }
    }
  }
}
