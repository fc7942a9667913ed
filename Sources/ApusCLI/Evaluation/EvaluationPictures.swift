// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import Synchronization

/// Reads pictures for several threads, which wait where memory for all of them is short.
struct EvaluationPictures: Sendable {
  /// How large pictures may be.
  let limits: ImageLimits
  private let budget = PictureBudget()
  private let flaws = Flaws()

  /// Warnings about damaged files, which copies share.
  private final class Flaws: Sendable {
    let warnings = Mutex<[String]>([])
  }

  init(limits: ImageLimits) { self.limits = limits }

  /// Warnings about the damaged files so far.
  var warnings: [String] { flaws.warnings.withLock { $0.sorted() } }

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
    if let flaw = picture.flawWarning(of: path) { flaws.warnings.withLock { $0.append(flaw) } }
    return try body(picture)
  }
}
