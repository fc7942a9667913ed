// SPDX-License-Identifier: Apache-2.0
import Apus

extension HolisticLandmarker {
  /// Finds the person in a picture, away from the caller's actor. Cancelling the caller's task stops the run, which then throws
  /// `CancellationError`.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws -> HolisticResult {
    try await answer(image, in: region)
  }
}

extension FaceEmbedder {
  /// Finds, aligns and embeds the faces of a picture, away from the caller's actor. Cancelling the caller's task stops the run, which then
  /// throws `CancellationError`.
  public func embed(_ image: ImageBuffer, in region: PixelRect? = nil) async throws -> FaceEmbeddingResult {
    try await answer(image, in: region)
  }
}
