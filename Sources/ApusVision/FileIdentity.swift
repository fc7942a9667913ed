// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// Which file a path leads to, through whatever links and however it is spelled.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// The identity of a regular file; nil for pipes, devices and folders, and where nothing is.
  package init?(ofFileAt path: String) { self.init(path, S_IFREG) }

  /// The identity of a folder; nil for what is none.
  package init?(ofFolderAt path: String) { self.init(path, S_IFDIR) }

  private init?(_ path: String, _ kind: mode_t) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == kind else { return nil }
    (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
  }

  /// Whether two paths lead to one regular file.
  package static func areSame(_ path: String, _ other: String) -> Bool {
    guard let identity = FileIdentity(ofFileAt: path) else { return false }
    return identity == FileIdentity(ofFileAt: other)
  }
}
