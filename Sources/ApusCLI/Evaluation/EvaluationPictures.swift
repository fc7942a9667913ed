// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import Synchronization

/// Reads pictures for several threads, which wait where memory for all of them is short.
final class EvaluationPictures: Sendable {
  /// How large pictures may be.
  let limits: ImageLimits
  private let budget = PictureBudget()
  private let flaws = Mutex<[String]>([])

  init(limits: ImageLimits) { self.limits = limits }

  /// Warnings about the damaged files so far.
  var warnings: [String] { flaws.withLock { $0.sorted() } }

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
    let picture = try ImageBuffer(decoding: source.bytes(), limits: limits, reduction: reduction)
    if let flaw = picture.flawWarning(of: path) { flaws.withLock { $0.append(flaw) } }
    return try body(picture)
  }
}
