// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A listening socket of ZeroMQ's type ROUTER: each message comes with the identity of its sender. It is used by one thread at a time.
final class ZMQSocket: @unchecked Sendable {
  /// A message of several parts.
  struct Message: Sendable {
    /// The sender's identity, to which an answer goes.
    let sender: [UInt8]
    /// The parts, without the empty one that sockets of type REQ put before them.
    let parts: [[UInt8]]
  }

  /// The maximum number of parts of a message; those beyond it are dropped.
  private static let maximumParts = 8
  /// The size and alignment of `zmq_msg_t`.
  private static let messageSize = 64
  /// How long to wait for a message, in milliseconds, before the caller can look whether it has to end.
  private static let patience: Int32 = 200

  /// The messages of a connection that wait to be received. A client of Frigate has one.
  private static let maximumWaiting: Int32 = 2

  /// Constants of `zmq.h`.
  private enum Constant {
    static let router: Int32 = 6
    static let sendMore: Int32 = 2
    static let linger: Int32 = 17
    static let maximumMessage: Int32 = 22
    static let receiveHighWater: Int32 = 24
    static let receiveTimeout: Int32 = 27
    static let sendTimeout: Int32 = 28
  }

  private let library: ZMQLibrary
  private let context: ZMQLibrary.Address
  private let socket: ZMQLibrary.Address
  private let message: ZMQLibrary.Address

  /// Listens.
  ///
  /// - Parameters:
  ///   - endpoint: Where: `ipc:///path`, `tcp://address:port`.
  ///   - maximumPart: The maximum size of a part, in bytes; a sender of larger ones is disconnected.
  /// - Throws: `StartError` if there is no library, or it cannot listen there.
  init(endpoint: String, maximumPart: Int) throws {
    library = try ZMQLibrary()
    func failure(_ library: ZMQLibrary) -> StartError {
      StartError(message: "--frigate \(endpoint): \(library.reason)")
    }
    guard let context = library.ctxNew() else { throw failure(library) }
    guard let socket = library.socket(context, Constant.router) else {
      let error = failure(library)
      _ = library.ctxTerm(context)
      throw error
    }
    var (limit, none, patience, waiting) = (Int64(maximumPart), Int32(0), Self.patience, Self.maximumWaiting)
    _ = library.setsockopt(socket, Constant.maximumMessage, &limit, MemoryLayout<Int64>.size)
    _ = library.setsockopt(socket, Constant.linger, &none, MemoryLayout<Int32>.size)
    _ = library.setsockopt(socket, Constant.receiveTimeout, &patience, MemoryLayout<Int32>.size)
    _ = library.setsockopt(socket, Constant.sendTimeout, &patience, MemoryLayout<Int32>.size)
    _ = library.setsockopt(socket, Constant.receiveHighWater, &waiting, MemoryLayout<Int32>.size)
    guard library.bind(socket, endpoint) == 0 else {
      let error = failure(library)
      _ = library.close(socket)
      _ = library.ctxTerm(context)
      throw error
    }
    self.context = context
    self.socket = socket
    message = .allocate(byteCount: Self.messageSize, alignment: Self.messageSize)
  }

  deinit {
    message.deallocate()
    _ = library.close(socket)
    _ = library.ctxTerm(context)
  }

  /// The next message; nil if none came in time.
  func receive() -> Message? {
    var parts: [[UInt8]] = []
    var isLast = false
    while !isLast {
      guard library.msgInit(message) == 0 else { return nil }
      defer { _ = library.msgClose(message) }
      guard library.msgRecv(message, socket, 0) >= 0 else { return nil }
      isLast = library.msgMore(message) == 0
      guard parts.count < Self.maximumParts else { continue }
      let bytes = UnsafeRawBufferPointer(start: library.msgData(message), count: library.msgSize(message))
      parts.append(Array(bytes))
    }
    guard let sender = parts.first else { return nil }
    return Message(sender: sender, parts: Array(parts.dropFirst(parts.dropFirst().first == [] ? 2 : 1)))
  }

  /// Answers; a sender that is gone gets nothing.
  func send(_ parts: [[UInt8]], to sender: [UInt8]) {
    let all = [sender, []] + parts
    for (index, part) in all.enumerated() {
      let flags = index < all.count - 1 ? Constant.sendMore : 0
      guard part.withUnsafeBytes({ library.send(socket, $0.baseAddress, $0.count, flags) }) >= 0 else {
        return
      }
    }
  }
}
