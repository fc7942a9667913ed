// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Synchronization

/// A server from its start to its end.
struct ServerProcess {
  private let options: ApusServerCommand

  init(_ options: ApusServerCommand) { self.options = options }

  func run() async throws {
    FreedMemory.keep()
    FileLimit.raise()
    let logger = try makeLogger()
    let http = try ListenAddress(options.http, option: "--http")
    let grpc = options.grpc == "off" ? nil : try ListenAddress(options.grpc, option: "--grpc")
    let tokens = try options.tokenFile.map { try AccessTokens(contentsOfFile: $0) } ?? .none
    // A loop for each processor that the process may use: more would take turns, and requests wait for them.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: Processors.allowedCount)
    var scheduling = scheduling
    scheduling.warn = { logger.warn($0) }
    let scheduler = Scheduler(scheduling, timers: group.next())
    let repository = ModelRepository(
      files: options.model, folders: options.modelRepository, maximumBatch: options.maxBatch,
      scheduler: scheduler)
    let refused = try repository.loadAll(options.loadModel.contains("*") ? [] : Set(options.loadModel))
    report(repository, refused, logger)
    var state = ServerState(
      identifier: options.id, repository: repository, scheduler: scheduler,
      admission: Admission(maximumBytes: max(1 << 30, options.maxBody * 8)), tokens: tokens,
      allowsLoading: options.modelControl == .explicit, maximumBody: options.maxBody, logger: logger,
      isStrict: options.strictReadiness)
    FreedMemory.giveBack(after: state.admission, on: group.next())
    if options.deepstack {
      state.deepStack = try DeepStack(
        choices: options.deepstackModel, facesFile: options.deepstackFaces, repository, scheduler, logger)
    }

    state.cameras = try cameras(repository, scheduler, logger)

    var services: [any Service] = [
      Listener(
        option: "--http", address: http, service: try makeHTTP(state, http, group),
        admission: state.admission)
    ]
    if let grpc {
      services.append(
        Listener(
          option: "--grpc", address: grpc, service: try makeGRPC(state, grpc, group),
          admission: state.admission))
    }
    for endpoint in options.frigate {
      services.append(
        try FrigateListener(state, endpoint: endpoint, maximumPart: options.maxBody))
    }
    // They end when the server is told to, so that their viewers do not keep it.
    services += state.cameras
    let unanswered = Atomic(0)
    services.append(
      Drain(state: state, limit: .seconds(options.drain)) { unanswered.add($0, ordering: .relaxed) })
    var configuration = ServiceGroupConfiguration(
      // A camera may end before the server: a file does.
      services: services.map {
        .init(
          service: $0,
          successTerminationBehavior: $0 is LiveCamera ? .ignore : .gracefullyShutdownGroup)
      },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet)
    configuration.maximumGracefulShutdownDuration = .seconds(options.drain + 3)
    let running = ServiceGroup(configuration: configuration)
    do {
      try await withTaskExecutorPreference(EventLoopExecutor(group)) { try await running.run() }
    } catch {
      guard state.admission.isDraining else { throw StartError(message: Self.describe(error)) }
    }
    await scheduler.stop()
    logger.notice(
      "stopped",
      metadata: [
        "unanswered": "\(unanswered.load(ordering: .relaxed) + state.admission.requestCount)"
      ])
  }

  private var scheduling: Scheduler.Configuration {
    var scheduling = Scheduler.Configuration()
    scheduling.instances = options.instances ?? Processors.allowedCount
    scheduling.threads = options.threads
    scheduling.maximumQueue = options.maxQueue
    scheduling.queueDelay = .microseconds(options.queueDelay)
    scheduling.deadline = options.deadline > 0 ? .seconds(options.deadline) : nil
    return scheduling
  }

  /// The cameras of the command line, each with its model: the one that was named, or the first that finds objects.
  private func cameras(
    _ repository: ModelRepository, _ scheduler: Scheduler, _ logger: Logger
  ) throws -> [LiveCamera] {
    try CameraSettings.all(options).map { settings in
      let name: String
      if let chosen = settings.model {
        guard (try? repository.model(named: chosen)) != nil else {
          throw StartError(message: "--camera-model: there is no model '\(chosen)'")
        }
        name = chosen
      } else {
        guard let first = repository.models.first(where: { scheduler.canDo(.detect, $0) }) else {
          throw StartError(message: "--camera \(settings.name): no model of this server finds objects")
        }
        name = first.name
      }
      logger.notice("camera", metadata: ["camera": "\(settings.name)", "model": "\(name)"])
      let model = CameraModel(named: name, in: repository, threads: options.threads, logger: logger)
      return try LiveCamera(settings, model: model, logger: logger)
    }
  }

  // MARK: Logs

  /// Drops the libraries' own messages, which are for their developers.
  private static let quiet = Logger(label: "libraries") { _ in SwiftLogNoOpLogHandler() }

