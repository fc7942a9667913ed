// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRPCNIOTransportHTTP2Posix
import NIOCore

/// Where to listen: an address and a port, as in `127.0.0.1:8000`, `[::1]:8000` or `localhost:0`.
struct ListenAddress: Sendable {
  /// The numeric address.
  let host: String
  /// The port; 0 for any free one.
  let port: Int
  private let isV6: Bool

  init(_ text: String, option: String) throws {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      throw StartError(message: "\(option) is '\(text)', not HOST:PORT")
    }
    var name = String(text[..<colon])
    if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
    if name.isEmpty || name == "*" { name = "0.0.0.0" }
    guard let address = try? SocketAddress.makeAddressResolvingHost(name, port: Int(port)),
      let numeric = address.ipAddress
    else { throw StartError(message: "\(option) names the host '\(name)', which is not known") }
    host = numeric
    self.port = Int(port)
    if case .v6 = address { isV6 = true } else { isV6 = false }
  }

  /// The address with the port that was found.
  func text(port found: Int?) -> String { "\(isV6 ? "[\(host)]" : host):\(found ?? port)" }
}

extension GRPCNIOTransportCore.SocketAddress {
  init(ipAddress address: ListenAddress) {
    self =
      address.host.contains(":")
      ? .ipv6(host: address.host, port: address.port) : .ipv4(host: address.host, port: address.port)
  }
}
