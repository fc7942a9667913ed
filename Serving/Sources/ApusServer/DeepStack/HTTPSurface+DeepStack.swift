// SPDX-License-Identifier: Apache-2.0
import ApusServing
import ApusVision
import HTTPTypes
import Hummingbird

/// The paths of DeepStack, which CodeProject.AI has, too: pictures in forms, boxes in whole pixels.
extension HTTPSurface {
  /// The maximum number of results: the clients of network video recorders have room for 20.
  private static let maximumPredictions = 20
  /// The maximum number of objects that are looked for: those without a name must not take the places of others.
  private static let maximumFound = 1_000

  /// The default minimum score of objects and faces.
  private static let minimumConfidence: Float = 0.4
  /// The default minimum similarity of a known face.
  private static let minimumSimilarity = 0.67

  /// Answers a path below `/v1/vision`; errors have the form that DeepStack's clients read.
  func respond(to path: [String], of deepStack: DeepStack, _ exchange: Exchange) async -> Answer {
    do throws(ServingError) {
      return try await answer(path, deepStack, exchange)
    } catch {
      var answer = Answer(error)
      var writer = JSONWriter()
      writer.object { writer in
        writer.field("success", false)
        writer.field("error", error.message)
        writer.field("code", error.status.code)
      }
      answer.body = writer.buffer
      return answer
    }
  }

  private func answer(
    _ path: [String], _ deepStack: DeepStack, _ exchange: Exchange
  ) async throws(ServingError) -> Answer {
    let request = exchange.request
    let isList = path == ["custom", "list"] || path == ["face", "list"]
    if !(isList && (request.method == .get || request.method == .head)) { try allow(request, .post) }
    try state.admission.enter()
    defer { state.admission.leave() }
    // A client with a wrong token must not take memory for a body.
    if let header = request.headers[.authorization] { try state.tokens.check(header) }
    let (form, memory) = try await form(of: exchange)
    defer { withExtendedLifetime(memory) {} }
    if request.headers[.authorization] == nil { try check(form) }
    switch path {
    case ["detection"]:
      return try await objects(by: deepStack.model(for: .detection, in: state.repository), form, exchange)
    case ["custom", "list"]:
      let models = state.repository.models
      let scheduler = state.scheduler
      let names = try await ServerState.converting(.max) { () throws(ServingError) in
        deepStack.detectors(among: models, scheduler).map(\.name)
      }
      return Self.succeeded { writer in
        writer.key("models")
        writer.array { writer in for name in names { writer.string(name) } }
      }
    case let path where path.count == 2 && path[0] == "custom":
      return try await objects(by: state.repository.model(named: path[1]), form, exchange)
    case ["scene"]: return try await scene(deepStack, form, exchange)
    case ["face"]: return try await faces(deepStack, form, exchange)
    case ["face", "match"]: return try await match(deepStack, form, exchange)
    case ["face", "register"]: return try await register(deepStack, form, exchange)
    case ["face", "recognize"]: return try await recognize(deepStack, form, exchange)
    case ["face", "list"]:
      let names = try await deepStack.faces.names
      return Self.succeeded { writer in
        writer.key("faces")
        writer.array { writer in for name in names { writer.string(name) } }
      }
    case ["face", "delete"]:
      // Forgetting a name that is not known succeeds, as in DeepStack.
      try await deepStack.faces.delete(form.userID)
      return Self.succeeded()
    default: throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
    }
  }

  // MARK: Requests

  private func form(of exchange: Exchange) async throws(ServingError) -> (FormData, HeldMemory) {
    do {
      let held = try await readBody(of: exchange, limit: state.maximumBody)
      // Parts are copied out of the body.
      try held.memory.take(2 * held.bytes.count)
      let type = exchange.request.headers[.contentType]
      let form = try await ServerState.converting(held.bytes.count) { () throws(ServingError) in
        try FormData(held.bytes, contentType: type)
      }
      return (form, held.memory)
    } catch let error as ServingError {
      throw error
    } catch {
      throw .bad("the request could not be read: \(error)")
    }
  }

  /// A client without a bearer token shows its token as DeepStack's clients do, in the form.
  private func check(_ form: FormData) throws(ServingError) {
    try state.tokens.check(key: form.fields["api_key"] ?? form.fields["admin_key"] ?? "")
  }

