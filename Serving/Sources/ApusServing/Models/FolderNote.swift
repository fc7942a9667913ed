// SPDX-License-Identifier: Apache-2.0

/// An entry of a folder of models that is not served as another server would serve it, for the log.
public struct FolderNote: Sendable {
  /// The entry of the folder.
  public let name: String
  /// The missing models or the settings that are not heeded, and why.
  public let reason: String
}
