// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// A request as a client wrote it, from either surface, before it is checked against its model.
public struct RequestDescription: Sendable {
  /// The data that a client sent for an input.
  public enum Data: Sendable {
    /// Nothing.
    case missing
    /// Bytes as they travel: little-endian elements, `BYTES` with their lengths.
    case raw(ByteChunks)
    /// Elements of the declared type, already decoded from JSON or protobuf fields, as bytes.
    case elements(ByteBuffer, count: Int)
    /// Elements of `BYTES`.
    case strings([ByteChunks])
  }

  /// An input.
  public struct Input: Sendable {
    /// The name that the client uses.
    public var name: String
    /// The type that the client declares.
    public var datatype: String
    /// The shape that the client declares.
    public var shape: [Int]
    /// Parameters.
    public var parameters: RequestParameters
    /// The data.
    public var data: Data

    /// Makes an input.
    public init(
      name: String, datatype: String, shape: [Int], parameters: RequestParameters = [:], data: Data
    ) {
      self.name = name
      self.datatype = datatype
      self.shape = shape
      self.parameters = parameters
      self.data = data
    }
  }

  /// A wanted output.
  public struct Output: Sendable {
    /// The name that the client uses.
    public var name: String
    /// Parameters.
    public var parameters: RequestParameters

    /// Makes a wanted output.
    public init(name: String, parameters: RequestParameters = [:]) {
      self.name = name
      self.parameters = parameters
    }
  }

  /// The maximum number of inputs, and of outputs, that a request may name.
  public static let maximumTensors = 1_024
  /// The maximum number of elements of a `BYTES` tensor in JSON: one for each picture of the largest batch. A string takes hundreds
  /// of bytes, however short it is.
  static let maximumStrings = 1_024
  /// The maximum number of parameters of a request, an input or an output.
  public static let maximumParameters = 64

  /// The client's name for the request.
  public var id: String
  /// Parameters.
  public var parameters: RequestParameters
  /// The inputs in the client's order.
  public var inputs: [Input]
  /// The wanted outputs; empty for all.
  public var outputs: [Output]
  /// Whether outputs can only travel as bytes: gRPC, raw requests.
  public var isBinary: Bool

  /// Makes a description.
  public init(
    id: String = "", parameters: RequestParameters = [:], inputs: [Input] = [], outputs: [Output] = [],
    isBinary: Bool = false
  ) {
    self.id = id
    self.parameters = parameters
    self.inputs = inputs
    self.outputs = outputs
    self.isBinary = isBinary
  }
}

extension RequestDescription {
  /// The bytes of the data that were decoded from text, beside the body that they came in.
  public var decodedByteCount: Int {
    inputs.reduce(0) { total, input in
      switch input.data {
      case .missing, .raw: total
      case .elements(let buffer, _): total + buffer.capacity
      case .strings(let strings): strings.reduce(total) { $0 + $1.count }
      }
    }
  }
}

extension ServingError {
  /// The error for a request, an input or an output with more parameters than ``RequestDescription/maximumParameters``.
  public static let tooManyParameters = bad(
    "there are more than \(RequestDescription.maximumParameters) parameters")

  /// The error for a request with more inputs or outputs than ``RequestDescription/maximumTensors``.
  public static func tooManyTensors(_ what: String) -> ServingError {
    .bad("the request has more than \(RequestDescription.maximumTensors) \(what)")
  }
}
