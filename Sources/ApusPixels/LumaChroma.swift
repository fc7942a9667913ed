// SPDX-License-Identifier: Apache-2.0

/// Where the luma and chroma of a picture lie in its bytes, and which colors they stand for.
///
/// Two pixels of a row share a sample of U and one of V; so do two rows in 4:2:0.
package struct LumaChroma: Hashable, Sendable {
  /// Where samples of U and V lie beside each other and beside luma.
  enum Form: Hashable, Sendable {
    /// Luma in a plane, U and V in turn in another.
    case semiplanar(isVFirst: Bool)
    /// Luma, U and V in planes.
    case planar
    /// Luma and chroma in turn: two bytes for each pixel.
    case packed(isLumaFirst: Bool, isVFirst: Bool)
  }

  /// The width in pixels.
  package let width: Int
  /// The height in pixels.
  package let height: Int
  /// The first byte of luma, and the distance between its rows.
  let luma: Int
  let lumaStride: Int
  /// The first bytes of U and V, and the distance between their rows.
  let u: Int
  let v: Int
  let chromaStride: Int
  /// The rows that share chroma: 1 or 2.
  let rowsPerChroma: Int
  let form: Form
  /// Which colors luma and chroma stand for.
  package let colors: LumaChromaColors
  /// The number of bytes that samples reach.
  package let byteCount: Int

  /// Describes planes of luma and chroma.
  ///
  /// - Parameters:
  ///   - lumaStride: The distance between rows of luma, which begin at the first byte.
  ///   - u: The first byte of U.
  ///   - v: The first byte of V.
  ///   - isShared: Whether samples of U and V take turns in one plane.
  ///   - chromaStride: The distance between rows of chroma.
  ///   - rowsPerChroma: The rows that share chroma: 1 or 2.
  package init(
    width: Int, height: Int, lumaStride: Int, u: Int, v: Int, isShared: Bool, chromaStride: Int,
    rowsPerChroma: Int, colors: LumaChromaColors
  ) {
    precondition(!isShared || abs(u - v) == 1)
    precondition(width > 0 && height > 0 && lumaStride >= width && min(u, v) >= 0)
    precondition(chromaStride >= (isShared ? 2 : 1) * ((width + 1) / 2) && (1...2).contains(rowsPerChroma))
    (self.width, self.height, self.lumaStride, self.u, self.v) = (width, height, lumaStride, u, v)
    (self.chromaStride, self.rowsPerChroma, self.colors) = (chromaStride, rowsPerChroma, colors)
    luma = 0
    form = isShared ? .semiplanar(isVFirst: v < u) : .planar
    let pairs = (width + 1) / 2
    let chromaRow = (height - 1) / rowsPerChroma * chromaStride + (isShared ? 2 * (pairs - 1) : pairs - 1)
    // Luma is read in pairs.
    byteCount = max((height - 1) * lumaStride + 2 * pairs, max(u, v) + chromaRow + 1)
  }

  /// Describes rows in which luma and chroma alternate: four bytes for two pixels.
  ///
  /// - Parameters:
  ///   - luma: The first byte of luma in four, 0 or 1.
  ///   - u: The byte of U in four.
  ///   - v: The byte of V in four.
  package init(
    width: Int, height: Int, stride: Int, luma: Int, u: Int, v: Int, colors: LumaChromaColors
  ) {
    let pairs = (width + 1) / 2
    precondition(width > 0 && height > 0 && stride >= 4 * pairs)
    precondition((0...1).contains(luma) && Set([luma, luma + 2, u, v]) == [0, 1, 2, 3])
    (self.width, self.height, self.luma, self.lumaStride) = (width, height, luma, stride)
    (self.u, self.v, chromaStride, rowsPerChroma, self.colors) = (u, v, stride, 1, colors)
    form = .packed(isLumaFirst: luma == 0, isVFirst: v < u)
    byteCount = (height - 1) * stride + 4 * pairs
  }

  /// The distance between samples of luma, and between samples of chroma, in bytes.
  var steps: (luma: Int, chroma: Int) {
    switch form {
    case .semiplanar: (1, 2)
    case .planar: (1, 1)
    case .packed: (2, 4)
    }
  }
}
