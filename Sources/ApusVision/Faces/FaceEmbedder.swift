// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds faces and turns each into an embedding, by a face detector and a model for aligned faces.
///
/// ```swift
/// let embedder = try FaceEmbedder(
///   detector: FaceDetector(modelFile: "face_detection_short_range.tflite"),
///   embedder: ImageEmbedder(modelFile: "facenet.tflite"))
/// for face in try embedder.embed(picture).faces { gallery.nearest(to: face.embedding) }
/// ```
///
/// Any number of threads can share an embedder.
public final class FaceEmbedder: VisionTask {
  private let detector: FaceDetector
  private let embedder: ImageEmbedder

  /// The side of an aligned face, in pixels: the longer one of the model's input.
  private var side: Int { min(max(embedder.inputWidth, embedder.inputHeight), 4096) }

  /// Joins two tasks.
  public init(detector: FaceDetector, embedder: ImageEmbedder) {
    self.detector = detector
    self.embedder = embedder
  }

  /// The embedder's assumptions about its model, with the readings and warnings of the face detector, updated
  /// by the answers so far.
  public var assumptions: TaskAssumptions { embedder.assumptions.with(detector.assumptions, of: "faces'") }

  /// Whether the next picture may decide how faces are read in all later ones.
  package var isUndecided: Bool { detector.isUndecided }

  /// Every pixel is read: faces of pictures that are reduced have fewer.
  public var imageReduction: ImageReduction { .none }

  /// The faces of a picture, best first, each with the embedding of the face alone, whose length is 1.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: what ``FaceDetector`` and ``ImageEmbedder`` throw. A face whose points coincide has no upright position and is left
  ///   out.
  public func embed(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> FaceEmbeddingResult {
    try embed(image, in: region, cancellation: cancellation) { _ in {} }
  }

  /// As ``embed(_:in:cancellation:)``, watched by the caller.
  ///
  /// - Parameter watch: Gets the number of faces, and returns what is called before each of them; what that throws ends the work.
  package func embed(
    _ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation? = nil,
    watch: (Int) -> () throws(ApusError) -> Void
  ) throws(ApusError) -> FaceEmbeddingResult {
    let found = try detector.detect(image, in: region, cancellation: cancellation)
    var result = FaceEmbeddingResult(
      imageWidth: found.imageWidth, imageHeight: found.imageHeight, faces: [], timings: found.timings)
    guard !found.faces.isEmpty else { return result }
    let picture = image.oriented().converted(to: .rgb)
    let check = watch(found.faces.count)
    for face in found.faces {
      try check()
      guard let aligned = face.aligned(in: picture, size: side) else { continue }
      let embedded = try embedder.embed(aligned, cancellation: cancellation)
      result.timings += embedded.timings
      let embedding = Embedding(embedded.embeddings.flatMap(\.values)).l2Normalized()
      result.faces.append(EmbeddedFace(face: face, embedding: embedding))
    }
    return result
  }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> FaceEmbeddingResult
  {
    try embed(image, in: region, cancellation: cancellation)
  }
}
