// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusVision
import Foundation
import NIOCore

/// Serves Frigate's detector of the type `zmq`, which asks whether a model is there, to take one, and for the
/// objects in a frame.
///
/// A message is a JSON object, and for a model or a frame a second part with its bytes. The answer to a frame is its 20 best objects: a
/// `float32` tensor of 20×6 numbers, class, score, top, left, bottom, right, with zeros after the last. Source: Frigate's plugin
/// `zmq_ipc.py`.
struct FrigateDetector {
  private let state: ServerState
  /// The records of the clients that were heard last.
  private var clients = RecentClients(limit: 256)
  /// The names of the models that clients have sent. Other models are the operator's.
  private var takenNames: Set<String> = []
  /// Whether the log has said that a client must ask for its model.
  private var hasSaidUnknown = false

  private static let rowCount = 20
  private static let minimumScore: Float = 0.4
  private static let maximumModels = 16

  init(_ state: ServerState) { self.state = state }

  /// The header of a message.
  private struct Header: Decodable {
    var modelRequest: Bool?
    var modelData: Bool?
    var modelName: String?
    var shape: [Int]?
    var dtype: String?
  }

  /// The answer of a model's request.
  private struct ModelAnswer: Encodable {
    var modelAvailable: Bool?
    var modelSaved: Bool?
    var modelLoaded: Bool
    var message: String?
  }

  /// Answers a message; nil for a frame that must have no answer, so that its client asks for its model.
  mutating func answer(_ message: ZMQSocket.Message) async -> [[UInt8]]? {
    let header: Header
    do throws(ServingError) { header = try Self.header(message) } catch { return Self.rows([], error) }
    if header.modelRequest == true { return answerRequest(header, message.sender) }
    if header.modelData == true { return await takeModel(header, message) }
    do throws(ServingError) {
      guard let model = try model(of: message.sender, header) else { return nil }
      return Self.rows(try await detect(header, message, by: model), nil)
    } catch {
      state.logger.error("frigate", metadata: ["reason": "\(error.message)"])
      return Self.rows([], error)
    }
  }

  private static func header(_ message: ZMQSocket.Message) throws(ServingError) -> Header {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let part = message.parts.first, part.count <= 1 << 16,
      let header = try? decoder.decode(Header.self, from: Data(part))
    else { throw .bad("the first part of the message is not a JSON object of at most 65536 bytes") }
    return header
  }

  // MARK: Models

