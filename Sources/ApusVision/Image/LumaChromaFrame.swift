// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusPixels
import ApusRuntime
import Synchronization

/// The luma and chroma of a video's frame, and its pixels once they have been read.
package final class LumaChromaFrame: Sendable {
  /// Where luma and chroma lie.
  package let planes: LumaChroma
  /// The bytes of all planes.
  package let bytes: [UInt8]
  private let converted = Mutex<[UInt8]?>(nil)

  /// Makes a frame of checked planes.
  package init(_ planes: LumaChroma, bytes: [UInt8]) {
    precondition(bytes.count >= planes.byteCount)
    self.planes = planes
    self.bytes = bytes
  }

  /// The pixels as rgb, without gaps; computed with the first call.
  var pixels: [UInt8] {
    converted.withLock { converted in
      if let converted { return converted }
      let pixels = convert()
      converted = pixels
      return pixels
    }
  }

  private func convert() -> [UInt8] {
    let (width, height) = (planes.width, planes.height)
    let kernels = Runtime.pictureKernels
    let resize = PictureResize(
      columns: ResizeAxis(source: width, target: width, .nearest).taps,
      rows: ResizeAxis(source: height, target: height, .nearest).taps,
      source: PictureResize.Source(planes, x: 0, y: 0, width: width, height: height, kernels: kernels),
      placement: PicturePlacement(
        channels: .three(0, 1, 2), origin: 0, perColumn: 1, perRow: width, pixelStep: 3, channelStep: 1),
      kernels: kernels)
    var pixels = [UInt8](repeating: 0, count: 3 * width * height)
    var output = pixels.mutableSpan
    let source = bytes
    resize.run(source.span, into: &output, team: ThreadTeam(count: 1))
    return pixels
  }
}
