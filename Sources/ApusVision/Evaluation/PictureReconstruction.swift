// SPDX-License-Identifier: Apache-2.0

import Apus

/// An autoencoder of pictures: its error on a picture says how unusual the picture is.
package final class PictureReconstruction: Sendable {
  private let pictures: PictureModel

  /// Prepares a model.
  ///
  /// - Throws: `invalidArgument` unless the model has one output with as many numbers as its input; errors of `Apus.Interpreter`.
  package init(model: Model, options: BaseOptions) throws(ApusError) {
    let prepared = try PreparedModel(model, options: options)
    guard prepared.outputs.count == 1, prepared.geometry.fixedBatch == 1,
      prepared.outputs[0].shape.elementCount == prepared.interpreter.inputs[0].shape.elementCount
    else {
      throw ApusError(
        .invalidArgument,
        "the model is no autoencoder, whose one output has as many numbers as its input \(prepared.interpreter.inputs[0]); "
          + "its outputs are \(prepared.outputDescription)")
    }
    pictures = try PictureModel(prepared, defaults: PictureDefaults())
  }

  /// How the model takes pictures.
  package var readings: [Assumption] { pictures.readings }

  /// How the model takes pictures, where that is doubtful.
  package var warnings: [String] { pictures.warnings }

  /// How far files may be reduced while they are read.
  package var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The mean squared difference between the input's numbers and the output's.
  ///
  /// - Throws: Errors of the run; `invalidData` if the output has numbers that are not finite.
  package func error(of image: ImageBuffer) throws(ApusError) -> Double {
    try pictures.measure(image, cancellation: nil) { run, _ throws(ApusError) in
      try Self.meanSquaredError(run.inputNumbers(), run.values(of: 0))
    }.result
  }

  private static func meanSquaredError(_ input: [Float], _ output: [Float]) throws(ApusError) -> Double {
    try meanSquaredError(input.lazy.map { Double($0) }, output)
  }

  /// The mean squared difference of numbers and what an autoencoder makes of them.
  ///
  /// - Throws: `invalidData` if a number is not finite, or there are more of one than of the other.
  package static func meanSquaredError(
    _ input: some Collection<Double>, _ output: [Float]
  ) throws(ApusError) -> Double {
    guard input.count == output.count, !output.isEmpty else {
      throw ApusError(.invalidData, "the output has \(output.count) numbers for \(input.count) of the input")
    }
    var sum = 0.0
    for (expected, found) in zip(input, output) {
      let difference = expected - Double(found)
      sum += difference * difference
    }
    guard sum.isFinite else { throw ApusError(.invalidData, "the output has a number that is not finite") }
    return sum / Double(output.count)
  }
}
