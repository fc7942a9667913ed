import Apus
import ApusVision

/// The detector and picture that are part of the program.
enum EmbeddedDetection {
  /// A detector of the embedded model, with other labels if there are any.
  static func detector(labels: LabelMap?, options: ObjectDetector.Options) throws(ApusError) -> ObjectDetector
  {
    throw ApusError(.invalidArgument, "this build has no embedded model: give one with --model")
  }

  /// The embedded picture.
  static func picture() throws(ApusError) -> ImageBuffer {
    throw ApusError(.invalidArgument, "this build has no embedded picture: give one")
  }
}
