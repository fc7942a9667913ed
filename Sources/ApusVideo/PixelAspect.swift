// SPDX-License-Identifier: Apache-2.0

/// The shape of a video's pixels: their width to their height. Those of anamorphic videos are not square.
package struct PixelAspect: Hashable, Sendable {
  package let width, height: Int

  /// The shape of most videos' pixels.
  package static let square = PixelAspect(width: 1, height: 1)

  private init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

  /// Reads `8:3`; nil for what is unknown (`0:0`) or no shape of a pixel.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard parts.count == 2, parts.allSatisfy({ (1...65_535).contains($0) }) else { return nil }
    self.init(width: parts[0], height: parts[1])
  }
}
