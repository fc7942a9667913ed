// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import ApusVision
import Dispatch
import Foundation
import Logging
import Synchronization

/// The faces that DeepStack's clients have registered, in a gallery as `apus gallery` writes it.
final class KnownFaces: Sendable {
  private let gallery: Mutex<EmbeddingGallery>
  private let file: String?
  private let logger: Logger
  /// The last model for recognition, and how it makes embeddings.
  private let recognition = Mutex<(model: ServedModel, preparation: String)?>(nil)
  /// The warnings so far about embeddings that were made in another way.
  private let warnings = Mutex<Set<String>>([])
  /// One change at a time is written. The queue has a thread of its own: changes that wait must not keep the threads that others need.
  private let changes = DispatchQueue(label: "known faces")

  /// The maximum size of a gallery in a server, in coordinates: each request compares with all of them.
  private static let maximumCoordinates = 1 << 26

  /// Reads the file, if there is one.
  ///
  /// - Throws: `unreadableFile`, `malformedGallery`.
  init(file: String?, logger: Logger) throws(ApusError) {
    self.file = file
    self.logger = logger
    let isThere = file.map { FileManager.default.fileExists(atPath: $0) } ?? false
    gallery = Mutex(try isThere ? EmbeddingGallery(contentsOfFile: file ?? "") : EmbeddingGallery())
  }

  /// The names, in the order in which they were registered last.
  var names: [String] {
    get async throws(ServingError) {
      let known = gallery.withLock { $0 }
      return try await ServerState.converting(known.entries.count * 64) { known.names }
    }
  }

  /// How a model makes embeddings of faces.
  private func preparation(of model: ServedModel) async throws(ServingError) -> String {
    if let known = recognition.withLock({ $0 }), known.model === model { return known.preparation }
    let preparation = try await ServerState.converting(.max) { () throws(ServingError) in
      do throws(ApusError) { return try model.facePreparation() } catch {
        throw ServingError(.unsupported, error.message)
      }
    }
    recognition.withLock { $0 = (model, preparation) }
    return preparation
  }

  /// Refuses new embeddings that must not be compared with the known ones, and says once in the log if they were made in another way.
  private func check(
    _ gallery: EmbeddingGallery, dimension: Int, preparation: String
  ) throws(ServingError) {
    let warning: String?
    do { warning = try gallery.check(dimension: dimension, preparation: preparation) } catch {
      throw ServingError(
        .unsupported,
        "the known faces: \(error.message); choose it with --deepstack-model, or another file with --deepstack-faces"
      )
    }
    guard let warning, warnings.withLock({ $0.insert(warning).inserted }) else { return }
    logger.warning("deepstack", metadata: ["file": "\(file ?? "")", "reason": "\(warning)"])
  }

  /// Keeps a model's embeddings under a name, in place of those that it had; returns whether the name was known.
  ///
  /// - Throws: `unsupported` if another model made the known embeddings.
  func register(
    _ name: String, _ embeddings: [Embedding], by model: ServedModel
  ) async throws(ServingError) -> Bool {
    let preparation = try await preparation(of: model)
    return try await changing { [self] gallery throws(ServingError) in
      let dimension = embeddings.first?.values.count ?? 0
      try check(gallery, dimension: dimension, preparation: preparation)
      let isKnown = gallery.remove(name) > 0
      if gallery.entries.isEmpty { gallery.preparation = preparation }
      do throws(ApusError) {
        for embedding in embeddings { try gallery.add(name, embedding) }
      } catch { throw .bad(error.message) }
      guard gallery.entries.count * (gallery.dimension ?? 1) <= Self.maximumCoordinates else {
        throw ServingError(.tooLarge, "there are \(gallery.entries.count) faces, the most that there can be")
      }
      return isKnown
    }
  }

  /// Forgets a name, if it is known.
  func delete(_ name: String) async throws(ServingError) {
    try await changing { gallery throws(ServingError) in _ = gallery.remove(name) }
  }

  /// The known face that is most similar to a model's embedding, and its similarity; nil if there is none.
  ///
  /// - Throws: `unsupported` if another model made the known embeddings: everybody would be unknown.
  func nearest(
    to embedding: Embedding, by model: ServedModel
  ) async throws(ServingError) -> (name: String, similarity: Double)? {
    let known = gallery.withLock { $0 }
    try check(known, dimension: embedding.values.count, preparation: try await preparation(of: model))
    let work = known.entries.count * embedding.values.count
    return try await ServerState.converting(work) {
      let similarities = known.entries.lazy.compactMap { entry in
        embedding.similarity(to: Embedding(entry.values)).map { (name: entry.name, similarity: $0) }
      }
      return similarities.max { $0.similarity < $1.similarity }
    }
  }

  /// Changes the gallery, and its file first: what a client was told is kept.
  private func changing<Value: Sendable>(
    _ body: @escaping @Sendable (inout EmbeddingGallery) throws(ServingError) -> Value
  ) async throws(ServingError) -> Value {
    let result: Result<Value, ServingError> = await withCheckedContinuation { continuation in
      changes.async { [self] in
        let known = gallery.withLock { $0 }
        var changed = known
        do throws(ServingError) {
          let value = try body(&changed)
          if let file, changed != known {
            do { try Data(changed.bytes).write(to: URL(fileURLWithPath: file), options: .atomic) } catch {
              throw ServingError(.internalFailure, "the file of the known faces cannot be written: \(error)")
            }
          }
          gallery.withLock { $0 = changed }
          continuation.resume(returning: .success(value))
        } catch { continuation.resume(returning: .failure(error)) }
      }
    }
    return try result.get()
  }
}

extension Embedding {
  /// How similar another embedding is, as DeepStack has it: the cosine of their angle moved from −1 to 1 into 0 to 1, so that embeddings
  /// at right angles have 0.5. Nil if the numbers of coordinates differ, or one is the origin.
  func similarity(to other: Embedding) -> Double? {
    cosineSimilarity(to: other).map { min(max(($0 + 1) / 2, 0), 1) }
  }
}
