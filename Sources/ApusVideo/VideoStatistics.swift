// SPDX-License-Identifier: Apache-2.0

/// The counts of a source's frames and restarts so far.
public struct VideoStatistics: Hashable, Sendable {
  /// The frames that arrived, without those that still waited for a reader when it ended the sequence.
  public internal(set) var arrived = 0
  /// The frames that a newer one replaced before they were read; always 0 for files.
  public internal(set) var dropped = 0
  /// The frames that came damaged, or cut short. Those of a camera were left out, but for JPEGs that could be decoded to their end. For
  /// everything else, it is the minimum by the messages of ffmpeg, which leaves out some of them, and fills in what is missing of others.
  /// A file that ends after a whole frame is not noticed.
  public internal(set) var damaged = 0
  /// The message about the first damaged frame, that of ffmpeg but for cameras; nil if there is none, or only frames of cameras that were
  /// left out.
  public internal(set) var damageReason: String?
  /// How often the source was started again.
  public internal(set) var restarts = 0
  /// Why the source was started again the last time: the error with which it failed, or that it ended; nil if it never was.
  public internal(set) var restartReason: String?
}
