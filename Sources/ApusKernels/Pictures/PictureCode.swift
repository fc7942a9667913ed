// SPDX-License-Identifier: Apache-2.0

/// Generated code for the loops of a resize; what is nil is done in plain Swift.
package struct PictureCode: Sendable {
  /// What the code of a resize depends on.
  package struct Shape: Hashable, Sendable {
    let method: PictureResize.Method
    let bytesPerPixel: Int
    let pairCount: Int
    /// From the fewest to the most taps of a row.
    let rowTaps: ClosedRange<Int>
  }

  /// Arguments of ``rows``: weighted sums of rows, as high words and low bytes.
  struct Rows: CodeArguments {
    var source: Int
    var bytesPerRow: Int
    /// The taps' weights in pairs, each once.
    var weights: Int
    var high: Int
    var low: Int
    /// How many blocks of ``rowBlock`` bytes; at least one.
    var blocks: Int
    var lowByte: UInt32 = 255
  }

  /// Arguments of ``columns``: weighted sums of pixels of high words.
  struct Columns: CodeArguments {
    var high: Int
    var bases: Int
    var weights: Int
    var sums: Int
    var count: Int
    var order: Int
    /// What sums begin with.
    var half: Int32 = 1 << 21
  }

  /// Arguments of ``blend``: means of two pixels of two rows.
  struct Blend: CodeArguments {
    var upper: Int
    var lower: Int
    var bases: Int
    var weights: Int
    var sums: Int
    /// How many pairs of columns.
    var count: Int
    var order: Int
    var rowWeights: UInt32
    var half: Int32 = 1 << 21
    var lowBytes: UInt32 = 0x00FF_00FF
  }

  /// The function for each number of taps, from ``Shape/rowTaps``'s first on, as far as there is one.
  var rows: [CodeFunction<Rows>?] = []
  /// How many bytes of a row a step of ``rows`` takes.
  var rowBlock = 0
  var columns: CodeFunction<Columns>?
  var blend: CodeFunction<Blend>?

  /// No code.
  package static let portable = PictureCode()
}
