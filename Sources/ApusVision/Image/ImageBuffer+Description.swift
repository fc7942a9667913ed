// SPDX-License-Identifier: Apache-2.0

extension ImageBuffer: CustomStringConvertible {
  /// The size after orientation and the form of pixels, such as `480 × 325 pixels, rgb`.
  public var description: String {
    let (width, height) = orientation.swapsSides ? (height, width) : (width, height)
    return "\(width) × \(height) pixels, \(format)"
  }
}
