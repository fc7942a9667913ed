// SPDX-License-Identifier: Apache-2.0
import ApusServing
import HTTPTypes
import Hummingbird
import NIOCore

/// A body in memory.
struct HeldBody: Sendable {
  let bytes: ByteChunks
  /// What the body takes, and later what follows from it.
  let memory: HeldMemory
}

/// How fast a body comes: one that comes slowly holds memory that others wait for.
private struct BodyPace {
  /// The time over which the rate is judged: clients may pause.
  private static let window = 30.0
  /// The least bytes a second.
  private static let leastRate = 4_096.0

  private let end: ContinuousClock.Instant?
  private var windowStart = ContinuousClock.now
  private var windowBytes = 0

  /// Begins now.
  ///
  /// - Parameter end: When the whole body must be there; nil for any time.
  init(end: ContinuousClock.Instant?) { self.end = end }

  /// Notes a part of the body.
  mutating func note(_ bytes: Int) throws(ServingError) {
    let now = ContinuousClock.now
    windowBytes += bytes
    if let end, now > end {
      throw ServingError(.deadlineExceeded, "the deadline passed before the body was there")
    }
    let seconds = (now - windowStart) / .seconds(1)
    guard seconds >= Self.window else { return }
    guard Double(windowBytes) / seconds > Self.leastRate else {
      throw ServingError(.tooSlow, "\(windowBytes) bytes of the body came in \(Int(seconds)) seconds")
    }
    windowStart = now
    windowBytes = 0
  }
}

extension Request {
  /// Reads the whole body, expanding `gzip` and `deflate`.
  ///
  /// - Parameter end: When the whole body must be there; nil for any time.
  /// - Throws: `ServingError`: beyond `limit` before or after expansion, an unknown encoding, a client that is too
  ///   slow; or what breaks the connection.
  func readBody(limit: Int, admission: Admission, end: ContinuousClock.Instant?) async throws -> HeldBody {
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
    var memory = HeldMemory(admission)
    var left = Self.mostDiscarded
    var pace = failure == nil ? BodyPace(end: end) : Self.paceOfDiscarded
    for try await buffer in self.body {
      if failure != nil {
        // Many clients look for an answer only when they have sent everything.
        left -= buffer.readableBytes
        if left < 0 || (try? pace.note(buffer.readableBytes)) == nil { break }
        continue
      }
      do throws(ServingError) {
        guard body.count + buffer.readableBytes <= limit else { throw tooLarge }
        try memory.take(buffer.readableBytes)
        body.append(buffer)
        try pace.note(buffer.readableBytes)
      } catch {
        failure = error
        body = ByteChunks()
        memory = HeldMemory(admission)
        pace = Self.paceOfDiscarded
      }
    }
    if let failure { throw failure.leavingBody }
    if let encoding {
      let packed = body
      // Ordinary text expands to some ten times its size.
      body = try await ServerState.converting(packed.count * 16) { () throws(ServingError) in
        try encoding.decompressed(packed, limit: limit)
      }
      try memory.take(body.count)
    }
    return HeldBody(bytes: body, memory: memory)
  }

  /// The most bytes of a body that is of no use which are read all the same.
  private static var mostDiscarded: Int { 64 << 20 }

  /// How long it may take to read them.
  private static var paceOfDiscarded: BodyPace { BodyPace(end: ContinuousClock.now + .seconds(60)) }

  /// Reads over a body that was not begun.
  func discardBody() async {
    var left = Self.mostDiscarded
    var pace = Self.paceOfDiscarded
    do {
      for try await buffer in body {
        left -= buffer.readableBytes
        if left < 0 { return }
        try pace.note(buffer.readableBytes)
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
