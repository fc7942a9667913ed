// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import NIOCore

/// A vision task on one encoded picture.
public struct PictureTask: Sendable {
  /// The settings that a client may choose; tasks with equal settings share a prepared model.
  public struct Settings: Hashable, Sendable {
    /// The minimum score; nil for the task's own.
    public var scoreThreshold: Float?
    /// The maximum number of results; nil for the task's own.
    public var maximumResults: Int?
    /// The minimum score of what a landmarker detects, before it looks at the region; nil for the task's own.
    public var detectionThreshold: Float?
    /// The overlap above which the better of two boxes stays; nil for the task's own.
    public var iouThreshold: Float?
    /// Whether boxes of different classes suppress each other.
    public var isClassAgnostic = false
    /// Whether one box may have several classes.
    public var isMultiLabel = false
    /// The only labels to answer with; empty for all.
    public var allowed: [String] = []
    /// The labels to leave out.
    public var denied: [String] = []
    /// How pictures of other proportions are fitted in; nil for the task's own.
    public var fit: FitPolicy?
    /// How pixels are computed when a picture is resized; nil for the task's own.
    public var resampling: Resampling?
    /// How pixels become numbers; nil for what the model says, or its kind.
    public var pixels: Normalization?
    /// The order of the model's channels; nil for what the model says, or its kind.
    public var channels: ImageProcessor.Channels?
    /// The unit of the model's boxes and points; nil for what the model says, or its kind.
    public var boxUnits: BoxUnits?
    /// The order of a box's numbers in a model with suppression inside; nil for what the model says, or its kind.
    public var boxOrder: BoxOrder?
    /// Whether the rows or the columns of a square YOLO output are candidates; nil for what the model says.
    public var candidates: CandidateAxis?
    /// The form of the model's scores; nil for what the model says, or its kind.
    public var scores: ScoreForm?
    /// The kind of a model with boxes or poses; nil to recognize it.
    public var layout: DetectorLayout?
    /// The anchors of a raw YOLO head; nil for those that its version was published with.
    public var anchors: [Float]?
    /// How many keypoints an object of a YOLO model has; nil for what the metadata says, or else a person's.
    public var keypoints: KeypointShape?
    /// The index of the output that has a segmenter's mask; nil for the likeliest.
    public var outputIndex: Int?
    /// How the numbers of a picture that a model makes were made of pixels; nil for what the model says, or else as its input.
    public var outputPixels: Normalization?
    /// Whether a picture that a model makes is resized to the picture that it was given.
    public var fitsOutput = false
    /// The direction of the middle finger in a palm's region, in degrees; nil for the task's own.
    public var palmAngle: Float?
    /// How many cells a side of a body's heat map a point is moved to the mean of; nil for the task's own.
    public var refinementCells: Int?
    /// The face detector whose faces an embedder looks at, each for itself; nil to embed whole pictures.
    public var faces: FaceModel?

    /// Makes the task's own settings.
    public init() {}
  }

  /// A served face detector; settings are equal if they name the same one.
  public struct FaceModel: Hashable, Sendable {
    let served: ServedModel

    /// Names a detector.
    public init(_ served: ServedModel) { self.served = served }

    public static func == (one: FaceModel, other: FaceModel) -> Bool { one.served === other.served }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(served)) }
  }

  /// How many keypoints an object has, and how many numbers each.
  public struct KeypointShape: Hashable, Sendable {
    let count: Int
    let values: Int

    /// Reads `17x3` and the like, as `--keypoints` has them.
    public init(parsing text: String) throws(ApusError) {
      (count, values) = try KeypointDetector.Options.keypoints(parsing: text)
    }
  }

  /// The form of an answer.
  public enum Form: Hashable, Sendable {
    /// The results as JSON.
    case json
    /// The picture with the results drawn, as a PNG file.
    case annotated
    /// The picture or the mask that the task makes, as a PNG file.
    case png
    /// The numbers or the mask that the task makes, as a `.npy` file.
    case npy
    /// Nothing but the result: who asks writes the answer.
    case result
  }

  /// Which task.
  public let kind: VisionTaskKind
  /// The client's settings.
  public let settings: Settings
  /// The picture's file.
  public let file: ByteChunks
  /// The form of the answer.
  public let form: Form

  /// Makes a task.
  public init(_ kind: VisionTaskKind, settings: Settings, file: ByteChunks, form: Form) {
    self.kind = kind
    self.settings = settings
    self.file = file
    self.form = form
  }
}

/// The answer of a vision task.
public struct PictureAnswer: Sendable {
  /// The requested body: the results as the command line prints them, without `image`, or a file.
  public let body: ByteBuffer
  /// The result itself.
  public let result: any VisionResult
  /// How long the stages took.
  public let timings: StageTimings
  /// A warning that the picture's file is damaged; nil if it is not. A body of JSON has it, too.
  public let warning: String?
}
