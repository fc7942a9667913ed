// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// Reads and writes the JSON of the inference protocol: requests with their binary tensors, and responses.
public enum InferenceJSON {
  // MARK: Requests

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - header: The JSON.
  ///   - tail: The binary tensors after it, in the order of the inputs that have a `binary_data_size`.
  /// - Throws: the first thing that is wrong, with its place.
  public static func request(header: [UInt8], tail: ByteChunks) throws(ServingError) -> RequestDescription {
    var reader = JSONReader(header)
    var tail = tail
    var description = RequestDescription()
    var hasInputs = false
    try reader.object { key, reader throws(ServingError) in
      switch key {
      case "id": description.id = try reader.string()
      case "parameters": description.parameters = try parameters(&reader)
      case "inputs":
        hasInputs = true
        try reader.array { index, reader throws(ServingError) in
          guard index < RequestDescription.maximumTensors else { throw .tooManyTensors("inputs") }
          do throws(ServingError) { description.inputs.append(try input(&reader, &tail)) } catch {
            throw located(error, "inputs[\(index)]")
          }
        }
      case "outputs":
        try reader.array { index, reader throws(ServingError) in
          guard index < RequestDescription.maximumTensors else { throw .tooManyTensors("outputs") }
          do throws(ServingError) { description.outputs.append(try output(&reader)) } catch {
            throw located(error, "outputs[\(index)]")
          }
        }
      default: try reader.skipValue()
      }
    }
    try reader.end()
    guard hasInputs else { throw .bad("the request has no \"inputs\"") }
    guard tail.count == 0 else {
      throw .bad("\(tail.count) bytes are left after the binary data of all inputs")
    }
    return description
  }

  /// Malformed JSON already has a place.
  private static func located(_ error: ServingError, _ place: String) -> ServingError {
    error.message.hasPrefix("malformed JSON") ? error : error.at(place)
  }

  private static func input(
    _ reader: inout JSONReader, _ tail: inout ByteChunks
  ) throws(ServingError) -> RequestDescription.Input {
    var name: String?
    var datatype: String?
    var shape: [Int]?
    var parameters: RequestParameters = [:]
    var dataPlace: Int?
    try reader.object { key, reader throws(ServingError) in
      switch key {
      case "name": name = try reader.string()
      case "datatype": datatype = try reader.string()
      case "shape":
        var sizes: [Int] = []
        try reader.array { _, reader throws(ServingError) in
          let size = try reader.integer(Int64.self)
          guard size >= 0 else { throw .bad("the shape has a negative dimension, \(size)") }
          guard sizes.count < 16 else { throw .bad("the shape has more than 16 dimensions") }
          sizes.append(Int(size))
        }
        shape = sizes
      case "parameters": parameters = try self.parameters(&reader)
      case "data":
        _ = reader.peek()
        dataPlace = reader.position
        try reader.skipValue()
      default: try reader.skipValue()
      }
    }
    guard let name else { throw .bad("there is no \"name\"") }
    let label = "'\(name)'"
    guard let datatype else { throw ServingError.bad("there is no \"datatype\"").at(label) }
    guard let shape else { throw ServingError.bad("there is no \"shape\"").at(label) }
    var data = RequestDescription.Data.missing
    if let size = try parameters.count("binary_data_size") {
      guard dataPlace == nil else {
        throw ServingError.bad("there are both \"data\" and binary_data_size").at(label)
      }
      guard size <= tail.count else {
        throw ServingError.bad("binary_data_size is \(size), but \(tail.count) bytes are left in the body")
          .at(label)
      }
      data = .raw(tail.removeFirst(size))
    } else if let dataPlace {
      let count: Int
      do { count = try ServedModel.elementCount(of: shape) } catch { throw error.at(label) }
      var values = reader.at(dataPlace)
      data = try JSONTensor(
        datatype: datatype, shape: shape, expectedCount: count, label: label
      ).read(&values)
    }
    return .init(name: name, datatype: datatype, shape: shape, parameters: parameters, data: data)
  }

