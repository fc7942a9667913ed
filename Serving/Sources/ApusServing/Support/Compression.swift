// SPDX-License-Identifier: Apache-2.0
import CZlib
import NIOCore

/// The content encodings of HTTP that bodies may have, by the system's zlib.
///
/// The one place where the server talks to a C library: pointers live within a call.
public enum Compression: String, CaseIterable, Sendable {
  case gzip
  case deflate

  /// Bits of the window; 16 more ask for gzip's header, 32 more for either header.
  private var windowBits: Int32 { self == .gzip ? MAX_WBITS + 16 : MAX_WBITS }

  private static let pieceSize = 64 << 10
  /// The most members of a `gzip` body: each takes some time, even one without contents.
  private static let maximumMembers = 1 << 16

  /// Expands a body.
  ///
  /// A body of `deflate` may come with zlib's header or without it: clients differ. One of `gzip` may have several members,
  /// whose contents follow each other (RFC 1952, section 2.2); nothing else may follow.
  /// - Throws: `tooLarge` beyond `limit` bytes, `badRequest` for damage.
  public func decompressed(_ body: ByteChunks, limit: Int) throws(ServingError) -> ByteChunks {
    try eitherHeader { windowBits throws(ServingError) in
      var result = ByteChunks()
      try expand(body, limit: limit, windowBits: windowBits) { piece in
        result.append(piece)
        piece = ByteBuffer()
      }
      return result
    }
  }

  /// Expands a body behind a prefix, in one piece.
  ///
  /// Its memory is what a body of `gzip` says of its size, within the limit, or grows.
  /// - Throws: as ``decompressed(_:limit:)``.
  public func decompressed(
    _ body: ByteBuffer, behind prefixLength: Int, limit: Int, _ writePrefix: (Int, inout ByteBuffer) -> Void
  ) throws(ServingError) -> ByteBuffer {
    try eitherHeader { windowBits throws(ServingError) in
      // The last four bytes of a member are its size (RFC 1952, section 2.3.1).
      let said = body.getInteger(at: body.writerIndex - 4, endianness: .little, as: UInt32.self)
      var result = ByteBufferAllocator().buffer(
        capacity: prefixLength + (self == .gzip ? min(Int(said ?? 0), limit) : 0))
      result.writeRepeatingByte(0, count: prefixLength)
      try expand(ByteChunks(body), limit: limit, windowBits: windowBits) { piece in
        result.writeImmutableBuffer(piece)
        piece.clear()
      }
      let end = result.writerIndex
      result.moveWriterIndex(to: 0)
      writePrefix(end - prefixLength, &result)
      result.moveWriterIndex(to: end)
      return result
    }
  }

  /// Reads with zlib's or gzip's header; what `deflate` calls broken then, without one.
  private func eitherHeader<Result>(
    _ expand: (Int32) throws(ServingError) -> Result
  ) throws(ServingError) -> Result {
    do { return try expand(MAX_WBITS + 32) } catch {
      guard self == .deflate, error.kind == .badRequest else { throw error }
      return try expand(-MAX_WBITS)
    }
  }

  /// - Parameter take: Takes the bytes of a piece out of it, or empties it.
  private func expand(
    _ body: ByteChunks, limit: Int, windowBits: Int32, _ take: (inout ByteBuffer) -> Void
  ) throws(ServingError) {
    var stream = z_stream()
    guard
      inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw ServingError(.internalFailure, "there is no memory to decompress a body") }
    defer { inflateEnd(&stream) }
    var count = 0
    var status = Z_OK
    var members = 1
    var piece = ByteBuffer()
    func takePiece() throws(ServingError) {
      count += piece.readableBytes
      guard count <= limit else {
        throw ServingError(.tooLarge, "the body is larger than \(limit) bytes after decompression")
      }
      take(&piece)
    }
    for chunk in body.chunks {
      var source = Array(chunk.readableBytesView)
      var used = 0
      while used < source.count {
        if status == Z_STREAM_END {
          guard self == .gzip, members < Self.maximumMembers else {
            throw .bad("the \(rawValue) body has bytes after its end")
          }
          members += 1
          guard inflateReset(&stream) == Z_OK else { throw .bad("the \(rawValue) body is damaged") }
        }
        let (consumed, newStatus) = Self.step(&stream, &source, from: used, to: &piece) {
          inflate(&$0, Z_NO_FLUSH)
        }
        status = newStatus
        used += consumed
        guard status == Z_OK || status == Z_STREAM_END || (status == Z_BUF_ERROR && consumed > 0) else {
          throw .bad("the \(rawValue) body is damaged")
        }
        if consumed == 0, piece.readableBytes == 0 { throw .bad("the \(rawValue) body is damaged") }
        try takePiece()
      }
      // Output that fills the last piece exactly may go on without more input.
      while status == Z_OK {
        let (_, newStatus) = Self.step(&stream, &source, from: source.count, to: &piece) {
          inflate(&$0, Z_NO_FLUSH)
        }
        if newStatus == Z_STREAM_END { status = newStatus }
        if piece.readableBytes == 0 { break }
        try takePiece()
      }
    }
    guard status == Z_STREAM_END else { throw .bad("the \(rawValue) body ends early") }
  }

  /// Compresses a body.
  public func compressed(_ body: ByteBuffer) -> ByteBuffer? {
    var stream = z_stream()
    guard
      deflateInit2_(
        &stream, Z_BEST_SPEED, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    var source = Array(body.readableBytesView)
    var result = ByteBuffer()
    var piece = ByteBuffer()
    var used = 0
    while true {
      let (consumed, status) = Self.step(&stream, &source, from: used, to: &piece) {
        CZlib.deflate(&$0, Z_FINISH)
      }
      used += consumed
      let written = piece.readableBytes
      result.writeImmutableBuffer(piece)
      piece.clear()
      if status == Z_STREAM_END { return result }
      guard status == Z_OK || status == Z_BUF_ERROR, consumed > 0 || written > 0 else { return nil }
    }
  }

  /// One call of the library, which writes to an empty piece: how much it read, and its status.
  private static func step(
    _ stream: inout z_stream, _ source: inout [UInt8], from start: Int, to piece: inout ByteBuffer,
    _ call: (inout z_stream) -> Int32
  ) -> (Int, Int32) {
    var consumed = 0
    var status = Z_OK
    let available = min(source.count - start, 1 << 30)
    source.withUnsafeMutableBufferPointer { source in
      _ = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: pieceSize) { target in
        stream.next_in = available > 0 ? source.baseAddress.map { $0 + start } : nil
        stream.avail_in = UInt32(available)
        stream.next_out = target.bindMemory(to: UInt8.self).baseAddress
        stream.avail_out = UInt32(target.count)
        status = call(&stream)
        consumed = available - Int(stream.avail_in)
        return target.count - Int(stream.avail_out)
      }
    }
    stream.next_in = nil
    stream.next_out = nil
    return (consumed, status)
  }
}
