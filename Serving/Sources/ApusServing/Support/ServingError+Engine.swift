// SPDX-License-Identifier: Apache-2.0
import Apus

extension ServingError {
  /// Translates an error of the engine or of a picture's decoder about a request's data.
  ///
  /// Shapes, data and pictures come from the client, so that a failure over them is the client's.
  init(ofRequest error: ApusError) {
    let kind: Kind =
      switch error.code {
      case .unsupportedImage: .unsupportedMedia
      case .resourceLimit: .tooLarge
      case .cancelled: .cancelled
      // The file changed, or the machine failed.
      case .unreadableFile: .internalFailure
      // The model was prepared when it was loaded: what fails now is due to the request's shapes, data or options.
      default: .badRequest
      }
    self.init(kind, ClientWords.message(error.message))
  }
}
