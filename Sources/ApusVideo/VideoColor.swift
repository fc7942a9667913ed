// SPDX-License-Identifier: Apache-2.0
import ApusPixels

/// How luma and chroma stand for red, green and blue.
public struct VideoColor: Hashable, Sendable {
  /// The weights of red, green and blue in luma.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Matrix: String, CaseIterable, Hashable, Sendable {
    /// ITU-R BT.601: standard definition, JPEG, and most cameras.
    case bt601
    /// ITU-R BT.709: high definition.
    case bt709
    /// ITU-R BT.2020 with luma that is not constant: ultra-high definition.
    case bt2020
    /// SMPTE 240M: the high definition of before BT.709.
    case smpte240m
    /// FCC 73.682: NTSC of 1953.
    case fcc

    /// The matrix that ffmpeg calls so; nil for `unknown`, and for what is no matrix of luma and chroma.
    init?(ofFFmpeg name: Substring) {
      switch name {
      case "bt709": self = .bt709
      // Colors of constant luma cannot be had from it by a matrix; this one is the nearest, and that of ffmpeg.
      case "bt2020nc", "bt2020c": self = .bt2020
      case "smpte240m": self = .smpte240m
      case "fcc": self = .fcc
      case "smpte170m", "bt470bg": self = .bt601
      default: return nil
      }
    }

    /// The weights of red and blue.
    fileprivate var weights: (red: Double, blue: Double) {
      switch self {
      case .bt601: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      case .bt2020: (0.2627, 0.0593)
      case .smpte240m: (0.212, 0.087)
      case .fcc: (0.3, 0.11)
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

extension LumaChromaColors {
  /// The colors that a description of a video's colors means.
  init(_ color: VideoColor) {
    let (red, blue) = color.matrix.weights
    self.init(redWeight: red, blueWeight: blue, isFull: color.range == .full)
  }
}
