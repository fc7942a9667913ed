// SPDX-License-Identifier: Apache-2.0

/// The author's description of one input or output.
package struct TensorMetadata: Hashable, Sendable {
  /// The content of a tensor.
  package enum Content: Hashable, Sendable {
    /// Not given, or unknown to this build.
    case unknown
    /// Plain numbers.
    case feature
    /// A picture.
    case image(ImageProperties)
    /// Boxes.
    case boundingBox(BoundingBoxProperties)
    /// Sound: samples per second and channels.
    case audio(sampleRate: Int, channels: Int)
  }

  /// The properties of a picture.
  package struct ImageProperties: Hashable, Sendable {
    /// The order of colors.
    package enum ColorSpace: Int8, Hashable, Sendable {
      /// Not given, or unknown to this build.
      case unknown = 0
      /// Red, green, blue.
      case rgb = 1
      /// One channel.
      case grayscale = 2
    }

    /// The order of colors.
    package let colorSpace: ColorSpace
    /// The size to use if the tensor's is dynamic.
    package let defaultWidth: Int?
    /// The size to use if the tensor's is dynamic.
    package let defaultHeight: Int?
  }

  /// The meaning of a box's numbers.
  package struct BoundingBoxProperties: Hashable, Sendable {
    /// The kind of a box.
    package enum Kind: Int8, Hashable, Sendable {
      /// Not given, or unknown to this build.
      case unknown = 0
      /// Left, top, right, bottom.
      case boundaries = 1
      /// Left, top, width, height.
      case upperLeft = 2
      /// Center x, center y, width, height.
      case center = 3
    }

    /// The unit of coordinates.
    package enum CoordinateType: Int8, Hashable, Sendable {
      /// Fractions of the picture's sides.
      case ratio = 0
      /// Pixels.
      case pixel = 1
    }

    /// The position of each of the kind's numbers in the tensor; empty means in the kind's order.
    package let index: [Int]
    /// The kind of the box.
    package let type: Kind
    /// The unit of coordinates.
    package let coordinateType: CoordinateType
  }

  /// How pixels become the input: `(x − mean) / std`, one number of each or one per channel.
  package struct Normalization: Hashable, Sendable {
    /// The number to subtract.
    package let mean: [Float]
    /// The divisor; it may be zero.
    package let std: [Float]

    /// Makes a normalization from its numbers.
    package init(mean: [Float], std: [Float]) {
      self.mean = mean
      self.std = std
    }
  }

  /// How scores are calibrated; the parameters are in an associated file.
  package struct ScoreCalibration: Hashable, Sendable {
    /// The transformation of a score before calibration.
    package enum Transformation: Int8, Hashable, Sendable {
      /// Nothing.
      case identity = 0
      /// The logarithm.
      case log = 1
      /// The inverse of the logistic function.
      case inverseLogistic = 2
    }

    /// The transformation of a score before calibration.
    package let transformation: Transformation
    /// The score if parameters are missing or the score is below their minimum.
    package let defaultScore: Float
  }

  /// The name, which may differ from the tensor's.
  package let name: String
  /// A description for people.
  package let description: String
  /// The names of its dimensions; often empty.
  package let dimensionNames: [String]
  /// The tensor's content.
  package let content: Content
  /// The first and last dimension that the content takes; nil means all but the batch.
  package let valueRange: ClosedRange<Int>?
  /// How pixels become the input.
  package let normalization: Normalization?
  /// The minimum score of a result; nil if unknown.
  package let scoreThreshold: Float?
  /// How scores are calibrated.
  package let scoreCalibration: ScoreCalibration?
  /// The minimum values, one or one per channel.
  package let minimums: [Float]
  /// The maximum values, one or one per channel.
  package let maximums: [Float]
  /// The files that belong to the tensor.
  package let associatedFiles: [AssociatedFile]

  /// The meaning of a box's numbers, if the tensor contains boxes.
  package var boundingBoxProperties: BoundingBoxProperties? {
    if case .boundingBox(let properties) = content { properties } else { nil }
  }

  /// The first file of labels, of an axis or of values; among several, that without a locale.
  package var labelFile: AssociatedFile? {
    labelFiles.first { $0.locale.isEmpty } ?? labelFiles.first
  }

  /// The files of labels, of an axis or of values.
  package var labelFiles: [AssociatedFile] {
    associatedFiles.filter { $0.type == .tensorAxisLabels || $0.type == .tensorValueLabels }
  }

  /// The first file of labels with this locale.
  package func labelFile(locale: String) -> AssociatedFile? {
    labelFiles.first { $0.locale == locale }
  }
}
