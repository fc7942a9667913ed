// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1

/// The server's HTTP surface: the inference protocol and its extensions, vision tasks, DeepStack's paths, metrics and a page.
struct HTTPSurface: HTTPResponder {
  typealias Context = ServingContext

  let state: ServerState
  let connections: Connections

  /// The most bytes of a body that is neither a tensor nor a picture.
  static let smallBody = 1 << 20

  func respond(to request: Request, context: Context) async throws -> Response {
    let arrival = ContinuousClock.now
    let encodings = AcceptedEncodings(request.headers[.acceptEncoding])
    var response: Answer
    do {
      guard encodings.takesIdentity || encodings.preferred != nil else {
        throw ServingError(
          .notAcceptable, "Accept-Encoding leaves no encoding: there are gzip, deflate and identity")
      }
      try refuseForeignPage(request)
      response = try await route(Exchange(request: request, context: context, arrival: arrival))
    } catch let error as ServingError {
      response = Answer(error)
    } catch let error as HTTPParserError {
      // ``HTTP1Handler`` answers.
      log(request, Answer(.bad("\(error)")), arrival)
      throw error
    } catch {
      response = Answer(ServingError.bad("the request could not be read: \(error)"))
    }
    await compress(&response, encodings)
    do throws(ServingError) { try response.count(for: state.admission) } catch { response = Answer(error) }
    log(request, response, arrival)
    return response.response(headOnly: request.method == .head)
  }

  /// A request with its surroundings.
  struct Exchange {
    let request: Request
    let context: Context
    let arrival: ContinuousClock.Instant
  }

  /// Refuses what a web page of another server asks for, but to read: browsers send forms, and bodies without a type, to any address without
  /// asking, so that a page would use its visitor's network. A request with a token is none of these.
  private func refuseForeignPage(_ request: Request) throws(ServingError) {
    guard ![.get, .head, .options].contains(request.method), request.headers[.authorization] == nil else {
      return
    }
    let site = request.headers[.fetchSite]
    if site == "same-origin" || site == "none" { return }
    // Browsers name the site of plain HTTP only by the page's origin.
    let origin = request.headers[.origin]
    guard site == "cross-site" || origin != nil else { return }
    let host = origin.map {
      String($0[($0.firstRange(of: "://")?.upperBound ?? $0.startIndex)...]).lowercased()
    }
    let own = [request.head.authority, request.headers[.forwardedHost]].compactMap { $0?.lowercased() }
    guard site != "cross-site", let host, own.contains(host) else {
      throw ServingError(
        .forbidden,
        "the request comes from a page of '\((origin ?? "another site").prefix(200))'; give clients in pages a token (--token-file)"
      )
    }
  }

  // MARK: Routes

  private func route(_ exchange: Exchange) async throws -> Answer {
    let request = exchange.request
    var path = try segments(of: request.uri.path)
    if path.last == "" { path.removeLast() }
    let isOpen =
      path.isEmpty || ["favicon.ico", "openapi.yaml", "sample.jpg"].contains(path.joined(separator: "/"))
      || path.starts(with: ["v2", "health"])
    if let deepStack = state.deepStack, path.starts(with: ["v1", "vision"]) {
      return await respond(to: Array(path.dropFirst(2)), of: deepStack, exchange)
    }
    if !isOpen {
      try state.tokens.check(request.headers[.authorization])
    }
    switch path.first {
    case nil:
      try allow(request, .get)
      var answer = Answer(type: "text/html; charset=utf-8", body: Page.html)
      answer.headers[.contentSecurityPolicy] = Page.policy
      return answer
    case "openapi.yaml":
      guard path.count == 1 else { break }
      try allow(request, .get)
      return Answer(type: "application/yaml", body: ByteBuffer(bytes: PackageResources.openapi_yaml))
    case "sample.jpg":
      guard path.count == 1 else { break }
      try allow(request, .get)
      return Answer(type: "image/jpeg", body: Page.sample)
    case "v2": return try await routeProtocol(path.dropFirst(), exchange)
    case "v1":
      guard path.count == 2, let kind = VisionTaskKind(rawValue: path[1]) else { break }
      try allow(request, .post)
      return try await respond(to: kind, exchange)
    case "cameras" where !state.cameras.isEmpty:
      return try await respondToCameras(Array(path.dropFirst()), exchange)
    case "metrics":
      guard path.count == 1 else { break }
      try allow(request, .get)
      return Answer(
        type: "text/plain; version=0.0.4; charset=utf-8",
        body: ByteBuffer(string: PrometheusText(state).text))
    case "favicon.ico":
      guard path.count == 1 else { break }
      try allow(request, .get)
      return Answer(.noContent)
    default: break
    }
    throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
  }

