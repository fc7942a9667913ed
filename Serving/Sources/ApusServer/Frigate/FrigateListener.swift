// SPDX-License-Identifier: Apache-2.0
import NIOPosix
import ServiceLifecycle

/// Answers Frigate's messages on a socket of ZeroMQ, one after the other.
struct FrigateListener: Service {
  let state: ServerState
  let endpoint: String
  let socket: ZMQSocket

  /// Listens.
  ///
  /// - Throws: `StartError` if there is no library, or it cannot listen there.
  init(_ state: ServerState, endpoint: String, maximumPart: Int) throws {
    self.state = state
    self.endpoint = endpoint
    socket = try ZMQSocket(endpoint: endpoint, maximumPart: maximumPart)
  }

  func run() async throws {
    StandardError.write("frigate \(endpoint)")
    // The socket's thread: it waits for messages, and none of Swift's pool does.
    let thread = NIOThreadPool(numberOfThreads: 1)
    thread.start()
    let socket = socket
    var detector = FrigateDetector(state)
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      guard let message = try await thread.runIfActive({ socket.receive() }) else { continue }
      guard let answer = await detector.answer(message) else { continue }
      try await thread.runIfActive { socket.send(answer, to: message.sender) }
    }
    try await thread.shutdownGracefully()
  }
}
