// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import NIOCore

/// A vision task on one encoded picture.
public struct PictureTask: Sendable {
  /// What a client may choose; tasks with equal settings share a prepared model.
  public struct Settings: Hashable, Sendable {
    /// The minimum score; nil for the task's own.
    public var scoreThreshold: Float?
    /// The maximum number of results; nil for the task's own.
    public var maximumResults: Int?
    /// The only labels to answer with; empty for all.
    public var allowed: [String] = []
    /// The labels to leave out.
    public var denied: [String] = []
    /// How pictures of other proportions are fitted in; nil for the task's own.
    public var fit: FitPolicy?
    /// How pixels become numbers; nil for what the model says, or its kind.
    public var pixels: Normalization?
    /// The order of the model's channels; nil for what the model says, or its kind.
    public var channels: ImageProcessor.Channels?
    /// The unit of the model's boxes and points; nil for what the model says, or its kind.
    public var boxUnits: BoxUnits?
    /// What the model's scores are; nil for what the model says, or its kind.
    public var scores: ScoreForm?

    /// Makes the task's own settings.
    public init() {}
  }

  /// Which task.
  public let kind: VisionTaskKind
  /// What the client chose.
  public let settings: Settings
  /// The picture's file.
  public let file: ByteChunks
  /// Whether to draw the results on the picture.
  public let annotates: Bool

  /// Makes a task.
  public init(_ kind: VisionTaskKind, settings: Settings, file: ByteChunks, annotates: Bool) {
    self.kind = kind
    self.settings = settings
    self.file = file
    self.annotates = annotates
  }
}

/// What came of a vision task.
public struct PictureAnswer: Sendable {
  /// The results as the command line prints them, without `image`; empty where an annotated picture was asked for.
  public let json: ByteBuffer
  /// The annotated picture as a PNG file, where it was asked for.
  public let annotated: ByteBuffer?
  /// How long the stages took.
  public let timings: StageTimings
}