  /// The name by which the server knows a model that Frigate calls by its file.
  private static func name(_ header: Header) throws(ServingError) -> String {
    let file = header.modelName ?? ""
    let name = file.hasSuffix(".tflite") ? String(file.dropLast(7)) : file
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789._-+".unicodeScalars.contains(scalar))
    }
    guard isPlain, (1...200).contains(name.utf8.count), !name.hasPrefix(".") else {
      throw .bad("model_name is '\(file.prefix(100))', not the name of a file")
    }
    return name
  }

  private mutating func remember(_ name: String, _ sender: [UInt8]) {
    // Another model may be configured otherwise.
    if clients[sender].model != name { clients[sender] = .init(model: name) }
  }

  private mutating func answerRequest(_ header: Header, _ sender: [UInt8]) -> [[UInt8]] {
    do throws(ServingError) {
      let name = try Self.name(header)
      _ = try state.repository.model(named: name)
      remember(name, sender)
      return Self.json(ModelAnswer(modelAvailable: true, modelLoaded: true))
    } catch {
      return Self.json(ModelAnswer(modelAvailable: false, modelLoaded: false, message: error.message))
    }
  }

  private mutating func takeModel(_ header: Header, _ message: ZMQSocket.Message) async -> [[UInt8]] {
    do throws(ServingError) {
      let name = try Self.name(header)
      guard message.parts.count == 2 else { throw .bad("the message has no part with the model's bytes") }
      guard takenNames.contains(name) || (try? state.repository.entry(named: name)) == nil else {
        throw .bad("the server has a model '\(name)' of its own, which clients do not replace")
      }
      guard takenNames.contains(name) || takenNames.count < Self.maximumModels else {
        throw .bad("clients have sent \(takenNames.count) models, the most that they may")
      }
      let (bytes, repository, deepStack) = (message.parts[1], state.repository, state.deepStack)
      try await ServerState.converting(.max) { () throws(ServingError) in
        try repository.add(bytes, named: name)
        deepStack?.checkNames(ofModel: name, in: repository)
      }
      takenNames.insert(name)
      remember(name, message.sender)
      state.logger.notice("frigate", metadata: ["model": "\(name)", "bytes": "\(bytes.count)"])
      return Self.json(ModelAnswer(modelSaved: true, modelLoaded: true))
    } catch {
      state.logger.error("frigate", metadata: ["reason": "\(error.message)"])
      return Self.json(ModelAnswer(modelSaved: false, modelLoaded: false, message: error.message))
    }
  }

  private static func json(_ answer: ModelAnswer) -> [[UInt8]] {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return [(try? encoder.encode(answer)).map(Array.init) ?? Array("{}".utf8)]
  }

  // MARK: Frames

  /// The model of a client. A client that asked for none, as those of Frigate's first plugins do, gets the server's only model, if the frame has
  /// exactly the size of its input; else nil.
  ///
  /// A client whose model was forgotten, such as by a restart of the server, sends frames under an identity that the server does not know.
  /// Another model must not answer them, and rows without objects would be taken for an answer. Without one, the plugin's wait ends: it
  /// makes a new socket and asks for its model.
  private mutating func model(of sender: [UInt8], _ header: Header) throws(ServingError) -> ServedModel? {
    if let name = clients[sender].model { return try state.repository.model(named: name) }
    let models = state.repository.models
    if models.count == 1, models[0].inputs.count == 1,
      let size = FrigateFrame.Layout(models[0].inputs[0].defaultShape)?.size,
      let frame = FrigateFrame.Layout(header.shape ?? [])?.size, frame == size
    {
      return models[0]
    }
    if !hasSaidUnknown {
      hasSaidUnknown = true
      state.logger.warning(
        "frigate",
        metadata: [
          "reason": "frames of a client that has asked for no model are not answered, so that it asks"
        ])
    }
    return nil
  }

  private mutating func detect(
    _ header: Header, _ message: ZMQSocket.Message, by model: ServedModel
  ) async throws(ServingError) -> [Detection] {
    try state.admission.enter()
    defer { state.admission.leave() }
    let arrival = ContinuousClock.now
    do throws(ServingError) {
      guard message.parts.count == 2 else { throw .bad("the message has no part with the frame's bytes") }
      let frame = try FrigateFrame(
        shape: header.shape ?? [], type: header.dtype ?? "", bytes: message.parts[1],
        range: &clients[message.sender].range)
      var settings = PictureTask.Settings()
      settings.scoreThreshold = Self.minimumScore
      settings.maximumResults = Self.rowCount
      let task = PictureTask(.detect, settings: settings, file: frame.file, form: .result)
      let answer = try await state.scheduler.run(task, on: model, arrival: arrival, presence: nil)
      return (answer.result as? DetectionResult)?.detections ?? []
    } catch {
      model.statistics.recordFailure(error, ContinuousClock.now - arrival)
      throw error
    }
  }

  /// Rows of objects as a tensor, with its header before it; of a failure, with its reason in the header.
  private static func rows(_ detections: [Detection], _ error: ServingError?) -> [[UInt8]] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.field("shape", [rowCount, 6])
      writer.field("dtype", "float32")
      if let error { writer.field("error", error.message) }
    }
    var numbers = [Float](repeating: 0, count: rowCount * 6)
    for (row, detection) in detections.prefix(rowCount).enumerated() {
      let box = detection.boundingBox
      let values = [
        Float(detection.category.index), detection.category.score, box.minY, box.minX, box.maxY, box.maxX,
      ]
      numbers.replaceSubrange(row * 6..<row * 6 + 6, with: values)
    }
    let bytes = numbers.flatMap { number in
      let bits = number.bitPattern
      return [
        UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8),
        UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 24),
      ]
    }
    return [Array(writer.buffer.readableBytesView), bytes]
  }
}
