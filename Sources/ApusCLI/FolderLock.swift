// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusSystem
import ApusVision

/// The turn of one program to change files of a folder. Others that ask for it wait until it ends.
///
/// The folder itself is locked, not the file: a changed file takes the place of the former one, and nothing is left behind.
final class FolderLock {
  private let descriptor: Int32

  /// Waits for the turn.
  ///
  /// - Parameter path: The file that will be changed, or made.
  /// - Throws: `unreadableFile` if its folder cannot be opened or locked.
  init(ofFile path: String) throws(ApusError) {
    let folder = parentFolder(of: path)
    descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.refused(folder) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else {
        let error = Self.refused(folder)
        _ = close(descriptor)
        throw error
      }
    }
  }

  deinit { _ = close(descriptor) }

  private static func refused(_ folder: String) -> ApusError {
    ApusError(.unreadableFile, "the folder '\(folder)' cannot be locked: \(systemReason(errno))")
  }
}
