// SPDX-License-Identifier: Apache-2.0

/// Whether a picture may be read at a smaller scale than it is stored at.
///
/// JPEG files can be decoded at ½, ¼ and ⅛ of their size in less time: each pixel is then about the mean of those it
/// replaces, computed from the file's frequencies. Other files are read at full size.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ImageReduction: Hashable, Sendable {
  /// Every pixel is read.
  case none
  /// The smallest scale at which a processor need not enlarge anything.
  case fitting(ImageProcessor)
  /// The smallest scale at which the picture, after orientation, has at least these sides.
  case toAtLeast(width: Int, height: Int)

  /// How many pixels in each direction become one, 1, 2, 4 or 8, in a picture of that size as it is seen.
  package func factor(width: Int, height: Int) -> Int {
    // In smaller pictures, scales are not told apart by the size of their result.
    guard min(width, height) >= 64 else { return 1 }
    return [8, 4, 2].first { factor in
      let (reducedWidth, reducedHeight) = ((width + factor - 1) / factor, (height + factor - 1) / factor)
      switch self {
      case .none: return false
      case .toAtLeast(let minimumWidth, let minimumHeight):
        return reducedWidth >= minimumWidth && reducedHeight >= minimumHeight
      case .fitting(let processor):
        let transform = ImageTransform(
          imageWidth: reducedWidth, imageHeight: reducedHeight, inputWidth: processor.width,
          inputHeight: processor.height, fit: processor.fit)
        return transform.source.width >= transform.target.width
          && transform.source.height >= transform.target.height
      }
    } ?? 1
  }
}
