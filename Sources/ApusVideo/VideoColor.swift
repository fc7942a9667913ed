// SPDX-License-Identifier: Apache-2.0

/// How luma and chroma stand for red, green and blue.
public struct VideoColor: Hashable, Sendable {
  /// The weights of red, green and blue in luma.
  public enum Matrix: String, CaseIterable, Hashable, Sendable {
    /// ITU-R BT.601: standard definition, JPEG, and most cameras.
    case bt601
    /// ITU-R BT.709: high definition.
    case bt709

    /// The weights of red and blue.
    fileprivate var weights: (red: Double, blue: Double) {
      switch self {
      case .bt601: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      }
    }
  }

  /// The values that stand for black and white.
  public enum Range: String, CaseIterable, Hashable, Sendable {
    /// Luma from 16 to 235, chroma from 16 to 240.
    case limited
    /// All values from 0 to 255, as in JPEG.
    case full
  }

  /// The weights of red, green and blue in luma.
  public var matrix: Matrix
  /// The values that stand for black and white.
  public var range: Range

  /// Makes a description.
  public init(matrix: Matrix = .bt601, range: Range = .limited) {
    self.matrix = matrix
    self.range = range
  }
}

/// What each value of luma and chroma adds to red, green and blue, in 65,536ths.
struct ColorTables {
  var luma = [Int32](repeating: 0, count: 256)
  var redOfV = [Int32](repeating: 0, count: 256)
  var greenOfU = [Int32](repeating: 0, count: 256)
  var greenOfV = [Int32](repeating: 0, count: 256)
  var blueOfU = [Int32](repeating: 0, count: 256)

  init(_ color: VideoColor) {
    let (red, blue) = color.matrix.weights
    let green = 1 - red - blue
    let isFull = color.range == .full
    let (lumaScale, chromaScale) = isFull ? (1, 1) : (255.0 / 219, 255.0 / 224)
    for value in 0..<256 {
      let chroma = Double(value - 128) * chromaScale * 65_536
      // The half rounds the sum of three terms to the nearest integer.
      luma[value] = Int32((Double(value - (isFull ? 0 : 16)) * lumaScale * 65_536 + 32_768).rounded())
      redOfV[value] = Int32((2 * (1 - red) * chroma).rounded())
      blueOfU[value] = Int32((2 * (1 - blue) * chroma).rounded())
      greenOfU[value] = Int32((-2 * (1 - blue) * blue / green * chroma).rounded())
      greenOfV[value] = Int32((-2 * (1 - red) * red / green * chroma).rounded())
    }
  }
}
