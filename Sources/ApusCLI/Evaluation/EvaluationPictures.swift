// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision

/// Reads pictures for several threads, which wait where memory for all of them is short.
struct EvaluationPictures: Sendable {
  /// How large pictures may be.
  let limits: ImageLimits
  private let budget = PictureBudget()

  init(limits: ImageLimits) { self.limits = limits }

  /// Lends a file's picture to `body`.
  ///
  /// - Throws: Errors of reading, and of `body`.
  func callAsFunction<Result>(
    _ path: String, _ reduction: ImageReduction, _ body: (ImageBuffer) throws(ApusError) -> Result
  ) throws(ApusError) -> Result {
    let source = PictureSource(name: path)
    let count = try source.workingByteCount(limits, reduction, isDrawnOn: false) ?? budget.limit
    budget.take(count)
    defer { budget.give(count) }
    return try body(try ImageBuffer(decoding: source.bytes(), limits: limits, reduction: reduction))
  }
}
