// SPDX-License-Identifier: Apache-2.0
import ApusVision

extension CameraFormat {
  /// The pixels of a frame in one of the layouts of ``RawPicture``, without gaps between rows. The source has all bytes of its planes.
  func unpack(_ source: [UInt8], _ width: Int, _ height: Int, _ stride: Int, _ color: VideoColor) -> (
    layout: RawPicture.Layout, bytes: [UInt8]
  ) {
    switch form {
    case .packed422(let places):
      return (
        .yuyv,
        yuyv(width, height) { x, y in
          let pair = y * stride + x / 2 * 4
          return (
            source[pair + places[0]], source[pair + places[1]], source[pair + places[2]],
            source[pair + places[3]]
          )
        }
      )
    case .planar422:
      return (
        .yuyv,
        yuyv(width, height) { x, y in
          let chromaStride = (stride + 1) / 2
          let u = stride * height + y * chromaStride + x / 2
          let row = y * stride
          let v = u + chromaStride * height
          return (source[row + x], source[u], source[row + min(x + 1, width - 1)], source[v])
        }
      )
    case .semiplanar422(let isVFirst):
      return (
        .yuyv,
        yuyv(width, height) { x, y in
          let pair = stride * height + y * 2 * ((stride + 1) / 2) + x / 2 * 2
          let (u, v) = isVFirst ? (pair + 1, pair) : (pair, pair + 1)
          let row = y * stride
          return (source[row + x], source[u], source[row + min(x + 1, width - 1)], source[v])
        }
      )
    case .nv21, .yv12: return (.i420, i420(source, width, height, stride))
    case .semiplanar444(let isVFirst):
      return (
        .rgb24,
        rgb(
          width, height,
          Self.colors(color) { x, y in
            let pair = stride * height + y * 2 * stride + 2 * x
            let (u, v) = isVFirst ? (pair + 1, pair) : (pair, pair + 1)
            return (source[y * stride + x], source[u], source[v])
          })
      )
    case .bytes(let places, let count, let hasLuma):
      let pixel = { (x: Int, y: Int) -> (UInt8, UInt8, UInt8) in
        let place = y * stride + count * x
        return (source[place + places[0]], source[place + places[1]], source[place + places[2]])
      }
      return (.rgb24, rgb(width, height, hasLuma ? Self.colors(color, pixel) : pixel))
    case .bits(let fields, let count, let isBigEndian, let hasLuma):
      let pixel = { (x: Int, y: Int) -> (UInt8, UInt8, UInt8) in
        let word = Self.word(source, y * stride + count * x, count, isBigEndian)
        func value(_ field: ClosedRange<Int>) -> UInt8 {
          let most = (1 << field.count) - 1
          let bits = (word >> field.lowerBound) & most
          // Luma and chroma keep their bits, so that gray stays gray; colors are spread over 0 to 255.
          return UInt8(hasLuma ? bits << (8 - field.count) : (bits * 510 + most) / (2 * most))
        }
        return (value(fields[0]), value(fields[1]), value(fields[2]))
      }
      return (.rgb24, rgb(width, height, hasLuma ? Self.colors(color, pixel) : pixel))
    case .deepGray(let bits, let isBigEndian):
      return (
        .gray8,
        gray(width, height) { x, y in
          UInt8(min(255, Self.word(source, y * stride + 2 * x, 2, isBigEndian) >> (bits - 8)))
        }
      )
    case .bayer(let redX, let redY):
      return (
        .rgb24,
        rgb(width, height) { x, y in
          // The samples within the pixel's square; a last odd column or row takes those of the square before.
          let left = min(x & ~1, max(0, width - 2) & ~1)
          let top = min(y & ~1, max(0, height - 2) & ~1)
          func sample(_ column: Int, _ row: Int) -> Int {
            Int(source[min(top + row, height - 1) * stride + min(left + column, width - 1)])
          }
          let green = (sample(1 - redX, redY) + sample(redX, 1 - redY) + 1) / 2
          return (UInt8(sample(redX, redY)), UInt8(green), UInt8(sample(1 - redX, 1 - redY)))
        }
      )
    case .layout, .jpeg: return (.gray8, [])
    }
  }

  /// The word of some bytes at a place.
  private static func word(_ source: [UInt8], _ place: Int, _ count: Int, _ isBigEndian: Bool) -> Int {
    var word = 0
    for index in 0..<count {
      word = word << 8 | Int(source[place + (isBigEndian ? index : count - 1 - index)])
    }
    return word
  }

  /// Makes colors of luma, U and V.
  private static func colors(_ color: VideoColor, _ sample: @escaping (Int, Int) -> (UInt8, UInt8, UInt8))
    -> (
      Int, Int
    ) -> (UInt8, UInt8, UInt8)
  {
    let tables = ColorTables(color)
    func clamped(_ sum: Int32) -> UInt8 { UInt8(max(0, min(255, sum >> 16))) }
    return { x, y in
      let (level, u, v) = sample(x, y)
      let luma = tables.luma[Int(level)]
      return (
        clamped(luma + tables.redOfV[Int(v)]),
        clamped(luma + tables.greenOfU[Int(u)] + tables.greenOfV[Int(v)]),
        clamped(luma + tables.blueOfU[Int(u)])
      )
    }
  }

  private func i420(_ source: [UInt8], _ width: Int, _ height: Int, _ stride: Int) -> [UInt8] {
    let (columns, rows) = ((width + 1) / 2, (height + 1) / 2)
    var result: [UInt8] = []
    result.reserveCapacity(width * height + 2 * columns * rows)
    for y in 0..<height { for x in 0..<width { result.append(source[y * stride + x]) } }
    let half = (stride + 1) / 2
    let chroma = stride * height
    // U, then V.
    for plane in 0..<2 {
      for y in 0..<rows {
        for x in 0..<columns {
          let place = form == .nv21 ? 2 * (y * half + x) + 1 - plane : ((1 - plane) * rows + y) * half + x
          result.append(source[chroma + place])
        }
      }
    }
    return result
  }

  /// Rows of luma, U, luma and V of each two pixels.
  private func yuyv(_ width: Int, _ height: Int, _ pair: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8, UInt8))
    -> [UInt8]
  {
    var result: [UInt8] = []
    result.reserveCapacity(4 * ((width + 1) / 2) * height)
    for y in 0..<height {
      for x in stride(from: 0, to: width, by: 2) {
        let (first, u, second, v) = pair(x, y)
        result.append(first)
        result.append(u)
        result.append(second)
        result.append(v)
      }
    }
    return result
  }

  private func rgb(_ width: Int, _ height: Int, _ pixel: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8))
    -> [UInt8]
  {
    var result: [UInt8] = []
    result.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        let (red, green, blue) = pixel(x, y)
        result.append(red)
        result.append(green)
        result.append(blue)
      }
    }
    return result
  }

  private func gray(_ width: Int, _ height: Int, _ pixel: (_ x: Int, _ y: Int) -> UInt8) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(width * height)
    for y in 0..<height { for x in 0..<width { result.append(pixel(x, y)) } }
    return result
  }
}
