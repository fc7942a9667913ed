// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

/// The landmarker of `apus gallery --hands`: hands become the embeddings of a gallery of gestures.
struct GestureModel: Sendable {
  /// The task that finds hands.
  let landmarker: HandLandmarker
  private let region: PixelRect?

  /// Prepares a landmarker from a bundle.
  init(bundle: String, input: ModelInputOptions, pictures count: Int) throws {
    var options = HandLandmarker.Options()
    options.interpreter = try input.baseOptions(pictures: count).interpreter
    landmarker = try HandLandmarker(modelFile: bundle, options: options)
    region = try input.regionRect
  }

  /// The hands of a picture with their places; the surest one is first.
  func findings(in image: ImageBuffer) throws(ApusError) -> GalleryModels.Findings {
    var found: [(embedding: Embedding, box: PixelRect?)] = []
    let result = try landmarker.detect(image, in: region)
    for hand in result.hands {
      found.append((try LandmarkClassifier.embedding(of: hand), PixelRect(around: hand.landmarks)))
    }
    return GalleryModels.Findings(embeddings: found, timings: result.timings)
  }

  /// The classifier that a gallery's file is for.
  static func classifier(ofFile path: String) throws(ApusError) -> LandmarkClassifier {
    let gallery = try EmbeddingGallery(contentsOfFile: path)
    do throws(ApusError) { return try LandmarkClassifier(gallery: gallery) } catch {
      throw ApusError(
        error.code, "the gallery '\(path)': \(error.message), with 'apus gallery add' and --hands")
    }
  }
}