  /// The result of a task on a picture, and a warning about the picture's file, if there is one.
  private func result<Result: VisionResult>(
    _ kind: VisionTaskKind, _ model: ServedModel, _ file: ByteChunks, _ settings: PictureTask.Settings,
    _ exchange: Exchange, as type: Result.Type
  ) async throws(ServingError) -> (Result, warning: String?) {
    do throws(ServingError) {
      let task = PictureTask(kind, settings: settings, file: file, form: .result)
      let answer = try await state.scheduler.run(
        task, on: model, arrival: exchange.arrival,
        presence: connections.presence(of: exchange.context.channel))
      guard let result = answer.result as? Result else {
        throw ServingError(.internalFailure, "the task \(kind.rawValue) has another result than \(type)")
      }
      return (result, answer.warning)
    } catch {
      model.statistics.recordFailure(error, ContinuousClock.now - exchange.arrival)
      throw error
    }
  }

  // MARK: Paths

  private func objects(
    by model: ServedModel, _ form: FormData, _ exchange: Exchange
  ) async throws(ServingError) -> Answer {
    var settings = PictureTask.Settings()
    settings.scoreThreshold = try form.minimumConfidence ?? Self.minimumConfidence
    settings.maximumResults = Self.maximumFound
    let (result, warning) = try await result(
      .detect, model, form.picture, settings, exchange, as: DetectionResult.self)
    // A class without a name says nothing to these clients.
    let named = result.detections.filter { $0.category.label != nil }.prefix(Self.maximumPredictions)
    return Self.predictions(
      named.map { Prediction(("label", $0.category.name), $0.category.score, $0.rect) }, in: result, warning)
  }

  private func scene(
    _ deepStack: DeepStack, _ form: FormData, _ exchange: Exchange
  ) async throws(ServingError) -> Answer {
    let model = try deepStack.model(for: .scene, in: state.repository)
    var settings = PictureTask.Settings()
    settings.maximumResults = 1
    let (result, warning) = try await result(
      .classify, model, form.picture, settings, exchange, as: ClassificationResult.self)
    guard let best = result.categories.first else { throw .bad("the picture is of no class") }
    return Self.succeeded(warning) { writer in
      writer.field("label", best.name)
      writer.key("confidence")
      writer.number(best.score)
    }
  }

  private func faces(
    _ deepStack: DeepStack, _ form: FormData, _ exchange: Exchange
  ) async throws(ServingError) -> Answer {
    let model = try deepStack.model(for: .face, in: state.repository)
    var settings = PictureTask.Settings()
    settings.scoreThreshold = try form.minimumConfidence ?? Self.minimumConfidence
    settings.maximumResults = Self.maximumPredictions
    let (result, warning) = try await result(
      .faces, model, form.picture, settings, exchange, as: FaceDetectionResult.self)
    return Self.predictions(result.faces.map { Prediction(nil, $0.score, $0.rect) }, in: result, warning)
  }

  /// The faces of a picture with their embeddings by a model, and a warning about the picture's file, if there is one.
  private func embedded(
    _ deepStack: DeepStack, _ model: ServedModel, _ file: ByteChunks, _ exchange: Exchange
  ) async throws(ServingError) -> (FaceEmbeddingResult, warning: String?) {
    var settings = PictureTask.Settings()
    settings.faces = .init(try deepStack.model(for: .face, in: state.repository))
    // The path for faces lists faces from this score on.
    settings.scoreThreshold = Self.minimumConfidence
    settings.maximumResults = Self.maximumPredictions
    return try await result(.embed, model, file, settings, exchange, as: FaceEmbeddingResult.self)
  }

  /// The embeddings of the best face of each picture of a form, by a model, nil for a picture without a face; and the first warning about a
  /// picture's file.
  private func bestFaces(
    _ deepStack: DeepStack, _ model: ServedModel, _ form: FormData, _ exchange: Exchange
  ) async throws(ServingError) -> ([Embedding?], warning: String?) {
    var embeddings: [Embedding?] = []
    var first: String?
    for file in form.files {
      let (result, warning) = try await embedded(deepStack, model, file.bytes, exchange)
      embeddings.append(result.faces.first?.embedding)
      first = first ?? warning.map { "'\(file.name)': \($0)" }
    }
    return (embeddings, first)
  }

  private func match(
    _ deepStack: DeepStack, _ form: FormData, _ exchange: Exchange
  ) async throws(ServingError) -> Answer {
    guard form.files.count == 2 else { throw .bad("the form has \(form.files.count) pictures, not two") }
    let model = try deepStack.model(for: .recognition, in: state.repository)
    let (faces, warning) = try await bestFaces(deepStack, model, form, exchange)
    guard let one = faces[0], let other = faces[1] else {
      throw .bad("no face found in '\(form.files[faces[0] == nil ? 0 : 1].name)'")
    }
    let similarity = one.similarity(to: other) ?? 0
    return Self.succeeded(warning) { writer in
      writer.key("similarity")
      writer.number(similarity)
    }
  }