  private func makeLogger() throws -> Logger {
    guard let level = Logger.Level(rawValue: options.logLevel) else {
      throw StartError(message: "there is no log level '\(options.logLevel)'")
    }
    return Logger(label: "apus-server") { JSONLogHandler(label: $0, level: level) }
  }

  private func report(_ repository: ModelRepository, _ refused: [ModelRepository.Entry], _ logger: Logger) {
    for model in repository.entries.compactMap(\.model) {
      let tensors = { (tensors: [TensorSpecification]) in
        tensors.map { "\($0.name) \($0.datatype.rawValue) \($0.shape)" }.joined(separator: ", ")
      }
      let joining = model.joining
      logger.notice(
        "serving",
        metadata: [
          "model": "\(model.name)", "version": "\(model.version)",
          "file": "\(model.source.path ?? "embedded")",
          "inputs": "\(tensors(model.describedInputs))", "outputs": "\(tensors(model.describedOutputs))",
          "joins": "\(joining.count)\(joining.reason.map { ": \($0)" } ?? "")",
        ])
    }
    for entry in refused {
      logger.error(
        "not served",
        metadata: [
          "model": "\(entry.source.name)", "version": "\(entry.source.version)", "reason": "\(entry.reason)",
        ])
    }
    for note in repository.notes {
      logger.warning("repository", metadata: ["folder": "\(note.name)", "reason": "\(note.reason)"])
    }
  }

  fileprivate static func describe(_ error: any Error) -> String {
    if let error = error as? StartError { return error.message }
    if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
    if let error = error as? RuntimeError {
      return error.cause.map { describe($0) } ?? error.message
    }
    return "\(error)"
  }

  // MARK: Listeners

  private func makeHTTP(
    _ state: ServerState, _ address: ListenAddress, _ group: MultiThreadedEventLoopGroup
  ) throws -> any Service {
    let connections = Connections()
    let surface = HTTPSurface(state: state, connections: connections)
    let deadline = scheduling.deadline
    var server = HTTPServerBuilder {
      HTTPConnection(
        responder: $0, connections: connections, deadline: deadline, admission: state.admission)
    }
    if let certificate = options.tlsCertificate, let key = options.tlsKey {
      do {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate)
        Self.report(chain, of: certificate, state.logger)
        var configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: chain.map { .certificate($0) },
          privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        // Whether they belong together.
        _ = try NIOSSLContext(configuration: configuration)
        server = try .tls(server, tlsConfiguration: configuration)
      } catch {
        throw StartError(
          message: "the certificate '\(certificate)' or its key '\(key)' cannot be used: \(error)")
      }
    }
    return Application(
      responder: surface, server: server,
      configuration: ApplicationConfiguration(
        address: .hostname(address.host, port: address.port), backlog: 1_024,
        availableConnectionsDelegate: .maximum(options.maxConnections, logger: Self.quiet)),
      onServerRunning: { channel in
        StandardError.write("http \(address.text(port: channel.localAddress?.port))")
      },
      eventLoopGroupProvider: .shared(group), logger: Self.quiet)
  }

  /// Says of a certificate that clients will refuse, now or soon. The operator may be about to replace it: the server starts.
  private static func report(_ chain: [NIOSSLCertificate], of path: String, _ logger: Logger) {
    let now = Date()
    for certificate in chain {
      let begin = Date(timeIntervalSince1970: TimeInterval(certificate.notValidBefore))
      let end = Date(timeIntervalSince1970: TimeInterval(certificate.notValidAfter))
      let message: Logger.Message
      if end < now {
        message = "the certificate has expired: clients refuse it"
      } else if begin > now {
        message = "the certificate is not yet valid: clients refuse it"
      } else if end < now.addingTimeInterval(7 * 86_400) {
        message = "the certificate expires in less than a week"
      } else {
        continue
      }
      logger.warning(
        message,
        metadata: [
          "file": "\(path)", "from": "\(begin.formatted(.iso8601))", "to": "\(end.formatted(.iso8601))",
        ])
    }
  }

  private func makeGRPC(
    _ state: ServerState, _ address: ListenAddress, _ group: MultiThreadedEventLoopGroup
  ) throws -> any Service {
    var security = HTTP2ServerTransport.Posix.TransportSecurity.plaintext
    if let certificate = options.tlsCertificate, let key = options.tlsKey {
      security = .tls(
        certificateChain: [.file(path: certificate, format: .pem)], privateKey: .file(path: key, format: .pem)
      )
    }
    // A message within twice the limit is refused with a reason, a longer one by the transport.
    let maximumMessage = options.maxBody * 2 + (1 << 20)
    let calls = OpenCalls(state.admission)
    let transport = HTTP2ServerTransport.Posix(
      address: .init(ipAddress: address), transportSecurity: security,
      config: .defaults { config in
        config.rpc.maxRequestPayloadSize = maximumMessage
        config.compression.enabledAlgorithms = [.gzip, .deflate]
        config.http2.targetWindowSize = StreamGuard.windowSize
        // Answers of one turn of the loop leave together; none waits for those of the next.
        config.connection.flushCoalescing = .init(maxFlushDelay: .zero, maxBytes: 64 << 10)
        config.http2.maxConcurrentStreams = 256
        config.connection.keepalive.clientBehavior.allowWithoutCalls = true
        config.connection.keepalive.clientBehavior.minPingIntervalWithoutCalls = .seconds(10)
        config.channelDebuggingCallbacks = callbacks(maximumMessage: maximumMessage, calls)
      },
      eventLoopGroup: group)
    let server = GRPCServer(
      transport: transport,
      services: [
        LimitedInferenceService(service: InferenceService(state: state), calls: calls),
        HealthService(state: state, calls: calls),
      ],
      interceptors: [LogInterceptor(logger: state.logger), TokenInterceptor(tokens: state.tokens)])
    return GRPCListener(server: server, transport: transport, address: address)
  }
}

