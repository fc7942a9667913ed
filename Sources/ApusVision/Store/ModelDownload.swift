// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Where a download is to be written, and where to report its progress.
public final class ModelDownload: Sendable {
  /// The file to write, which does not exist yet, in a folder that does.
  public let path: String

  private let observe: @Sendable (Double) -> Void
  private let reported = Mutex(0.0)

  /// Makes a download, for tests of what a program gives to ``ModelStore/update(to:sha256:download:)``.
  ///
  /// - Parameters:
  ///   - path: The file to write.
  ///   - observe: Called with how much has arrived, from 0 to 1.
  public convenience init(path: String, observing observe: @escaping @Sendable (Double) -> Void = { _ in }) {
    self.init(path: path, observe)
  }

  init(path: String, _ observe: @escaping @Sendable (Double) -> Void) {
    self.path = path
    self.observe = observe
  }

  /// Reports how much has arrived, from 0 to 1; from any thread, as often as you like. Steps of less than a hundredth,
  /// and steps back, are left out.
  public func report(_ fraction: Double) {
    let fraction = min(max(fraction, 0), 1)
    let isNews = reported.withLock { reported in
      guard fraction - reported >= 0.01 || fraction == 1 && reported < 1 else { return false }
      reported = fraction
      return true
    }
    if isNews { observe(fraction) }
  }
}