  private func routeProtocol(_ path: ArraySlice<String>, _ exchange: Exchange) async throws -> Answer {
    let request = exchange.request
    let parts = Array(path)
    switch (parts.first, parts.count) {
    case (nil, _):
      try allow(request, .get)
      return Answer { Descriptions.server(named: state.identifier, &$0) }
    case ("health", 2) where parts[1] == "live":
      try allow(request, .get)
      return Answer { writer in writer.object { $0.field("live", true) } }
    case ("health", 2) where parts[1] == "ready":
      try allow(request, .get)
      let isReady = state.isReady
      return Answer(isReady ? .ok : .serviceUnavailable) { writer in
        writer.object { $0.field("ready", isReady) }
      }
    case ("models", 2) where parts[1] == "stats":
      try allow(request, .get)
      return Answer { Descriptions.statistics(of: state.repository.entries.compactMap(\.model), &$0) }
    case ("models", 2...): return try await routeModel(Array(parts.dropFirst()), exchange)
    case ("repository", 2...): return try await routeRepository(Array(parts.dropFirst()), exchange)
    case ("systemsharedmemory", 2...), ("cudasharedmemory", 2...):
      return try await routeSharedMemory(Array(parts.dropFirst()), exchange)
    case ("trace", 2) where parts[1] == "setting": return try await respondWithTraceSettings(exchange)
    case ("logging", 1): return try await respondWithLogSettings(exchange)
    default: throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
    }
  }

  private func routeModel(_ path: [String], _ exchange: Exchange) async throws -> Answer {
    let request = exchange.request
    let name = path[0]
    var rest = path.dropFirst()
    var version: String?
    if rest.first == "versions", rest.count >= 2 {
      version = rest.dropFirst().first
      guard version != "" else {
        throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
      }
      rest = rest.dropFirst(2)
    }
    if version == nil, Array(rest) == ["trace", "setting"] {
      _ = try state.repository.entry(named: name)
      return try await respondWithTraceSettings(exchange)
    }
    guard rest.count <= 1 else { throw ServingError(.notFound, "there is nothing at \(request.uri.path)") }
    switch rest.first {
    case nil:
      try allow(request, .get)
      let model = try state.repository.model(named: name, version: version)
      return Answer { Descriptions.metadata(of: model, versions: state.repository.versions(of: name), &$0) }
    case "ready":
      try allow(request, .get)
      let isReady =
        try state.repository.entry(named: name, version: version).model != nil
        && state.takesRequests
      return Answer(isReady ? .ok : .badRequest) { writer in
        writer.object { writer in
          writer.field("name", name)
          writer.field("ready", isReady)
        }
      }
    case "config":
      try allow(request, .get)
      let model = try state.repository.model(named: name, version: version)
      return Answer { Descriptions.configuration(of: model, state.scheduler.configuration, &$0) }
    case "stats":
      try allow(request, .get)
      let models = try state.repository.models(named: name, version: version)
      return Answer { Descriptions.statistics(of: models, &$0) }
    case "infer":
      try allow(request, .post)
      return try await respondToInference(name, version, exchange)
    default: throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
    }
  }

