// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusRuntime

/// A model that looks at regions of pictures.
struct RegionModel: Sendable {
  let pictures: PictureModel
  /// The values of pixels beyond the picture's edge.
  let border: PictureView.Border

  /// Prepares a model with one picture in.
  ///
  /// - Parameters:
  ///   - normalization: How pixels become numbers, unless the metadata says it.
  ///   - what: What the model is, for errors: `the palm detector`.
  init(
    _ prepared: PreparedModel, normalization: Normalization, border: PictureView.Border, reason: String
  ) throws(ApusError) {
    self.border = border
    pictures = try PictureModel(
      prepared, defaults: PictureDefaults(fit: .stretch, normalization: normalization, reason: reason))
  }

  /// The input's width and height, in pixels.
  var inputSize: (width: Int, height: Int) { (pictures.processor.width, pictures.processor.height) }

  /// Runs the model on a region, which is enlarged to the input's proportions.
  ///
  /// - Parameter body: Turns the outputs into a result, given the region that the input shows; its time counts as postprocessing.
  /// - Throws: `invalidData` for a region that is none; what running throws.
  func run<Result>(
    on region: Region, of view: PictureView, cancellation: Cancellation?,
    _ body: (ModelRun, Region) throws(ApusError) -> Result
  ) throws(ApusError) -> (result: Result, timings: StageTimings) {
    let start = ContinuousClock.now
    let cutting = Trace.now
    let (width, height) = inputSize
    try region.check("what a model looks at")
    let seen = region.padded(toProportions: width, height)
    let crop = try view.crop(seen, width: width, height: height, border: border)
    Trace.record(.preprocess, since: cutting)
    let cut = ContinuousClock.now - start
    var (result, timings) = try pictures.measure(crop, cancellation: cancellation) {
      run, _ throws(ApusError) in
      try body(run, seen)
    }
    timings.preprocess += cut
    return (result, timings)
  }
}

extension PreparedModel {
  /// Checks how many numbers each output has.
  ///
  /// - Parameter what: What the model should be, with what its outputs are: for the error.
  func checkOutputs(_ counts: [Int], of what: String) throws(ApusError) {
    guard outputs.map(\.shape.elementCount) == counts else {
      throw ApusError(
        .invalidArgument, "the model's outputs are not those of \(what), but: \(outputDescription)")
    }
  }
}

extension ModelRun {
  /// The numbers of an output, all of them finite.
  ///
  /// - Parameter what: What they are, for the error: `landmarks`.
  /// - Throws: `invalidData` if there are another number of them, or one is not finite.
  func finiteValues(of output: Int, count: Int, _ what: String) throws(ApusError) -> [Float] {
    try finiteValues(of: [output], count: count, what)
  }

  /// The numbers of outputs, one after the other, all of them finite.
  ///
  /// - Parameter what: What they are, for the error: `scores`.
  /// - Throws: `invalidData` if there are another number of them, or one is not finite.
  func finiteValues(of outputs: [Int], count: Int, _ what: String) throws(ApusError) -> [Float] {
    let values = try values(of: outputs)
    guard values.count == count else {
      throw ApusError(.invalidData, "the \(what) are \(values.count) numbers, not \(count) as when prepared")
    }
    if let index = values.firstIndex(where: { !$0.isFinite }) {
      throw ApusError(
        .invalidData,
        "number \(index) of the \(what) (output \(outputs.map(String.init).joined(separator: " and "))) is \(values[index]), not a finite number"
      )
    }
    return values
  }

  /// An output's only number, from 0 to 1.
  func probability(of output: Int, _ what: String) throws(ApusError) -> Float {
    let value = try finiteValues(of: output, count: 1, what)[0]
    guard value >= -0.001, value <= 1.001 else {
      throw ApusError(.invalidData, "the \(what) (output \(output)) is \(value), not 0 to 1")
    }
    return min(max(value, 0), 1)
  }
}
