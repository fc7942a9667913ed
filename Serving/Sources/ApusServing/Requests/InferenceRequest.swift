// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// A request for inference, checked against its model: what is in it fits.
public struct InferenceRequest: Sendable {
  /// The contents of an input.
  public enum Contents: Sendable {
    /// Elements, little-endian and row-major.
    case elements(ByteChunks)
    /// Encoded pictures, one for each item of the batch.
    case pictures([ByteChunks])
  }

  /// One input, in the model's order.
  public struct Input: Sendable {
    /// The shape of the engine's tensor.
    public let shape: [Int]
    /// Its contents.
    public let contents: Contents
  }

  /// One wanted output.
  public struct Output: Sendable {
    /// Its place among the model's outputs.
    public let position: Int
    /// The name by which the client asked for it, or else the model's own.
    public let name: String
    /// How many classes to answer with instead of the tensor; nil for the tensor.
    public let classes: Int?
    /// Whether its data follows the JSON as bytes.
    public let isBinary: Bool
  }

  /// The client's name for the request, which the answer repeats.
  public let id: String
  /// The inputs, all of them, in the model's order.
  public let inputs: [Input]
  /// The wanted outputs, in the client's order.
  public let outputs: [Output]
  /// The items in it: the first dimension for a model that batches, otherwise 1.
  public let batch: Int
  /// How urgent it is, 1 first.
  public let priority: Int
  /// How long it may wait for its answer; nil for the server's own limit.
  public let timeout: Duration?
}

/// An answer: output tensors in the order that was asked for.
public struct InferenceAnswer: Sendable {
  /// One output.
  public struct Output: Sendable {
    /// The requested output.
    public let request: InferenceRequest.Output
    /// The name of the output.
    public let name: String
    /// The element type; `BYTES` for classes.
    public let datatype: DataType
    /// The shape.
    public let shape: [Int]
    /// The elements, little-endian; those of `BYTES` are each preceded by their length.
    public let elements: ByteBuffer
  }

  /// The outputs.
  public let outputs: [Output]
  /// The warnings about pictures whose files are damaged, with their places; nil if there are none.
  public let warning: String?

  /// The maximum number of pictures that a warning names.
  static let maximumWarnings = 8

  /// The bytes of all elements.
  public var byteCount: Int { outputs.reduce(0) { $0 + $1.elements.readableBytes } }

  /// The bytes of text that take about as long to write as the answer to a request over HTTP.
  public var textualByteCount: Int {
    // An element of four bytes becomes some ten characters; bytes are only copied.
    outputs.reduce(0) {
      $0 + ($1.request.isBinary ? $1.elements.readableBytes / 16 : $1.elements.readableBytes * 2)
    }
  }
}
