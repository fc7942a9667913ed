// SPDX-License-Identifier: Apache-2.0

/// Cuts a quadrilateral out of an rgb picture, with the numbers of OpenCV's `warpPerspective` and `INTER_LINEAR`.
///
/// A position is rounded to 1/32 pixel, ties to even. The color is interpolated between four pixels: with the fractions (fx, fy) in 32nds,
/// `(Σ wy · wx · v + 512) >> 10`, where the weights are 32 − f and f.
package struct PerspectiveCrop: Sendable {
  /// The values of pixels beyond the edge.
  package enum Border: String, Sendable {
    /// Black.
    case zero
    /// The nearest pixel of the edge.
    case replicate
  }

  /// A rectangle of pixels of the picture, with its last column and row.
  package struct Bounds: Sendable {
    let left, top, right, bottom: Int

    /// A rectangle with at least one pixel.
    package init(x: Int, y: Int, width: Int, height: Int) {
      (left, top, right, bottom) = (x, y, x + width - 1, y + height - 1)
    }
  }

  // The rows of the matrix from a pixel of the crop, (column, row, 1), to its position in the picture in homogeneous coordinates.
  private let x: SIMD3<Double>
  private let y: SIMD3<Double>
  private let weight: SIMD3<Double>

  /// The number of columns that are counted from one start, as OpenCV works in blocks.
  private static let block = 64
  /// Added to a double of at most 2³¹, it rounds to the nearest integer, ties to even, and leaves that in the low bits.
  private static let rounding = 0x1.8p52

  /// A crop by a 3 × 3 matrix of rows from the crop's pixels to the picture's.
  package init(x: SIMD3<Double>, y: SIMD3<Double>, weight: SIMD3<Double>) {
    (self.x, self.y, self.weight) = (x, y, weight)
  }

  /// The pixels of the crop, row by row.
  ///
  /// - Parameters:
  ///   - source: The bytes of an rgb picture.
  ///   - rowBytes: The distance between its rows.
  ///   - bounds: The part of the picture that is not beyond the edge.
  package func pixels(
    width: Int, height: Int, of source: [UInt8], rowBytes: Int, in bounds: Bounds, border: Border
  ) -> [UInt8] {
    precondition(bounds.left >= 0 && bounds.top >= 0 && bounds.left <= bounds.right)
    precondition(bounds.top <= bounds.bottom && 3 * (bounds.right + 1) <= rowBytes)
    precondition(bounds.bottom * rowBytes + 3 * (bounds.right + 1) <= source.count)
    let count = 3 * width * height
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
      unsafe source.withUnsafeBufferPointer { source in
        if let target = output.baseAddress, let bytes = source.baseAddress {
          let picture = unsafe Picture(
            bytes: bytes, byteCount: source.count, rowBytes: rowBytes, bounds: bounds, border: border)
          for row in 0..<height {
            unsafe fill(target + 3 &* width &* row, row: row, width: width, from: picture)
          }
        }
      }
      initialized = count
    }
  }

  private func fill(
    _ target: UnsafeMutablePointer<UInt8>, row: Int, width: Int, from picture: Picture
  ) {
    let line = Double(row)
    var column = 0
    while column < width {
      let first = Double(column)
      let end = min(column &+ Self.block, width)
      let startX = x.x * first + x.y * line + x.z
      let startY = y.x * first + y.y * line + y.z
      let startWeight = weight.x * first + weight.y * line + weight.z
      var rest = SIMD4<Double>(0, 1, 2, 3)
      while column < end {
        let divisor = startWeight + weight.x * rest
        let scale = (32 / divisor).replacing(with: 0, where: divisor .== 0)
        let stepsX = Self.whole((startX + x.x * rest) * scale)
        let stepsY = Self.whole((startY + y.x * rest) * scale)
        let place = unsafe target + 3 &* column
        for lane in 0..<min(4, end &- column) {
          unsafe picture.sample(Int(stepsX[lane]), Int(stepsY[lane]), to: place + 3 &* lane)
        }
        rest += 4
        column &+= 4
      }
      column = end
    }
  }

  /// The nearest integers, ties to even; beyond the integers of 32 bits it is the last one, and no number counts as far to the right.
  @inline(__always)
  private static func whole(_ values: SIMD4<Double>) -> SIMD4<Int32> {
    let farthest = SIMD4(repeating: Double(Int32.max))
    // A comparison with NaN is false.
    let below = farthest.replacing(with: values, where: values .< farthest)
    let limited = (-farthest).replacing(with: below, where: below .> -farthest)
    return SIMD4(truncatingIfNeeded: unsafe unsafeBitCast(limited + rounding, to: SIMD4<Int64>.self))
  }
}

