// SPDX-License-Identifier: Apache-2.0
import ApusPixels

extension CameraFormat {
  /// The pixels of a frame in one of the layouts of ``RawPicture``, without gaps between rows. The source has all bytes of its planes.
  func unpack(_ source: [UInt8], _ width: Int, _ height: Int, _ stride: Int, _ color: VideoColor) -> (
    layout: RawPicture.Layout, bytes: [UInt8]
  ) {
    switch form {
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
    let colors = LumaChromaColors(color)
    return { x, y in
      let (level, u, v) = sample(x, y)
      return colors.color(level, u, v)
    }
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
