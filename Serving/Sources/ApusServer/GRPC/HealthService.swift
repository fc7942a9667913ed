// SPDX-License-Identifier: Apache-2.0
import ApusServing
import GRPCCore
import InferenceProtocol

/// `grpc.health.v1.Health`, which the probes of Kubernetes and the load balancers of gRPC ask: whether the server is ready.
struct HealthService: RegistrableRPCService {
  static let descriptor = ServiceDescriptor(fullyQualifiedService: "grpc.health.v1.Health")

  let state: ServerState
  let calls: OpenCalls

  /// The values of `ServingStatus`.
  private enum Status: UInt8 {
    case serving = 1
    case notServing = 2
    case serviceUnknown = 3
  }

  private let watch: ReadinessWatch

  init(state: ServerState, calls: OpenCalls) {
    self.state = state
    self.calls = calls
    watch = ReadinessWatch(state)
  }

  func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
    router.registerHandler(
      forMethod: MethodDescriptor(service: Self.descriptor, method: "Check"), deserializer: MessageBytes(),
      serializer: MessageBytes()
    ) { request, _ in
      let name = try await service(of: request)
      let status = status(of: name)
      guard status != .serviceUnknown else {
        throw RPCError(
          code: .notFound, message: PrintableText.escaped("there is no service '\(name.prefix(200))'"))
      }
      return StreamingServerResponse(of: [UInt8].self) { writer in
        try await writer.write(Self.message(status))
        return [:]
      }
    }
    router.registerHandler(
      forMethod: MethodDescriptor(service: Self.descriptor, method: "Watch"), deserializer: MessageBytes(),
      serializer: MessageBytes()
    ) { request, _ in
      let name = try await service(of: request)
      return StreamingServerResponse(of: [UInt8].self) { writer in
        let (watcher, changes, end) = watch.add()
        defer { watch.remove(watcher) }
        var last: Status?
        func look() async throws {
          let isDraining = state.admission.isDraining
          let status = status(of: name)
          if status != last { try await writer.write(Self.message(status)) }
          last = status
          if isDraining { throw RPCError(code: .unavailable, message: "the server is shutting down") }
        }
        try await withRPCCancellationHandler {
          for await _ in changes { try await look() }
        } onCancelRPC: {
          end()
        }
        // The end of the server cancels calls, too: its watchers hear of it first.
        try await look()
        return [:]
      }
    }
  }

  /// The state of a service: that of the server for its own service, for this one, and where none is named.
  private func status(of service: String) -> Status {
    let known = [
      "", Inference_GRPCInferenceService.descriptor.fullyQualifiedService,
      Self.descriptor.fullyQualifiedService,
    ]
    guard known.contains(service) else { return .serviceUnknown }
    return state.isReady ? .serving : .notServing
  }

  private static func message(_ status: Status) -> [UInt8] { [0x08, status.rawValue] }

  /// The service that a request asks about.
  private func service(of request: StreamingServerRequest<[UInt8]>) async throws -> String {
    let incoming = calls.messages(of: request.metadata)
    var messages = request.messages.makeAsyncIterator()
    guard let message = try await messages.next() else {
      throw RPCError(code: .invalidArgument, message: "the call has no message")
    }
    incoming?.removeFirst()
    guard try await messages.next() == nil else {
      throw RPCError(code: .invalidArgument, message: "the call has more than one message")
    }
    if message.isEmpty { return "" }
    guard let (name, _) = MessageBytes.text(1, of: message) else {
      throw RPCError(code: .invalidArgument, message: "the message is no HealthCheckRequest")
    }
    return name
  }
}
