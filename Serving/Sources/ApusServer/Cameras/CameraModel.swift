// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import ApusVision
import Logging
import Synchronization

/// A camera's model, asked for by its name before each picture, as requests do: clients may load it anew or unload it.
final class CameraModel: Sendable {
  let name: String
  private let repository: ModelRepository
  private let threads: Int
  private let logger: Logger

  private struct State {
    /// The model for which ``detector`` was made; nil while there is none.
    var served: ServedModel?
    var detector: Result<ObjectDetector, ApusError>?
    /// Whether ``detector`` has answered, so that it may have learned how the model is read.
    var hasAnswered = false
  }
  private let state = Mutex(State())

  init(named name: String, in repository: ModelRepository, threads: Int, logger: Logger) {
    self.name = name
    self.repository = repository
    self.threads = threads
    self.logger = logger
  }

  /// The detector of the model that the repository has now. Blocks while a model is prepared.
  ///
  /// - Throws: why there is none: the model is gone, or cannot find objects. Nothing of a model that is gone is kept.
  func detector() throws(ServingError) -> ObjectDetector {
    let served: ServedModel
    do { served = try repository.model(named: name) } catch {
      state.withLock { $0 = State() }
      throw error
    }
    let detector = state.withLock { state in
      if served === state.served, let detector = state.detector { return detector }
      // The former one goes first, so that there are never two.
      state = State(served: served)
      let detector = Result { () throws(ApusError) in try served.objectDetector(threads: threads) }
      state.detector = detector
      return detector
    }
    do throws(ApusError) {
      let detector = try detector.get()
      for warning in served.newWarnings(.detect, detector.assumptions) { logger.warn(warning) }
      return detector
    } catch { throw .bad("the model '\(name)': \(error.message)") }
  }

  /// Looks for objects. A picture that contradicts what earlier ones have shown is looked at by a new detector, as requests are.
  func detect(_ picture: ImageBuffer, by detector: ObjectDetector) throws(ApusError) -> DetectionResult {
    do throws(ApusError) {
      let result = try detector.detect(picture)
      state.withLock { if case .success(let kept) = $0.detector, kept === detector { $0.hasAnswered = true } }
      return result
    } catch {
      guard error.code == .invalidData, let other = replacement(of: detector) else { throw error }
      return try other.detect(picture)
    }
  }

  /// A new detector in place of one that has answered; nil for one that has not, which would be the same.
  private func replacement(of detector: ObjectDetector) -> ObjectDetector? {
    state.withLock { state in
      guard case .success(let kept) = state.detector, kept === detector, state.hasAnswered,
        let other = try? state.served?.objectDetector(threads: threads)
      else { return nil }
      (state.detector, state.hasAnswered) = (.success(other), false)
      return other
    }
  }
}
