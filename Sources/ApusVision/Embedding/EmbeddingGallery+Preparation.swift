// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

extension EmbeddingGallery {
  /// Checks whether distances between the known embeddings and others mean something.
  ///
  /// - Parameters:
  ///   - dimension: The number of coordinates of the others.
  ///   - preparation: How the others are made, such as ``ImageEmbedder/preparation(alignsFaces:)``.
  /// - Returns: A warning if pictures were read in another way, or if known embeddings have zeros alone; nil if there is nothing to
  ///   warn of.
  /// - Throws: `invalidArgument` if the known embeddings have another number of coordinates, if another model made them, or if one kind is of
  ///   pictures and the other of hands' landmarks, as far as the gallery says.
  public func check(dimension: Int, preparation: String) throws(ApusError) -> String? {
    let advice = "use its model, or make a gallery with this one"
    if let known = self.dimension, known != dimension {
      throw ApusError(
        .invalidArgument,
        "the embeddings have \(known) coordinates, but the model gives \(dimension): \(advice)")
    }
    guard !entries.isEmpty, let known = self.preparation, known != preparation else { return zeroWarning }
    let (former, new) = (Self.parts(of: known), Self.parts(of: preparation))
    if let model = former.model, let newModel = new.model, model != newModel {
      throw ApusError(
        .invalidArgument,
        "the embeddings were made with a model whose SHA-256 begins with \(model), not \(newModel): \(advice)"
      )
    }
    if known == LandmarkClassifier.preparation || preparation == LandmarkClassifier.preparation {
      throw ApusError(
        .invalidArgument,
        "the embeddings were made with '\(former.reading)', not with '\(new.reading)': \(advice)")
    }
    guard former.reading != new.reading else { return zeroWarning }
    let warning =
      "the gallery's embeddings were made with \(former.reading), these with \(new.reading): distances between them mean little"
    return zeroWarning.map { "\(warning); \($0)" } ?? warning
  }

  /// A warning about known embeddings that no picture matches; nil if there are none.
  private var zeroWarning: String? {
    let zeros = entries.filter { Embedding($0.values).isZero }
    guard let first = zeros.first else { return nil }
    return zeros.count == 1
      ? "every coordinate of an embedding of \(first.name) is zero, so nothing matches it: remove it"
      : "every coordinate of \(zeros.count) embeddings is zero, such as one of \(first.name), so nothing matches them: remove them"
  }

  /// The text that precedes the model's SHA-256 in a preparation.
  private static let modelMark = ", model "

  /// How pictures are read, and the beginning of the model's SHA-256; nil if a preparation does not say.
  private static func parts(of preparation: String) -> (reading: String, model: String?) {
    guard let mark = preparation.firstRange(of: modelMark) else { return (preparation, nil) }
    return (String(preparation[..<mark.lowerBound]), String(preparation[mark.upperBound...]))
  }

  /// A preparation: how pictures are read, and which model makes the embeddings.
  static func preparation(reading: String, modelSHA256: String) -> String {
    reading + modelMark + modelSHA256.prefix(16)
  }
}

extension ImageEmbedder {
  /// How pictures become embeddings, the model included: what ``EmbeddingGallery/preparation`` is for those of this embedder.
  ///
  /// The whole model is read for its checksum.
  ///
  /// - Parameter alignsFaces: Whether the pictures are aligned faces of a ``FaceEmbedder``; false for whole pictures.
  /// - Throws: `unreadableFile` if the model's file was written to.
  public func preparation(alignsFaces: Bool = false) throws(ApusError) -> String {
    let readings = ["pixels", "channels", "fit"].compactMap { subject in
      assumptions.readings.first { $0.subject == subject }.map { "\(subject) \($0.value)" }
    }
    // Other ways of resampling are so alike that embeddings compare.
    let resampling = options.resampling == .mediaPipe ? ", resampling \(Resampling.mediaPipe.rawValue)" : ""
    return EmbeddingGallery.preparation(
      reading: readings.joined(separator: ", ") + resampling
        + (alignsFaces ? ", aligned faces" : ", whole pictures"),
      modelSHA256: try modelSHA256)
  }

  private var modelSHA256: String {
    get throws(ApusError) {
      let (bytes, step) = (model.file.bytes, 1 << 20)
      var checksum = SHA256()
      for start in stride(from: 0, to: bytes.count, by: step) {
        do { checksum.update(try bytes.copy(of: start..<min(start + step, bytes.count))) } catch {
          throw ApusError(.unreadableFile, error.message)
        }
      }
      return checksum.finish()
    }
  }
}