extension ServerProcess {
  /// The limits that gRPC's transport lacks: those on connections, and those of ``StreamGuard`` on each call.
  private func callbacks(
    maximumMessage: Int, _ calls: OpenCalls
  ) -> HTTP2ServerTransport.Config.ChannelDebuggingCallbacks {
    let count = ConnectionCount()
    let maximum = options.maxConnections
    let deadline = scheduling.deadline.map { TimeAmount($0) }
    let idleTime = TimeAmount.seconds(Int64(options.grpcIdleTime))
    return .init(
      onBindTCPListener: nil,
      onAcceptTCPConnection: { channel in
        let isWelcome = count.enter() <= maximum
        channel.closeFuture.whenComplete { _ in count.leave() }
        if !isWelcome { channel.close(promise: nil) }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(LargeHeaders(), IdleConnection(limit: idleTime))
        }
      },
      onAcceptHTTP2Stream: { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.parent?.pipeline.syncOperations.handler(type: IdleConnection.self).count(channel)
          try StreamGuard.add(to: channel, .init(message: maximumMessage, deadline: deadline), calls)
        }
      })
  }

  /// How many connections there are.
  private final class ConnectionCount: Sendable {
    private let count = Atomic(0)

    /// Counts one more.
    func enter() -> Int { count.add(1, ordering: .relaxed).newValue }

    func leave() { count.subtract(1, ordering: .relaxed) }
  }
}

/// A listener whose error names its option and address, and ends the process.
struct Listener: Service {
  let option: String
  let address: ListenAddress
  let service: any Service
  let admission: Admission

  func run() async throws {
    do { try await service.run() } catch {
      guard !admission.isDraining, !Task.isCancelled else { throw error }
      StandardError.write("error: \(option) \(address.text(port: nil)): \(ServerProcess.describe(error))")
      // Thrown, the error would cancel the other services while they start, where one of them sometimes waits for a lock for ever:
      // the `merge` of AsyncAlgorithms and the runtime's record of a task are locked in either order.
      exit(1)
    }
  }
}

/// The gRPC listener as a service: says when it listens, and ends gracefully.
struct GRPCListener: Service {
  let server: GRPCServer<HTTP2ServerTransport.Posix>
  let transport: HTTP2ServerTransport.Posix
  let address: ListenAddress

  func run() async throws {
    try await withGracefulShutdownHandler {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.serve() }
        group.addTask {
          // Where the address cannot be bound, `serve` says so.
          guard let bound = try? await transport.listeningAddress else { return }
          StandardError.write("grpc \(address.text(port: bound.ipv4?.port ?? bound.ipv6?.port))")
        }
        try await group.waitForAll()
      }
    } onGracefulShutdown: {
      server.beginGracefulShutdown()
    }
  }
}

/// The first to hear of the end: takes no new work, and waits until what was accepted is answered, or until the time for that is over,
/// when it is answered with an error.
struct Drain: Service {
  let state: ServerState
  let limit: Duration
  /// Gets the number of requests that were not answered in time.
  let report: @Sendable (Int) -> Void

  /// How long answers that say so may take to be written.
  private static let writing = Duration.seconds(1)

  func run() async throws {
    try await gracefulShutdown()
    state.admission.drain()
    state.logger.notice("draining", metadata: ["requests": "\(state.admission.requestCount)"])
    try await waitForAnswers(atMost: limit)
    if state.admission.requestCount > 0 {
      let unanswered = state.scheduler.end()
      report(unanswered)
      state.logger.warning("the time for answers is over", metadata: ["unanswered": "\(unanswered)"])
      try await waitForAnswers(atMost: Self.writing)
    }
    // A connection that does not end must not keep the process.
    BlockingThread.run {
      Thread.sleep(forTimeInterval: 8)
      exit(0)
    }
  }

  private func waitForAnswers(atMost limit: Duration) async throws {
    let end = ContinuousClock.now + limit
    while state.admission.requestCount > 0, ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
