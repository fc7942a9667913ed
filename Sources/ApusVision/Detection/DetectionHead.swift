// SPDX-License-Identifier: Apache-2.0
import Apus

/// One object in a model's terms: what a head finds before it is placed in the picture.
struct DetectedObject {
  var index: Int
  var score: Float
  /// In fractions of the input.
  var box: BoundingBox
  /// In fractions of the input.
  var keypoints: [ModelKeypoint] = []
  var mask: MaskPatch?
  /// The corners of a turned box, in fractions of the input.
  var corners: [(x: Float, y: Float)] = []
  /// Whether only the center tells where the object is.
  var isCentered = false
}

/// A point in fractions of a model's input.
struct ModelKeypoint {
  var x: Float
  var y: Float
  var score: Float?
}

/// Which objects to keep.
struct DetectionCriteria: Sendable {
  var scoreThreshold: Float
  var maxResults: Int
  var maximumOverlap: Float
  var isClassAgnostic: Bool
  var isMultiLabel: Bool
  var categories: CategorySelection
}

/// Turns the outputs of one kind of model into objects.
protocol DetectionHead: Sendable {
  /// The kind of model.
  var layout: DetectorLayout { get }
  /// Why the model was taken for that kind.
  var reason: String { get }
  /// How the outputs are read, each with its source: `layout`, `box units`, `scores`, and what else the kind needs.
  var readings: [Assumption] { get }
  /// How its pictures are prepared.
  var pictureDefaults: PictureDefaults { get }
  /// The maximum number of results, unless the options say it.
  var defaultMaxResults: Int { get }
  /// The number of classes, if the shapes decide it.
  var classCount: Int? { get }
  /// From where classes are counted; nil if the number of scores says it, or the kind of model.
  var numbering: ClassNumbering? { get }
  /// The content of each output, in words.
  var roles: [Int: String] { get }
  /// Whether boxes end at the picture's edges.
  var clipsBoxes: Bool { get }
  /// Warnings about the model.
  var warnings: [String] { get }
  /// Whether the next answer may decide how all later ones are read.
  var isUndecided: Bool { get }

  /// The postprocessing steps, in words.
  func steps(_ criteria: DetectionCriteria) -> [String]

  /// The objects, best first.
  func objects(in run: ModelRun, _ criteria: DetectionCriteria) throws(ApusError) -> [DetectedObject]
}

extension DetectionHead {
  var pictureDefaults: PictureDefaults { PictureDefaults() }
  var defaultMaxResults: Int { layout.defaultMaxResults }
  var numbering: ClassNumbering? { nil }
  var clipsBoxes: Bool { false }
  var warnings: [String] { [] }
  var isUndecided: Bool { false }
}