  private static func output(_ reader: inout JSONReader) throws(ServingError) -> RequestDescription.Output {
    var name: String?
    var parameters: RequestParameters = [:]
    try reader.object { key, reader throws(ServingError) in
      switch key {
      case "name": name = try reader.string()
      case "parameters": parameters = try self.parameters(&reader)
      default: try reader.skipValue()
      }
    }
    guard let name else { throw .bad("there is no \"name\"") }
    return .init(name: name, parameters: parameters)
  }

  /// Reads parameters.
  static func parameters(_ reader: inout JSONReader) throws(ServingError) -> RequestParameters {
    var parameters: RequestParameters = [:]
    try reader.object { key, reader throws(ServingError) in
      guard parameters.count < RequestDescription.maximumParameters else {
        throw .tooManyParameters
      }
      switch reader.peek() ?? 0 {
      case UInt8(ascii: "t"), UInt8(ascii: "f"): parameters[key] = .bool(try reader.bool())
      case UInt8(ascii: "\""): parameters[key] = .text(try reader.string())
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        let number = try reader.number()
        parameters[key] =
          reader.integer(number, as: Int64.self).map { .integer($0) } ?? .number(reader.double(number))
      default:
        try reader.skipValue()
        parameters[key] = .other
      }
    }
    return parameters
  }

  // MARK: Answers

  /// The most room that is made for text before it is written.
  private static let expectedText = 16 << 20

  /// Writes an answer: JSON, then the binary outputs in their order.
  ///
  /// - Returns: The body, and the bytes of its JSON where binary outputs follow.
  public static func body(
    of answer: InferenceAnswer, to request: InferenceRequest, from model: ServedModel
  ) -> (ByteBuffer, headerLength: Int?) {
    let binary = answer.outputs.filter(\.request.isBinary)
    let elements = answer.outputs.reduce(0) { $0 + ($1.request.isBinary ? 0 : $1.elements.readableBytes) }
    let tail = binary.reduce(0) { $0 + $1.elements.readableBytes }
    var writer = JSONWriter(capacity: 512 + min(elements * 4, Self.expectedText) + tail)
    writer.object { writer in
      if !request.id.isEmpty { writer.field("id", request.id) }
      writer.field("model_name", model.name)
      writer.field("model_version", model.version)
      if let warning = answer.warning {
        writer.key("parameters")
        writer.object { $0.field("warning", warning) }
      }
      writer.key("outputs")
      writer.array { writer in
        for output in answer.outputs { write(output, to: &writer) }
      }
    }
    guard !binary.isEmpty else { return (writer.buffer, nil) }
    var body = writer.buffer
    let length = body.readableBytes
    for output in binary { body.writeImmutableBuffer(output.elements) }
    return (body, length)
  }

  private static func write(_ output: InferenceAnswer.Output, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.field("name", output.name)
      writer.field("datatype", output.datatype.rawValue)
      writer.field("shape", output.shape)
      if output.request.isBinary {
        writer.key("parameters")
        writer.object { $0.field("binary_data_size", output.elements.readableBytes) }
      } else {
        writer.key("data")
        writer.array { writer in writer.elements(output.elements, output.datatype) }
      }
    }
  }
}

extension InferenceJSON {
  /// The values of an object.
  ///
  /// - Parameter key: The key of an object within, whose names and values are read instead; empty if it is missing.
  public static func object(_ text: [UInt8], within key: String? = nil) throws(ServingError)
    -> RequestParameters
  {
    var reader = JSONReader(text)
    guard let key else {
      let values = try parameters(&reader)
      try reader.end()
      return values
    }
    var values: RequestParameters = [:]
    try reader.object { found, reader throws(ServingError) in
      if found == key { values = try parameters(&reader) } else { try reader.skipValue() }
    }
    try reader.end()
    return values
  }
}
