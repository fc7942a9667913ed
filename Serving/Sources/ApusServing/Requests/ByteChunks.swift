// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Bytes as they came from the network, in pieces: a tensor is copied once, from here into the engine's memory.
public struct ByteChunks: Sendable {
  /// The pieces in order; none is empty.
  public private(set) var chunks: [ByteBuffer] = []
  /// All bytes.
  public private(set) var count = 0

  /// Pieces below this size are joined: a client that sends byte by byte must not cost a buffer for each.
  private static let smallPiece = 16 << 10

  /// Makes an empty sequence.
  public init() {}

  /// Makes a sequence of one piece.
  public init(_ buffer: ByteBuffer) { append(buffer) }

  /// Adds a piece at the end.
  public mutating func append(_ buffer: ByteBuffer) {
    guard buffer.readableBytes > 0 else { return }
    count += buffer.readableBytes
    if let last = chunks.indices.last, buffer.readableBytes < Self.smallPiece {
      if chunks[last].readableBytes < 4 * Self.smallPiece || buffer.readableBytes < 1 << 10 {
        chunks[last].writeImmutableBuffer(buffer)
        return
      }
    }
    if buffer.readableBytes < Self.smallPiece {
      // The piece may lie in a much larger buffer of the receiver.
      var copy = ByteBufferAllocator().buffer(capacity: buffer.readableBytes)
      copy.writeImmutableBuffer(buffer)
      chunks.append(copy)
    } else {
      chunks.append(buffer)
    }
  }

  /// Removes and returns the first `length` bytes; `length` must not exceed `count`.
  public mutating func removeFirst(_ length: Int) -> ByteChunks {
    precondition(length >= 0 && length <= count)
    var result = ByteChunks()
    var missing = length
    var used = 0
    while missing > 0 {
      if chunks[used].readableBytes <= missing {
        missing -= chunks[used].readableBytes
        result.take(chunks[used])
        used += 1
      } else if let part = chunks[used].readSlice(length: missing) {
        result.take(part)
        missing = 0
      }
    }
    chunks.removeFirst(used)
    count -= length
    return result
  }

  /// Adds a piece without copying it.
  private mutating func take(_ buffer: ByteBuffer) {
    count += buffer.readableBytes
    chunks.append(buffer)
  }

  /// All bytes in one array.
  public var array: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for chunk in chunks { bytes.append(contentsOf: chunk.readableBytesView) }
    return bytes
  }

  /// Copies all bytes into a tensor's memory.
  ///
  /// - Parameter offset: Where in the memory the first byte goes; the caller knows that they fit.
  func copy(into span: inout MutableRawSpan, at offset: Int) {
    precondition(offset >= 0 && count <= span.byteCount - offset)
    // The standard library has no copy between raw spans yet; slices of buffers check their bounds.
    span.withUnsafeMutableBytes { target in
      var place = offset
      for chunk in chunks {
        let length = chunk.readableBytes
        chunk.withUnsafeReadableBytes { source in
          UnsafeMutableRawBufferPointer(rebasing: target[place..<place + length]).copyMemory(from: source)
        }
        place += length
      }
    }
  }
}
