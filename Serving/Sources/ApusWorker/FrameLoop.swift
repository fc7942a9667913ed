// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import Foundation
import NIOCore

/// Reads frames from standard input and writes a line for each to standard output, until the input ends.
struct FrameLoop {
  /// The longest picture, in bytes; a longer one is read over.
  static let longestFrame = 64 << 20

  let worker: PictureWorker
  /// Ends pictures that take too long; nil if they may take any time.
  private let alarm: Alarm?

  private let input = FileHandle.standardInput
  private let output = FileHandle.standardOutput

  /// - Parameter deadline: How long a picture may take, in seconds; nil for any time.
  init(worker: PictureWorker, deadline: Double?) {
    self.worker = worker
    alarm = deadline.map { Alarm(after: $0) }
  }

  /// - Throws: `unreadableFile` if the input cannot be read, as a folder; `unwritableFile` if a line cannot be written, as when the disk is
  ///   full or the reader has closed the pipe.
  func run() throws(ApusError) {
    while let head = try read(8), head.count == 8 {
      let length = Self.number(head.prefix(4))
      let id = UInt32(Self.number(head.suffix(4)))
      guard length <= Self.longestFrame else {
        let isWhole = try skip(length)
        try write(
          PictureWorker.line(
            id: id, error: "the frame has \(length) bytes, more than \(Self.longestFrame)"))
        guard isWhole else { return }
        continue
      }
      let file = length == 0 ? Data() : try read(length)
      guard let file, file.count == length else {
        try write(PictureWorker.line(id: id, error: "the input ends within the frame"))
        return
      }
      try write(answer(id, Array(file)))
    }
  }

  private func answer(_ id: UInt32, _ file: [UInt8]) -> ByteBuffer {
    let cancellation = Cancellation()
    guard let alarm else { return worker.line(id: id, picture: file, cancellation: cancellation) }
    return alarm.limiting(cancellation) {
      worker.line(id: id, picture: file, cancellation: cancellation)
    }
  }

  private static func number(_ bytes: Data) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

  /// Reads `count` bytes, or fewer where the input ends; nil at its end.
  private func read(_ count: Int) throws(ApusError) -> Data? {
    do { return try input.read(upToCount: count) } catch {
      throw ApusError(.unreadableFile, "cannot read from standard input")
    }
  }

  /// Reads over bytes; false where the input ends before.
  private func skip(_ count: Int) throws(ApusError) -> Bool {
    var left = count
    while left > 0 {
      guard let part = try read(min(left, 1 << 20)), !part.isEmpty else { return false }
      left -= part.count
    }
    return true
  }

  private func write(_ line: ByteBuffer) throws(ApusError) {
    do { try output.write(contentsOf: Data(line.readableBytesView)) } catch {
      throw ApusError(.unwritableFile, "cannot write to standard output")
    }
  }
}
