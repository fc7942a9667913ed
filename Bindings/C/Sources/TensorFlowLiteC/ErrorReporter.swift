// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A client's function for messages: its own pointer, a format of `printf`, and a `va_list`, which is passed as a pointer.
typealias ReporterFunction =
  @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void

/// Where messages go: to a client's function, or to standard error.
struct ErrorReporter: @unchecked Sendable {
  /// Writes `ERROR: …` to standard error.
  static let standard = ErrorReporter(function: nil, userData: nil)

  /// The client's function; nil for standard error.
  let function: ReporterFunction?
  /// The client's pointer, which is passed to its function.
  let userData: UnsafeMutableRawPointer?

  /// Hands over one message.
  func report(_ message: String) {
    guard let function else {
      let line = Array("ERROR: \(message)\n".utf8)
      line.withUnsafeBytes { _ = write(2, $0.baseAddress, $0.count) }
      return
    }
    message.withCString { text in
      // A message without conversions is a format itself, as TensorFlow Lite's are: some clients look at the format alone.
      let isFormat = !message.utf8.contains(UInt8(ascii: "%"))
      ArgumentList.with([Int(bitPattern: text)]) { arguments in
        if isFormat {
          function(userData, text, arguments)
        } else {
          function(userData, "%s", arguments)
        }
      }
    }
  }

  /// Hands over a format of a client's with its arguments.
  func report(_ format: UnsafePointer<CChar>?, _ arguments: UnsafeMutableRawPointer?) {
    guard let format, let arguments else { return }
    if let function { return function(userData, format, arguments) }
    var list = ArgumentList(arguments)
    report(String(format: format, &list))
  }
}
