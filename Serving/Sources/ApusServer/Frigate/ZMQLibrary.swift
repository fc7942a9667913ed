// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The functions of the system's libzmq that are used, by their names in `zmq.h` without the prefix.
///
/// The library is loaded when it is asked for: servers that don't need it need no package for it.
struct ZMQLibrary: @unchecked Sendable {
  typealias Address = UnsafeMutableRawPointer

  let ctxNew: @convention(c) () -> Address?
  let ctxTerm: @convention(c) (Address) -> Int32
  let socket: @convention(c) (Address, Int32) -> Address?
  let close: @convention(c) (Address) -> Int32
  let setsockopt: @convention(c) (Address, Int32, UnsafeRawPointer, Int) -> Int32
  let bind: @convention(c) (Address, UnsafePointer<CChar>) -> Int32
  let send: @convention(c) (Address, UnsafeRawPointer?, Int, Int32) -> Int32
  let msgInit: @convention(c) (Address) -> Int32
  let msgRecv: @convention(c) (Address, Address, Int32) -> Int32
  let msgData: @convention(c) (Address) -> Address?
  let msgSize: @convention(c) (Address) -> Int
  let msgMore: @convention(c) (Address) -> Int32
  let msgClose: @convention(c) (Address) -> Int32
  let errno: @convention(c) () -> Int32
  let strerror: @convention(c) (Int32) -> UnsafePointer<CChar>

  /// Loads the library.
  ///
  /// - Throws: `StartError` with the package that has it.
  init() throws {
    guard let library = dlopen("libzmq.so.5", RTLD_NOW | RTLD_LOCAL) else {
      throw StartError(message: "--frigate needs ZeroMQ's library libzmq.so.5: apt-get install libzmq5")
    }
    func function<F>(_ name: String) throws -> F {
      guard let address = dlsym(library, "zmq_" + name) else {
        throw StartError(message: "the system's libzmq.so.5 has no function zmq_\(name)")
      }
      return unsafeBitCast(address, to: F.self)
    }
    ctxNew = try function("ctx_new")
    ctxTerm = try function("ctx_term")
    socket = try function("socket")
    close = try function("close")
    setsockopt = try function("setsockopt")
    bind = try function("bind")
    send = try function("send")
    msgInit = try function("msg_init")
    msgRecv = try function("msg_recv")
    msgData = try function("msg_data")
    msgSize = try function("msg_size")
    msgMore = try function("msg_more")
    msgClose = try function("msg_close")
    errno = try function("errno")
    strerror = try function("strerror")
  }

  /// The text of the error of this thread's last failed call.
  var reason: String { String(cString: strerror(errno())) }
}
