// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Foundation
import InferenceProtocol
import NIOCore
import NIOFoundationCompat
import SwiftProtobuf

extension RequestDescription {
  /// Reads a message: data either in the inputs' typed fields or in the raw contents, never in both.
  public init(_ message: Inference_ModelInferRequest) throws(ServingError) {
    let isRaw = !message.rawInputContents.isEmpty
    guard message.inputs.count <= Self.maximumTensors else { throw .tooManyTensors("inputs") }
    guard message.outputs.count <= Self.maximumTensors else { throw .tooManyTensors("outputs") }
    guard message.parameters.count <= Self.maximumParameters else { throw .tooManyParameters }
    if let index = message.outputs.firstIndex(where: { $0.parameters.count > Self.maximumParameters }) {
      throw ServingError.tooManyParameters.at("outputs[\(index)] ('\(message.outputs[index].name)')")
    }
    if isRaw, let index = message.inputs.firstIndex(where: { $0.hasContents }) {
      let name = message.inputs[index].name
      throw ServingError.bad(
        "contents field must not be specified when using raw_input_contents for '\(name)' for model "
          + "'\(message.modelName)'"
      ).at("inputs[\(index)]")
    }
    if isRaw, message.rawInputContents.count != message.inputs.count {
      throw .bad(
        "there are \(message.rawInputContents.count) raw_input_contents for \(message.inputs.count) inputs")
    }
    var inputs: [Input] = []
    for (index, input) in message.inputs.enumerated() {
      do throws(ServingError) {
        guard input.shape.count <= 16 else { throw .bad("the shape has more than 16 dimensions") }
        guard input.parameters.count <= Self.maximumParameters else { throw .tooManyParameters }
        inputs.append(
          Input(
            name: input.name, datatype: input.datatype, shape: input.shape.map(Int.init),
            parameters: input.parameters.compactMapValues(RequestParameter.init),
            data: isRaw
              ? .raw(ByteChunks(ByteBuffer(data: message.rawInputContents[index])))
              : try Self.data(input.contents, datatype: input.datatype)))
      } catch { throw error.at("inputs[\(index)] ('\(input.name)')") }
    }
    self.init(
      id: message.id, parameters: message.parameters.compactMapValues(RequestParameter.init), inputs: inputs,
      outputs: message.outputs.map {
        .init(name: $0.name, parameters: $0.parameters.compactMapValues(RequestParameter.init))
      },
      isBinary: true)
  }

  /// The elements in typed fields; only the field of the datatype may have any.
  private static func data(
    _ contents: Inference_InferTensorContents, datatype: String
  ) throws(ServingError) -> Data {
    guard let type = DataType(rawValue: datatype) else { throw .bad("there is no datatype '\(datatype)'") }
    let counts = [
      "bool_contents": contents.boolContents.count, "int_contents": contents.intContents.count,
      "int64_contents": contents.int64Contents.count, "uint_contents": contents.uintContents.count,
      "uint64_contents": contents.uint64Contents.count, "fp32_contents": contents.fp32Contents.count,
      "fp64_contents": contents.fp64Contents.count, "bytes_contents": contents.bytesContents.count,
    ].filter { $0.value > 0 }
    guard let field = type.contentsField else {
      throw .bad("\(datatype) has no typed contents: send it in raw_input_contents")
    }
    if let other = counts.keys.filter({ $0 != field }).min() {
      throw .bad("\(datatype) is in \(other), not in \(field)")
    }
    var buffer = ByteBufferAllocator().buffer(capacity: (counts[field] ?? 0) * (type.byteCount ?? 0))
    switch type {
    case .bool: for value in contents.boolContents { buffer.writeInteger(UInt8(value ? 1 : 0)) }
    case .int8: try write(contents.intContents, as: Int8.self, datatype, &buffer)
    case .int16: try write(contents.intContents, as: Int16.self, datatype, &buffer)
    case .int32: try write(contents.intContents, as: Int32.self, datatype, &buffer)
    case .int64: try write(contents.int64Contents, as: Int64.self, datatype, &buffer)
    case .uint8: try write(contents.uintContents, as: UInt8.self, datatype, &buffer)
    case .uint16: try write(contents.uintContents, as: UInt16.self, datatype, &buffer)
    case .uint32: try write(contents.uintContents, as: UInt32.self, datatype, &buffer)
    case .uint64: try write(contents.uint64Contents, as: UInt64.self, datatype, &buffer)
    case .fp32:
      for value in contents.fp32Contents { buffer.writeInteger(value.bitPattern, endianness: .little) }
    case .fp64:
      for value in contents.fp64Contents { buffer.writeInteger(value.bitPattern, endianness: .little) }
    case .bytes: return .strings(contents.bytesContents.map { ByteChunks(ByteBuffer(data: $0)) })
    case .fp16, .bf16: break
    }
    return .elements(buffer, count: counts[field] ?? 0)
  }

  private static func write<Source: FixedWidthInteger, Target: FixedWidthInteger>(
    _ values: [Source], as type: Target.Type, _ datatype: String, _ buffer: inout ByteBuffer
  ) throws(ServingError) {
    for (index, value) in values.enumerated() {
      guard let number = Target(exactly: value) else {
        throw .bad("element \(index) is \(value), which is no \(datatype)")
      }
      buffer.writeInteger(number, endianness: .little)
    }
  }
}

extension RequestDescription {
  /// Decodes a message of at most `limit` bytes of memory, as the server does.
  ///
  /// - Throws: what is too large, malformed or does not fit together.
  public init(message bytes: [UInt8], limit: Int = 1 << 30) throws(ServingError) {
    try DecodedSize.check(bytes.span, limit: limit)
    let message: Inference_ModelInferRequest
    do { message = try Inference_ModelInferRequest(serializedBytes: bytes) } catch {
      throw .bad("the message is malformed: \(error)")
    }
    try self.init(message)
  }
}

extension RequestParameter {
  init?(_ parameter: Inference_InferParameter) {
    switch parameter.parameterChoice {
    case .boolParam(let value): self = .bool(value)
    case .int64Param(let value): self = .integer(value)
    case .uint64Param(let value): self = Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
    case .doubleParam(let value): self = .number(value)
    case .stringParam(let value): self = .text(value)
    case nil: return nil
    }
  }
}

extension DataType {
  /// The field of typed contents for elements of this type; nil for half precision, which has none.
  var contentsField: String? {
    switch self {
    case .bool: "bool_contents"
    case .int8, .int16, .int32: "int_contents"
    case .int64: "int64_contents"
    case .uint8, .uint16, .uint32: "uint_contents"
    case .uint64: "uint64_contents"
    case .fp32: "fp32_contents"
    case .fp64: "fp64_contents"
    case .bytes: "bytes_contents"
    case .fp16, .bf16: nil
    }
  }
}
