// SPDX-License-Identifier: Apache-2.0

import ApusConsole
import ApusVision
import Synchronization

/// The remarks of evaluations on pictures with an orientation: truths are for pictures as they are viewed, or for their stored pixels, and
/// do not say which.
final class TurnedPictures: Sendable {
  private let first = Mutex<(name: String, orientation: ImageOrientation)?>(nil)

  /// Takes a picture whose size is that of its truth.
  func add(_ image: ImageBuffer, _ name: String, isSizeKnown: Bool = true) {
    guard image.orientation != .up else { return }
    // Another size would have shown it.
    if isSizeKnown, image.orientation.swapsSides, image.originalWidth != image.originalHeight { return }
    // The first by name: which one comes first depends on the threads.
    first.withLock { known in
      if known.map({ name.precedesByNumbers($0.name) }) ?? true { known = (name, image.orientation) }
    }
  }

  /// A warning about the first picture that is compared though its truth may be for another orientation; usually empty.
  var warnings: [String] {
    first.withLock { $0 }.map { name, orientation in
      [
        "pictures with an orientation, such as '\(name)' (EXIF \(orientation.rawValue)), are compared as they are viewed; "
          + "where their truth is for stored pixels, remove the orientation"
      ]
    } ?? []
  }

  /// The rest of a message about another size than the truth's; empty where the orientation has no part in it.
  static func hint(_ orientation: ImageOrientation) -> String {
    orientation.swapsSides
      ? "; its orientation (EXIF \(orientation.rawValue)) turns it: where the truth is for stored pixels, remove the orientation"
      : ""
  }
}
