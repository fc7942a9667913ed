// SPDX-License-Identifier: Apache-2.0

/// A function of bytes that differs from channel to channel, tabulated. A row has one byte of each channel.
struct ChannelTables: RowFunction {
  /// The 256 results of each channel.
  private let results: Table<UInt8>

  /// Computes the tables; bytes stand for signed integers if `isSigned`.
  init(channels: Int, isSigned: Bool, _ function: (_ value: Int32, _ channel: Int) -> UInt8) {
    results = Table(count: 256 * channels) { place in
      function(Int32(byte: place % 256, isSigned: isSigned), place / 256)
    }
  }

  func fill(_ output: UnsafeMutablePointer<UInt8>, count: Int, input: UnsafePointer<UInt8>) {
    let results = unsafe results.values
    for channel in 0..<count { unsafe output[channel] = results[channel << 8 | Int(input[channel])] }
  }
}
