// SPDX-License-Identifier: Apache-2.0

/// Why a request was not answered, for a client: what kind of failure, and a message that names the place.
public struct ServingError: Error, Hashable, Sendable {
  /// The kind of a failure; each surface has a status for it.
  public enum Kind: String, Hashable, Sendable {
    /// Something in the request is wrong.
    case badRequest
    /// There is no token, or a wrong one.
    case unauthorized
    /// The request comes from a web page of another server.
    case forbidden
    /// Something named does not exist.
    case notFound
    /// The path exists, the method does not.
    case methodNotAllowed
    /// The request is larger than a limit.
    case tooLarge
    /// The body is of a kind or an encoding that is not read.
    case unsupportedMedia
    /// The client accepts no encoding that an answer can have.
    case notAcceptable
    /// The queue is full.
    case queueFull
    /// The server drains, or is short of memory.
    case unavailable
    /// The model exists, but is not loaded.
    case notReady
    /// The client sends too slowly.
    case tooSlow
    /// The deadline passed.
    case deadlineExceeded
    /// The client went away.
    case cancelled
    /// This build or this configuration does not do that.
    case unsupported
    /// A failure of the server's own.
    case internalFailure
  }

  /// The kind of the failure.
  public let kind: Kind
  /// The method that the path takes, where another was used.
  public var allowedMethod: String?
  /// The place, what was found and what was expected.
  public let message: String

  /// The maximum number of bytes of a message: names in it are the client's, or the model's, and have any length.
  private static let longestMessage = 4_096

  /// Makes an error; of an endless message, the beginning is kept.
  public init(_ kind: Kind, _ message: String) {
    self.kind = kind
    let isLong = message.utf8.count > Self.longestMessage
    self.message =
      isLong ? String(decoding: message.utf8.prefix(Self.longestMessage), as: UTF8.self) + "…" : message
  }

  /// An error with its place put in front.
  public func at(_ place: String) -> ServingError { ServingError(kind, "\(place): \(message)") }

  /// An error about a fault in a request.
  public static func bad(_ message: String) -> ServingError { ServingError(.badRequest, message) }
}

extension ServingError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
