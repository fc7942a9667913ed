/// A function of bytes that differs from channel to channel, each of its values computed once.
package struct ChannelTables: UnaryKernel {
  private let channels: Int
  private let rows: Int
  /// The 256 results of each channel.
  private let results: Table<UInt8>

  /// The fewest values of a channel for which its table pays: it costs as much as twice so many.
  package static let leastRows = 128

  /// Computes the tables of rows of `channels` bytes, one after the other; `isSigned` says what integers they stand for.
  init(rows: Int, channels: Int, isSigned: Bool, _ function: (_ value: Int32, _ channel: Int) -> UInt8) {
    self.rows = rows
    self.channels = channels
    results = Table(count: 256 * channels) { place in
      let (channel, byte) = place.quotientAndRemainder(dividingBy: 256)
      return function(isSigned ? Int32(Int8(truncatingIfNeeded: byte)) : Int32(byte), channel)
    }
  }

  package func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    let byteCount = rows * channels
    precondition(input.byteCount >= byteCount && output.byteCount >= byteCount)
    guard byteCount > 0 else { return }
    unsafe withAddresses(input, &output) { input, output in
      let tiles = threads.tileCount(rows: rows, bytes: byteCount, alone: 1)
      threads.run(tiles: tiles, unsafe Work(kernel: self, tiles: tiles, input: input, output: output))
    }
  }

  private struct Work: TileWork {
    let kernel: ChannelTables
    let tiles: Int
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      let (channels, results) = unsafe (kernel.channels, kernel.results.values)
      for row in share(of: kernel.rows, tile: tile, of: tiles) {
        let (from, to) = unsafe (
          (input + row &* channels).assumingMemoryBound(to: UInt8.self),
          (output + row &* channels).assumingMemoryBound(to: UInt8.self)
        )
        for channel in 0..<channels { unsafe to[channel] = results[channel << 8 | Int(from[channel])] }
      }
    }
  }
}