  private func routeRepository(_ path: [String], _ exchange: Exchange) async throws -> Answer {
    let request = exchange.request
    switch (path.first, path.count) {
    case ("index", 1):
      try allow(request, .post)
      let body = try await readBody(of: exchange, limit: Self.smallBody)
      let onlyReady = try Descriptions.wantsReadyOnly(body.bytes.array)
      let entries = await state.index()
      return Answer { Descriptions.index(of: entries, onlyReady: onlyReady, &$0) }
    case ("models", 3) where path[2] == "load" || path[2] == "unload":
      try allow(request, .post)
      let body = try await readBody(of: exchange, limit: Self.smallBody)
      let name = path[1]
      let loads = path[2] == "load"
      let text = body.bytes.array
      let parameters = text.isEmpty ? [:] : try InferenceJSON.object(text, within: "parameters")
      if loads {
        try await state.load(name, LoadSettings(parameters, ofModel: name))
      } else {
        try LoadSettings.checkUnload(parameters, ofModel: name)
        try await state.unload(name)
      }
      return Answer(type: "application/json", body: ByteBuffer(string: "{}"))
    default: throw ServingError(.notFound, "there is nothing at \(request.uri.path)")
    }
  }

  // MARK: Parts of requests

  /// Reads a body. ``HTTP1Handler`` sees to it that it comes in time.
  func readBody(of exchange: Exchange, limit: Int) async throws -> HeldBody {
    try await exchange.request.readBody(
      limit: limit, admission: state.admission, from: exchange.context.channel)
  }

  private func segments(of path: String) throws(ServingError) -> [String] {
    var result: [String] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let text = PercentEncoding.decoded(part) else {
        throw .bad("the path is not percent-encoded UTF-8")
      }
      result.append(text)
    }
    return result
  }

  func allow(_ request: Request, _ method: HTTPRequest.Method) throws(ServingError) {
    if request.method == method || (method == .get && request.method == .head) { return }
    var error = ServingError(
      .methodNotAllowed, "\(request.uri.path) takes \(method), not \(request.method)")
    error.allowedMethod = method.rawValue
    throw error
  }

  // MARK: Responses

  /// Compresses a large body for clients that would have it so, and any body for those that take no other.
  private func compress(_ response: inout Answer, _ encodings: AcceptedEncodings) async {
    guard response.stream == nil, response.status == .ok,
      response.body.readableBytes > 4_096 || !encodings.takesIdentity
    else {
      return
    }
    response.headers[.vary] = "Accept-Encoding"
    guard let encoding = encodings.preferred else { return }
    let body = response.body
    guard
      let compressed = try? await ServerState.converting(body.readableBytes, { encoding.compressed(body) })
    else { return }
    response.body = compressed
    response.headers[.contentEncoding] = encoding.rawValue
  }

  private func log(_ request: Request, _ response: Answer, _ arrival: ContinuousClock.Instant) {
    let level: Logger.Level = response.status.code == 500 ? .error : .info
    guard state.logger.logLevel <= level else { return }
    state.logger.log(
      level: level, "\(request.method) \(request.uri.path)",
      metadata: [
        "status": "\(response.status.code)", "request": "\(request.headers[.requestID] ?? "-")",
        "milliseconds": "\((ContinuousClock.now - arrival).milliseconds)",
      ])
  }
}

extension HTTPField.Name {
  /// The client's name for a request, which logs repeat.
  static let requestID = HTTPField.Name("X-Request-Id")!
  /// Where a browser's request comes from, as seen from its server.
  static let fetchSite = HTTPField.Name("Sec-Fetch-Site")!
  /// The host that a proxy was asked for.
  static let forwardedHost = HTTPField.Name("X-Forwarded-Host")!
  /// The bytes of JSON before binary tensors.
  /// What is wrong with the picture of a request that was answered all the same.
  static let warningAboutPicture = HTTPField.Name("X-Warning")!
  static let inferenceHeaderLength = HTTPField.Name("Inference-Header-Content-Length")!
}