extension PerspectiveCrop {
  /// The picture that is cut.
  @safe
  private struct Picture {
    let bytes: UnsafePointer<UInt8>
    let byteCount: Int
    let rowBytes: Int
    let bounds: Bounds
    let border: Border

    /// Writes the color at a position in 1/32 pixels.
    @inline(__always)
    func sample(_ x: Int, _ y: Int, to target: UnsafeMutablePointer<UInt8>) {
      let (column, row) = (x >> 5, y >> 5)
      let first = row &* rowBytes &+ 3 &* column
      let isInside =
        column >= bounds.left && column < bounds.right && row >= bounds.top && row < bounds.bottom
      // Two pixels of a row are read as eight bytes.
      guard isInside, first &+ rowBytes &+ 8 <= byteCount else {
        unsafe sampleEdge(x, y, to: target)
        return
      }
      let place = unsafe UnsafeRawPointer(bytes)
      let above = unsafe place.loadUnaligned(fromByteOffset: first, as: UInt64.self)
      let below = unsafe place.loadUnaligned(fromByteOffset: first &+ rowBytes, as: UInt64.self)
      let (right, down) = (UInt64(truncatingIfNeeded: x & 31), UInt64(truncatingIfNeeded: y & 31))
      let (left, up) = (32 &- right, 32 &- down)
      let upper =
        up &* left &* Self.spread(above) &+ up &* right &* Self.spread(above &>> 24)
      let lower =
        down &* left &* Self.spread(below) &+ down &* right &* Self.spread(below &>> 24)
      let sum = upper &+ lower &+ (512 | 512 << 21 | 512 << 42)
      unsafe target[0] = UInt8(truncatingIfNeeded: sum &>> 10)
      unsafe target[1] = UInt8(truncatingIfNeeded: sum &>> 31)
      unsafe target[2] = UInt8(truncatingIfNeeded: sum &>> 52)
    }

    /// The lowest three bytes, 21 bits apart: room for sums below 2²¹.
    @inline(__always)
    private static func spread(_ bytes: UInt64) -> UInt64 {
      bytes & 0xFF | (bytes & 0xFF00) &<< 13 | (bytes & 0xFF_0000) &<< 26
    }

    /// Writes the color at a position that is near the edge or beyond it.
    @inline(never)
    private func sampleEdge(_ x: Int, _ y: Int, to target: UnsafeMutablePointer<UInt8>) {
      let (column, row) = (x >> 5, y >> 5)
      let (fx, fy) = (x & 31, y & 31)
      for channel in 0..<3 {
        let upper =
          (32 &- fx) &* value(column, row, channel) &+ fx &* value(column &+ 1, row, channel)
        let lower =
          (32 &- fx) &* value(column, row &+ 1, channel) &+ fx &* value(column &+ 1, row &+ 1, channel)
        let sum = (32 &- fy) &* upper &+ fy &* lower &+ 512
        unsafe target[channel] = UInt8(truncatingIfNeeded: sum >> 10)
      }
    }

    private func value(_ x: Int, _ y: Int, _ channel: Int) -> Int {
      let (column, row) = (
        min(max(x, bounds.left), bounds.right), min(max(y, bounds.top), bounds.bottom)
      )
      if border == .zero, column != x || row != y { return 0 }
      return unsafe Int(bytes[row &* rowBytes &+ 3 &* column &+ channel])
    }
  }
}
