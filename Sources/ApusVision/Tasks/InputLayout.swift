// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Which dimensions of a shape are those of a picture.
///
/// Pictures have a dimension for channels (`1×H×W×C` or `1×C×H×W` with 1, 3 or 4 of them, or without the 1), or only rows and
/// columns of gray pixels (`1×H×W`, `H×W`), or all pixels in a row (`1×N`). The last two kinds are guesses.
struct InputLayout {
  /// The positions of the rows and the columns; nil if all pixels are in a row.
  let axes: (row: Int, column: Int)?
  /// The position of the batch; nil if there is none.
  let batchAxis: Int?
  /// One, three or four.
  let channelCount: Int
  /// Whether channels come before rows.
  let isPlanar: Bool
  /// Whether there is no dimension for channels.
  let isBare: Bool
  /// The width and height; nil if one is open.
  let size: (width: Int, height: Int)?
  /// The guess about the shape, in words; nil if the shape is that of a picture.
  let guess: String?

  /// The shortest side that a picture may have whose shape is a guess: what is smaller is more likely a row of features.
  private static let minimumSide = 4

  /// Looks for a picture in a shape, where open dimensions are negative.
  ///
  /// - Throws: `invalidArgument` if there is none.
  init(
    of tensor: Tensor, _ shape: [Int], _ metadata: TensorMetadata?, wanted: (width: Int, height: Int)?
  ) throws(ApusError) {
    if let place = Self.onlyAxis(of: shape), ![1, 3, 4].contains(shape[place]) || shape.count < 3 {
      self = try Self(row: place, of: tensor, shape, metadata, wanted)
    } else if let found = Self.withChannels(shape) ?? Self.bare(shape) {
      self = found
    } else {
      throw ApusError(
        .invalidArgument,
        """
        the input \(tensor) is not a picture: neither height×width×channels or channels×height×width with 1, 3 or 4 \
        channels, nor height×width or a square number of gray pixels, with or without a batch in front
        """)
    }
  }

  private init(
    axes: (row: Int, column: Int)?, of shape: [Int], batchAxis: Int?, channelCount: Int,
    isPlanar: Bool = false,
    isBare: Bool = false, size: (width: Int, height: Int)? = nil, guess: String? = nil
  ) {
    self.axes = axes
    self.batchAxis = batchAxis
    self.channelCount = channelCount
    self.isPlanar = isPlanar
    self.isBare = isBare
    self.guess = guess
    if let axes {
      let (rows, columns) = (shape[axes.row], shape[axes.column])
      self.size = rows >= 0 && columns >= 0 ? (columns, rows) : nil
    } else {
      self.size = size
    }
  }

  /// The position of the only dimension besides a batch that is not 1; nil if there are several.
  private static func onlyAxis(of shape: [Int]) -> Int? {
    if shape.count == 1 { return shape[0] < 0 ? nil : 0 }
    let others = shape.indices.filter { shape[$0] != 1 && !($0 == 0 && shape[0] < 0) }
    return others.count == 1 && others[0] > 0 && shape[others[0]] > 0 ? others[0] : nil
  }

  /// Three channels are looked for before one and four, and the last dimension before the first.
  private static func withChannels(_ shape: [Int]) -> InputLayout? {
    // Of three dimensions, a first one that alone is open is a batch.
    guard shape.count == 4 || shape.count == 3 && shape[0] != 1 && (shape[0] > 0) == (shape[1] > 0) else {
      return nil
    }
    let (first, last) = (shape.count - 3, shape.count - 1)
    let batchAxis = shape.count == 4 ? 0 : nil
    for count in [3, 1, 4] {
      if shape[last] == count {
        return InputLayout(axes: (first, first + 1), of: shape, batchAxis: batchAxis, channelCount: count)
      }
      if shape[first] == count {
        return InputLayout(
          axes: (first + 1, last), of: shape, batchAxis: batchAxis, channelCount: count, isPlanar: true)
      }
    }
    return nil
  }

  /// Rows and columns alone.
  private static func bare(_ shape: [Int]) -> InputLayout? {
    guard shape.count == 2 || shape.count == 3 else { return nil }
    let axes = (row: shape.count - 2, column: shape.count - 1)
    guard [shape[axes.row], shape[axes.column]].allSatisfy({ $0 < 0 || $0 >= minimumSide }) else {
      return nil
    }
    return InputLayout(
      axes: axes, of: shape, batchAxis: shape.count == 3 ? 0 : nil, channelCount: 1, isBare: true,
      guess: "rows and columns of gray pixels: the shape has no channels")
  }

  /// All pixels in a row: of the size that the options or the metadata give, or else a gray square.
  private init(
    row place: Int, of tensor: Tensor, _ shape: [Int], _ metadata: TensorMetadata?,
    _ wanted: (width: Int, height: Int)?
  ) throws(ApusError) {
    let count = shape[place]
    let batchAxis = place > 0 ? 0 : nil
    var given = wanted
    if given == nil, case .image(let properties) = metadata?.content, let width = properties.defaultWidth,
      let height = properties.defaultHeight, width > 0, height > 0
    {
      given = (width, height)
    }
    if let given {
      let (pixels, overflow) = given.width.multipliedReportingOverflow(by: given.height)
      guard !overflow, let channels = [1, 3, 4].first(where: { count / $0 == pixels && count % $0 == 0 })
      else {
        throw ApusError(
          .invalidArgument,
          "the input \(tensor) takes \(count) numbers, not 1, 3 or 4 for each of \(given.width) × \(given.height) pixels"
        )
      }
      self.init(
        axes: nil, of: shape, batchAxis: batchAxis, channelCount: channels, isBare: true, size: given)
      return
    }
    let side = Int(Double(count).squareRoot().rounded())
    guard side >= Self.minimumSide, side <= ImageBuffer.maximumSide, side * side == count else {
      throw ApusError(
        .invalidArgument,
        """
        the input \(tensor) takes \(count) numbers in a row, which is no square of at least \(Self.minimumSide) × \
        \(Self.minimumSide) gray pixels; if it is a picture, --input-size WIDTHxHEIGHT (inputSize) says its sides
        """)
    }
    self.init(
      axes: nil, of: shape, batchAxis: batchAxis, channelCount: 1, isBare: true, size: (side, side),
      guess: "\(side) × \(side) gray pixels in a row: \(count) is a square")
  }
}
