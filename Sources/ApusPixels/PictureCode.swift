// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code for the loops of a resize; plain Swift runs the ones that are nil.
package struct PictureCode: Sendable {
  /// The properties of a resize that its code depends on.
  package struct Shape: Hashable, Sendable {
    let method: PictureResize.Method
    let bytesPerPixel: Int
    let pairCount: Int
    /// The range of numbers of taps per row.
    let rowTaps: ClosedRange<Int>
  }

  /// Arguments of ``rows``: weighted sums of rows, stored as high 16 bits and low bytes.
  struct Rows: CodeArguments {
    var source: Int
    var bytesPerRow: Int
    /// The taps' weights in pairs, each once.
    var weights: Int
    var high: Int
    var low: Int
    /// The number of blocks of ``rowBlock`` bytes, at least one.
    var blocks: Int
    var lowByte: UInt32 = 255
  }

  /// Arguments of ``columns``: results of weighted sums of pixels, from their high 16 bits and low bytes.
  struct Columns: CodeArguments {
    var high: Int
    var low: Int
    var bases: Int
    var weights: Int
    var line: Int
    var count: Int
    var order: Int
    /// The initial value of sums.
    var half: Int32 = 1 << 21
  }

  /// Arguments of ``blend``: results of means of two pixels of two rows.
  struct Blend: CodeArguments {
    var upper: Int
    var lower: Int
    var bases: Int
    var weights: Int
    var line: Int
    /// The number of pairs of columns.
    var count: Int
    var order: Int
    var rowWeights: UInt32
    var half: Int32 = 1 << 21
    var lowBytes: UInt32 = 0x00FF_00FF
  }

  /// Arguments of the code that writes a row of results as elements of the input.
  struct Elements: CodeArguments {
    /// The pixels, four bytes each.
    var line: Int
    var target: Int
    /// The number of pixels, at least one; of triples, that of groups of four.
    var count: Int
    /// The distances in bytes from pixel to pixel, and from channel to channel.
    var step: Int
    var channelStep: Int
    /// The entries, 256 per channel; triples have none.
    var table: Int
    /// For triples: four times the bits that are flipped.
    var flip: UInt32 = 0
    /// For triples: the `vpshufb` mask that puts the bytes of four pixels in order.
    var order = SIMD16<UInt8>()
  }

  /// Arguments of the conversion of a row of luma and chroma.
  struct LumaChromaRow: CodeArguments {
    var luma: Int
    /// U and V in turn, or U; packed rows have their chroma beside luma.
    var first: Int
    /// V, if it is in a plane of its own.
    var second: Int
    var target: Int
    /// The number of blocks, at least one.
    var blocks: Int
    var constants: Int
  }

  /// The function for each number of taps, from ``Shape/rowTaps``'s lower bound on; nil where there is none.
  var rows: [CodeFunction<Rows>?] = []
  /// Bytes of a row per iteration of ``rows``.
  var rowBlock = 0
  var columns: CodeFunction<Columns>?
  var blend: CodeFunction<Blend>?

  /// No code.
  package static let portable = PictureCode()
}
