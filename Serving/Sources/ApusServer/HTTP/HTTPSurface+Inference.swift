// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusVision
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

extension HTTPSurface {
  // MARK: Tensors

  func respondToInference(_ name: String, _ version: String?, _ exchange: Exchange) async throws -> Answer {
    try state.admission.enter()
    defer { state.admission.leave() }
    let model = try state.repository.model(named: name, version: version)
    let held: HeldBody
    let description: RequestDescription
    do {
      held = try await readBody(of: exchange, limit: state.maximumBody)
      description = try await describe(held, exchange.request, model)
    } catch let error as ServingError {
      model.statistics.recordFailure(error, ContinuousClock.now - exchange.arrival)
      throw error
    } catch let error as HTTPParserError {
      let failure = ServingError(.tooSlow, "the body did not come")
      model.statistics.recordFailure(failure, ContinuousClock.now - exchange.arrival)
      throw error
    }
    let (request, answer) = try await state.infer(
      description, on: model, arrival: exchange.arrival,
      presence: connections.presence(of: exchange.context.channel))
    // The outputs are here until their body is.
    let outputs = HeldMemory(state.admission)
    defer { withExtendedLifetime(outputs) {} }
    try outputs.take(answer.byteCount)
    let (body, headerLength) = try await ServerState.converting(answer.textualByteCount) {
      InferenceJSON.body(of: answer, to: request, from: model)
    }
    try held.memory.take(body.readableBytes)
    var response = Answer(
      type: headerLength == nil ? "application/json" : "application/octet-stream", body: body)
    response.memory = held.memory
    if let headerLength { response.headers[.inferenceHeaderLength] = String(headerLength) }
    return response
  }

  private func describe(
    _ held: HeldBody, _ request: Request, _ model: ServedModel
  ) async throws(ServingError) -> RequestDescription {
    let body = held.bytes
    var rest = body
    var headerLength = body.count
    if let text = request.headers[.inferenceHeaderLength] {
      // Int takes a sign, too.
      guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text), length <= body.count
      else {
        throw .bad("Inference-Header-Content-Length is '\(text)', not a number within 0 to \(body.count)")
      }
      if length == 0 { return try model.rawRequest(body) }
      headerLength = length
    }
    let header = rest.removeFirst(headerLength)
    let tail = rest
    // Its bytes are copied, and a number of eight bytes takes at least two of text.
    let decoding = HeldMemory(state.admission)
    defer { withExtendedLifetime(decoding) {} }
    try decoding.take(5 * headerLength)
    let description = try await ServerState.converting(headerLength) { () throws(ServingError) in
      try InferenceJSON.request(header: header.array, tail: tail)
    }
    try held.memory.take(description.decodedByteCount)
    return description
  }

  // MARK: Pictures

  func respond(to kind: VisionTaskKind, _ exchange: Exchange) async throws -> Answer {
    try state.admission.enter()
    defer { state.admission.leave() }
    let request = exchange.request
    var query = try PictureQuery(request.uri.query ?? "")
    let model = try self.model(query.model)
    if let faces = query.faces {
      query.settings.faces = .init(try state.repository.model(named: faces))
    }
    let answer: PictureAnswer
    do {
      let held = try await readBody(of: exchange, limit: state.maximumBody)
      defer { withExtendedLifetime(held.memory) {} }
      let file = try await Self.picture(held, request)
      let task = PictureTask(kind, settings: query.settings, file: file, form: query.form)
      answer = try await state.scheduler.run(
        task, on: model, arrival: exchange.arrival,
        presence: connections.presence(of: exchange.context.channel))
    } catch let error as ServingError {
      model.statistics.recordFailure(error, ContinuousClock.now - exchange.arrival)
      throw error
    }
    let type =
      switch query.form {
      case .json, .result: "application/json"
      case .annotated, .png: "image/png"
      case .npy: "application/octet-stream"
      }
    var response = Answer(type: type, body: answer.body)
    // Pictures and arrays have no place for it.
    if let warning = answer.warning { response.headers[.warningAboutPicture] = warning }
    return response
  }

  /// The encoded picture of a request: its body, or the first file of a form. Pictures are also taken as they are from clients whose
  /// libraries call any body a form.
  private static func picture(_ held: HeldBody, _ request: Request) async throws(ServingError) -> ByteChunks {
    guard held.bytes.count > 0 else { throw .bad("the body is empty, not an encoded picture") }
    let type = request.headers[.contentType]
    let beginning = held.bytes.chunks[0].readableBytesView.prefix(2)
    guard let type, type.lowercased().hasPrefix("multipart/form-data"),
      beginning.elementsEqual("--".utf8) || beginning.elementsEqual("\r\n".utf8)
    else {
      return held.bytes
    }
    // Its parts are copied.
    try held.memory.take(2 * held.bytes.count)
    let form = try await ServerState.converting(held.bytes.count) { () throws(ServingError) in
      try FormData(held.bytes, contentType: type)
    }
    try PictureQuery.check(form)
    guard let file = form.files.first, file.bytes.count > 0 else {
      throw .bad("the form has no file: a part with a filename")
    }
    return file.bytes
  }

  /// The named model, or the only one.
  private func model(_ name: String?) throws(ServingError) -> ServedModel {
    if let name { return try state.repository.model(named: name) }
    let models = state.repository.models
    guard models.count == 1 else {
      let names = models.map(\.name).joined(separator: ", ")
      throw .bad("the query does not name a model (?model=), and there are: \(names)")
    }
    return models[0]
  }
}
