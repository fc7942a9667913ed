// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusKernels

/// A layer of a real model, as a line of `Benchmarks/Shapes` describes it.
struct LayerShape {
  /// The kind of description.
  enum Kind: String {
    case convolution = "conv"
    case depthwise
    case fullyConnected = "fc"
  }

  /// The type of its activations and weights.
  enum Scheme: String, CaseIterable {
    case uint8
    case int8
    case float32
  }

  /// The groups of sizes in which layers are added up.
  enum Group: Int, CaseIterable {
    case deep
    case medium
    case shallow
    case fewRows
    case oneRow
    case depthwise

    /// The name for people.
    var name: String {
      switch self {
      case .deep: "K ≥ 256, rows ≥ 49"
      case .medium: "64 < K < 256, rows ≥ 49"
      case .shallow: "K ≤ 64, rows ≥ 49"
      case .fewRows: "2 to 48 rows"
      case .oneRow: "one row"
      case .depthwise: "depthwise"
      }
    }
  }

  let kind: Kind
  let scheme: Scheme
  /// The line's numbers: see ``columns``.
  private let numbers: [Int]

  /// The numbers of a line, after kind and scheme.
  private enum Column: Int, CaseIterable {
    case batches, height, width, channels, outputChannels, filterHeight, filterWidth, outputHeight,
      outputWidth
    case strideHeight, strideWidth, dilationHeight, dilationWidth, paddingTop, paddingLeft, groups, rectified,
      count
  }

  /// How often this layer occurs in models.
  var count: Int { self[.count] }

  private subscript(column: Column) -> Int { numbers[column.rawValue] }

  /// Reads a file of lines; those that begin with `#` are comments.
  static func shapes(in text: String, path: String) throws(ApusError) -> [LayerShape] {
    var shapes: [LayerShape] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard let shape = LayerShape(words) else {
        throw ApusError(.invalidArgument, "\(path):\(index + 1): is not a layer")
      }
      shapes.append(shape)
    }
    return shapes
  }

  private init?(_ words: [Substring]) {
    guard words.count == 2 + Column.allCases.count, let kind = Kind(rawValue: String(words[0])),
      let scheme = Scheme(rawValue: String(words[1]))
    else { return nil }
    let numbers = words.dropFirst(2).compactMap { Int($0) }
    guard numbers.count == Column.allCases.count, numbers.allSatisfy({ (0...1 << 16).contains($0) }) else {
      return nil
    }
    (self.kind, self.scheme, self.numbers) = (kind, scheme, numbers)
    let mayBeZero: Set<Column> = [.paddingTop, .paddingLeft, .rectified]
    guard Column.allCases.allSatisfy({ mayBeZero.contains($0) || self[$0] > 0 }),
      self[.channels].isMultiple(of: self[.groups]), self[.outputChannels].isMultiple(of: self[.groups]),
      kind != .depthwise || self[.outputChannels].isMultiple(of: self[.channels]),
      multiplyAccumulates <= 1 << 36, inputCount <= 1 << 28, weightCount <= 1 << 28, outputCount <= 1 << 28
    else { return nil }
  }

  // MARK: Sizes

  /// Rows of the product: output pixels.
  var rows: Int { self[.batches] * self[.outputHeight] * self[.outputWidth] }
  /// Terms of each sum.
  var depth: Int {
    self[.filterHeight] * self[.filterWidth] * (kind == .depthwise ? 1 : self[.channels] / self[.groups])
  }
  var inputCount: Int { self[.batches] * self[.height] * self[.width] * self[.channels] }
  var weightCount: Int { self[.outputChannels] * depth }
  var outputCount: Int { rows * self[.outputChannels] }
  var outputChannels: Int { self[.outputChannels] }
  var multiplyAccumulates: Int { outputCount * depth }
  var elementByteCount: Int { scheme == .float32 ? 4 : 1 }

  /// The group of the layer.
  var group: Group {
    if kind == .depthwise { return .depthwise }
    if rows == 1 { return .oneRow }
    if rows < 49 { return .fewRows }
    return depth >= 256 ? .deep : depth <= 64 ? .shallow : .medium
  }

  /// The layer for people: input, filter and strides.
  var text: String {
    let input = "\(self[.height])×\(self[.width])×\(self[.channels])"
    if kind == .fullyConnected { return "\(rows)×\(depth) → \(outputChannels)" }
    let dilation = self[.dilationHeight] > 1 ? ", dilated \(self[.dilationHeight])" : ""
    return "\(input) → \(outputChannels), \(self[.filterHeight])×\(self[.filterWidth])"
      + (self[.strideHeight] > 1 ? " / \(self[.strideHeight])" : "") + dilation
  }

  // MARK: Kernels

  /// The zero point of the weights, in bits; nil for floats.
  var weightZeroPoint: UInt8? {
    switch scheme {
    case .float32: nil
    case .uint8: 137
    case .int8: 0
    }
  }

  private var operands: MatrixOperands {
    switch scheme {
    case .float32: .float32
    case .uint8: .uint8(lhsZeroPoint: 119, rhsZeroPoint: 137)
    case .int8: .int8(lhsZeroPoint: -7, rhsZeroPoint: 0)
    }
  }

  /// Whether no output is below its zero point.
  private var isRectified: Bool { self[.rectified] != 0 }

  /// An epilogue that spreads random sums over the range of the output, as a trained model's does. Where outputs are
  /// rectified, only the positive sums fill it.
  private var epilogue: Epilogue {
    let scale: Double = (isRectified ? 2 : 1) / (48 * Double(depth).squareRoot())
    let scales: [Double]
    let (zeroPoint, minimum, maximum): (Int32, Int32, Int32)
    switch scheme {
    case .float32: return .float32(minimum: 0, maximum: 6)
    case .uint8:
      scales = [scale]
      (zeroPoint, minimum, maximum) = (isRectified ? 0 : 128, 0, 255)
    case .int8:
      scales = (0..<outputChannels).map { channel -> Double in scale * (0.7 + 0.6 * Double(channel % 17) / 17)
      }
      (zeroPoint, minimum, maximum) = (isRectified ? -128 : 3, -128, 127)
    }
    return kind == .fullyConnected
      ? .float64(scales, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
      : .fixedPoint(
        scales.map(FixedPointMultiplier.init), zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
  }

  /// The kernel that a set has for the layer, without those of other sets.
  func prepared(by set: KernelSet) -> (any PreparedConvolution)? {
    switch kind {
    case .convolution, .depthwise:
      return try? set.convolutions.convolution(
        Convolution(
          batches: self[.batches], inputHeight: self[.height], inputWidth: self[.width],
          inputChannels: self[.channels], filterHeight: self[.filterHeight], filterWidth: self[.filterWidth],
          outputHeight: self[.outputHeight], outputWidth: self[.outputWidth],
          outputChannels: self[.outputChannels],
          strideHeight: self[.strideHeight], strideWidth: self[.strideWidth],
          dilationHeight: self[.dilationHeight], dilationWidth: self[.dilationWidth],
          paddingTop: self[.paddingTop], paddingLeft: self[.paddingLeft], groups: self[.groups],
          isDepthwise: kind == .depthwise, operands: operands, epilogue: epilogue),
        isForOneThread: false)
    case .fullyConnected:
      return try? set.convolutions.convolution(
        Convolution(
          rows: rows, depth: depth, columns: outputChannels, operands: operands, epilogue: epilogue),
        isForOneThread: false)
    }
  }
}
