// SPDX-License-Identifier: Apache-2.0
import ApusPixels

extension RawPicture.Layout {
  /// How chroma lies.
  private enum Chroma {
    /// In a plane in which the samples of U and V take turns.
    case shared(rows: Int, isVFirst: Bool)
    /// In a plane for each of U and V.
    case separate(rows: Int, isVFirst: Bool)
    /// Beside luma, which has the first place or the second; with the places of U and V.
    case packed(luma: Int, u: Int, v: Int)
  }

  /// How chroma lies; nil where there is none.
  private var chroma: Chroma? {
    switch self {
    case .nv12: .shared(rows: 2, isVFirst: false)
    case .nv21: .shared(rows: 2, isVFirst: true)
    case .nv16: .shared(rows: 1, isVFirst: false)
    case .nv61: .shared(rows: 1, isVFirst: true)
    case .i420: .separate(rows: 2, isVFirst: false)
    case .yv12: .separate(rows: 2, isVFirst: true)
    case .i422: .separate(rows: 1, isVFirst: false)
    case .yuyv: .packed(luma: 0, u: 1, v: 3)
    case .yvyu: .packed(luma: 0, u: 3, v: 1)
    case .uyvy: .packed(luma: 1, u: 0, v: 2)
    case .vyuy: .packed(luma: 1, u: 2, v: 0)
    case .gray8, .rgb24, .bgr24: nil
    }
  }

  /// The least distance between rows of the first plane, in bytes.
  func minimumStride(_ width: Int) -> Int {
    switch self {
    case .rgb24, .bgr24: 3 * width
    case .yuyv, .yvyu, .uyvy, .vyuy: 4 * ((width + 1) / 2)
    default: width
    }
  }

  /// The number of bytes of a picture.
  func byteCount(height: Int, stride: Int) -> Int {
    let half = (stride + 1) / 2
    switch chroma {
    case .shared(let rows, _), .separate(let rows, _):
      return stride * height + 2 * half * ((height + rows - 1) / rows)
    case .packed, nil: return stride * height
    }
  }

  /// Where luma and chroma of a picture lie; nil where there is no chroma.
  func planes(width: Int, height: Int, stride: Int, color: VideoColor) -> LumaChroma? {
    let (colors, half, chromaStart) = (LumaChromaColors(color), (stride + 1) / 2, stride * height)
    switch chroma {
    case .shared(let rows, let isVFirst):
      return LumaChroma(
        width: width, height: height, lumaStride: stride, u: chromaStart + (isVFirst ? 1 : 0),
        v: chromaStart + (isVFirst ? 0 : 1), isShared: true, chromaStride: 2 * half, rowsPerChroma: rows,
        colors: colors)
    case .separate(let rows, let isVFirst):
      let second = chromaStart + half * ((height + rows - 1) / rows)
      return LumaChroma(
        width: width, height: height, lumaStride: stride, u: isVFirst ? second : chromaStart,
        v: isVFirst ? chromaStart : second, isShared: false, chromaStride: half, rowsPerChroma: rows,
        colors: colors)
    case .packed(let luma, let u, let v):
      return LumaChroma(
        width: width, height: height, stride: stride, luma: luma, u: u, v: v, colors: colors)
    case nil: return nil
    }
  }
}
