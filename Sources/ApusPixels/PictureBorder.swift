// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The border around a picture that does not cover a model's whole input.
package struct PictureBorder: Sendable {
  /// The size of the input, in pixels.
  private let width, height: Int
  /// The picture in it.
  private let x, y, pictureWidth, pictureHeight: Int

  /// The border of a picture of at least one pixel.
  package init(
    width: Int, height: Int, aroundX x: Int, y: Int, width pictureWidth: Int, height pictureHeight: Int
  ) {
    precondition(x >= 0 && y >= 0 && pictureWidth > 0 && pictureHeight > 0)
    precondition(x + pictureWidth <= width && y + pictureHeight <= height)
    (self.width, self.height) = (width, height)
    (self.x, self.y, self.pictureWidth, self.pictureHeight) = (x, y, pictureWidth, pictureHeight)
  }

  /// Fills the border with a color, which has a value for each channel.
  ///
  /// - Parameter isPlanar: Whether each channel is a plane of its own.
  package func fill<Element: BitwiseCopyable>(
    _ destination: inout MutableSpan<Element>, with color: [Element], isPlanar: Bool
  ) {
    precondition(destination.count == width * height * color.count)
    unsafe destination.withUnsafeMutableBytes { destination in
      unsafe color.withUnsafeBytes { color in
        guard let place = destination.baseAddress, let pixel = color.baseAddress else { return }
        let step = isPlanar ? MemoryLayout<Element>.stride : color.count
        for offset in stride(from: 0, to: color.count, by: step) {
          unsafe fillPlane(place + width * height * offset, with: pixel + offset, step: step)
        }
      }
    }
  }

  /// Fills the border of a plane whose pixels have `step` bytes.
  private func fillPlane(_ plane: UnsafeMutableRawPointer, with pixel: UnsafeRawPointer, step: Int) {
    let begin = y * width + x
    let end = (y + pictureHeight - 1) * width + x + pictureWidth
    unsafe fillMemory(plane, byteCount: begin * step, with: pixel, width: step)
    unsafe fillMemory(
      plane + end * step, byteCount: (width * height - end) * step, with: pixel, width: step)
    // The end of a row and the beginning of the next one are one bar.
    let barByteCount = (width - pictureWidth) * step
    guard pictureHeight > 1, barByteCount > 0 else { return }
    let bar = unsafe plane + (begin + pictureWidth) * step
    unsafe fillMemory(bar, byteCount: barByteCount, with: pixel, width: step)
    for row in 1..<pictureHeight - 1 {
      unsafe (bar + row * width * step).copyMemory(from: bar, byteCount: barByteCount)
    }
  }
}
