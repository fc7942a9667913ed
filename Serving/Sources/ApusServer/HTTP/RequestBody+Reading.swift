// SPDX-License-Identifier: Apache-2.0
import ApusServing
import HTTPTypes
import Hummingbird
import NIOCore

/// A body in memory, whose bytes are given back when nobody needs it any more.
final class HeldBody: Sendable {
  let bytes: ByteChunks
  private let taken: Int
  private let admission: Admission

  init(_ bytes: ByteChunks, taken: Int, _ admission: Admission) {
    self.bytes = bytes
    self.taken = taken
    self.admission = admission
  }

  deinit { admission.release(taken) }
}

extension Request {
  /// Reads the whole body, expanding `gzip` and `deflate`.
  ///
  /// - Throws: `ServingError`: beyond `limit` before or after expansion, an unknown encoding, a client that is too
  ///   slow; or what breaks the connection.
  func readBody(limit: Int, admission: Admission) async throws -> HeldBody {
    var failure: ServingError?
    var encoding: Compression?
    do throws(ServingError) { encoding = try bodyEncoding() } catch { failure = error }
    let tooLarge = ServingError(.tooLarge, "the body is larger than \(limit) bytes")
    if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
      failure = tooLarge
      // A body that would not be read to its end is not waited for either.
      if length > Self.mostDiscarded { throw tooLarge.leavingBody }
    }
    var body = ByteChunks()
    var taken = 0
    var isHeld = false
    defer { if !isHeld { admission.release(taken) } }
    var left = Self.mostDiscarded
    let start = ContinuousClock.now
    for try await buffer in self.body {
      if failure != nil {
        // Many clients look for an answer only when they have sent everything.
        left -= buffer.readableBytes
        if left < 0 { break }
        continue
      }
      do throws(ServingError) {
        guard body.count + buffer.readableBytes <= limit else { throw tooLarge }
        try admission.take(buffer.readableBytes)
        taken += buffer.readableBytes
        body.append(buffer)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard seconds < 30 || Double(body.count) / seconds > 4_096 else {
          throw ServingError(.tooSlow, "\(body.count) bytes of the body came in \(Int(seconds)) seconds")
        }
      } catch {
        failure = error
        body = ByteChunks()
      }
    }
    if let failure { throw failure.leavingBody }
    if let encoding {
      body = try encoding.decompressed(body, limit: limit)
      try admission.take(body.count)
      taken += body.count
    }
    isHeld = true
    return HeldBody(body, taken: taken, admission)
  }

  /// The most bytes of a body that is of no use which are read all the same.
  private static var mostDiscarded: Int { 64 << 20 }

  /// Reads over a body that was not begun.
  func discardBody() async {
    var left = Self.mostDiscarded
    do {
      for try await buffer in body {
        left -= buffer.readableBytes
        if left < 0 { return }
      }
    } catch { return }
  }

  private func bodyEncoding() throws(ServingError) -> Compression? {
    guard let name = headers[.contentEncoding]?.lowercased(), !name.isEmpty, name != "identity" else {
      return nil
    }
    guard let encoding = Compression(rawValue: name == "x-gzip" ? "gzip" : name) else {
      throw ServingError(.unsupportedMedia, "the content encoding '\(name)' is not gzip, deflate or identity")
    }
    return encoding
  }
}