  private func register(
    _ deepStack: DeepStack, _ form: FormData, _ exchange: Exchange
  ) async throws(ServingError) -> Answer {
    let name = try form.userID
    _ = try form.picture
    let model = try deepStack.model(for: .recognition, in: state.repository)
    // Pictures without a face are left out, as long as one has a face.
    let (faces, warning) = try await bestFaces(deepStack, model, form, exchange)
    let embeddings = faces.compactMap(\.self)
    guard !embeddings.isEmpty else {
      let names = form.files.prefix(4).map { "'\($0.name)'" }.joined(separator: ", ")
      throw .bad("no face found in \(names)\(form.files.count > 4 ? ", …" : "")")
    }
    let isKnown = try await deepStack.faces.register(name, embeddings, by: model)
    return Self.succeeded(warning) { $0.field("message", isKnown ? "face updated" : "face added") }
  }

  private func recognize(
    _ deepStack: DeepStack, _ form: FormData, _ exchange: Exchange
  ) async throws(ServingError) -> Answer {
    let minimum = try form.minimumConfidence.map(Double.init) ?? Self.minimumSimilarity
    let model = try deepStack.model(for: .recognition, in: state.repository)
    let (result, warning) = try await embedded(deepStack, model, form.picture, exchange)
    var predictions: [Prediction] = []
    for found in result.faces {
      let nearest = try await deepStack.faces.nearest(to: found.embedding, by: model)
      let known = nearest.flatMap { $0.similarity >= minimum ? $0 : nil }
      predictions.append(
        Prediction(("userid", known?.name ?? "unknown"), Float(known?.similarity ?? 0), found.face.rect))
    }
    return Self.predictions(predictions, in: result, warning)
  }

  // MARK: Answers

  /// One result: a name under its key, a score, and a box.
  private struct Prediction {
    let name: (key: String, value: String)?
    let confidence: Float
    let box: PixelRect

    init(_ name: (key: String, value: String)?, _ confidence: Float, _ box: PixelRect) {
      self.name = name
      self.confidence = confidence
      self.box = box
    }
  }

  private static func predictions(
    _ predictions: [Prediction], in result: some VisionResult, _ warning: String?
  ) -> Answer {
    succeeded(warning) { writer in
      writer.key("predictions")
      writer.array { writer in
        for prediction in predictions {
          let box = prediction.box.clamped(width: result.imageWidth, height: result.imageHeight)
          writer.object { writer in
            if let (key, value) = prediction.name { writer.field(key, value) }
            writer.key("confidence")
            writer.number(prediction.confidence)
            writer.field("x_min", Int(box.x.rounded()))
            writer.field("y_min", Int(box.y.rounded()))
            writer.field("x_max", Int(box.maxX.rounded()))
            writer.field("y_max", Int(box.maxY.rounded()))
          }
        }
      }
      // CodeProject.AI's clients show these.
      writer.field("count", predictions.count)
      writer.field("inferenceMs", milliseconds(result.timings.inference))
      writer.field("processMs", milliseconds(result.timings.total))
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    Int(min((duration / .milliseconds(1)).rounded(), 1e9))
  }

  private static func succeeded(
    _ warning: String? = nil, _ body: (inout JSONWriter) -> Void = { _ in }
  ) -> Answer {
    Answer { writer in
      writer.object { writer in
        writer.field("success", true)
        body(&writer)
        if let warning { writer.field("warning", warning) }
        writer.field("code", 200)
      }
    }
  }
}

extension FormData {
  /// The first picture.
  fileprivate var picture: ByteChunks {
    get throws(ServingError) {
      guard let file = files.first, file.bytes.count > 0 else {
        throw .bad("no valid image file found: the form has no file 'image'")
      }
      return file.bytes
    }
  }

  /// The name of a person.
  fileprivate var userID: String {
    get throws(ServingError) {
      guard let name = fields["userid"], !name.isEmpty else {
        throw .bad("user id not specified: the form has no field 'userid'")
      }
      return name
    }
  }

  /// The minimum score, if the client says one.
  fileprivate var minimumConfidence: Float? {
    get throws(ServingError) {
      guard let text = fields["min_confidence"], !text.isEmpty else { return nil }
      guard let value = Float(text), (0...1).contains(value) else {
        throw .bad("min_confidence is '\(text)', not 0 to 1")
      }
      return value
    }
  }
}
