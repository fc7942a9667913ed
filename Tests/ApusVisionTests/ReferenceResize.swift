// SPDX-License-Identifier: Apache-2.0

import ApusVision

/// The documented rules of resizing, pixel by pixel: what every path of ``ImageProcessor`` must give to the bit.
enum ReferenceResize {
  /// The source pixels and weights of each result of an axis.
  static func taps(source: Int, target: Int, _ resampling: Resampling) -> [[(pixel: Int, weight: Int)]] {
    (0..<target).map { index in
      if resampling == .mediaPipe { return fromCorner(index, source, target) }
      if resampling == .nearest { return [((2 * index + 1) * source / (2 * target), 32_768)] }
      if resampling == .area || resampling == .automatic && source > 2 * target {
        return area(index, source, target)
      }
      return bilinear(index, source, target)
    }
  }

  private static func area(_ index: Int, _ source: Int, _ target: Int) -> [(Int, Int)] {
    let (begin, end) = (index * source, (index + 1) * source)
    var result: [(Int, Int)] = []
    var total = 0
    for pixel in begin / target..<(end + target - 1) / target {
      // The running total of the covered part is rounded, so that weights add up.
      let covered = min(end, (pixel + 1) * target) - begin
      let rounded = (2 * covered * 32_768 + source) / (2 * source)
      result.append((pixel, rounded - total))
      total = rounded
    }
    return result
  }

  private static func fromCorner(_ index: Int, _ source: Int, _ target: Int) -> [(Int, Int)] {
    // Sizes are such that the quotients of halves are exact.
    let steps = Int((Double(32 * index * source) / Double(target)).rounded(.toNearestOrEven))
    let (first, second) = (steps / 32, steps % 32 * 1024)
    return [(min(first, source - 1), 32_768 - second), (min(first + 1, source - 1), second)]
  }

  private static func bilinear(_ index: Int, _ source: Int, _ target: Int) -> [(Int, Int)] {
    let position = (2 * index + 1) * source - target
    guard position > 0 else { return [(0, 32_768)] }
    let first = position / (2 * target)
    let second = (position % (2 * target) * 32_768 + target) / (2 * target)
    return [(min(first, source - 1), 32_768 - second), (min(first + 1, source - 1), second)]
  }

  /// The bytes of a prepared picture.
  static func bytes(
    of image: ImageBuffer, _ processor: ImageProcessor, _ transform: ImageTransform
  ) -> [UInt8] {
    let upright = image.oriented()
    let (source, target) = (transform.source, transform.target)
    let across = taps(source: source.width, target: target.width, processor.resampling)
    let down = taps(source: source.height, target: target.height, processor.resampling)
    let fill: PixelColor =
      switch processor.fit {
      case .stretch, .centerCrop: .black
      case .letterbox(let fill): fill ?? .black
      case .topLeftLetterbox(let fill): fill
      }
    var result: [UInt8] = []
    for y in 0..<processor.height {
      for x in 0..<processor.width {
        var color = fill
        let (column, row) = (x - target.x, y - target.y)
        if across.indices.contains(column), down.indices.contains(row) {
          func mean(_ channel: KeyPath<PixelColor, UInt8>) -> UInt8 {
            var sum = 1 << 29
            for (line, lineWeight) in down[row] {
              for (pixel, weight) in across[column] {
                let found = upright.pixel(x: source.x + pixel, y: source.y + line) ?? .black
                sum += lineWeight * weight * Int(found[keyPath: channel])
              }
            }
            return UInt8(sum >> 30)
          }
          color = PixelColor(red: mean(\.red), green: mean(\.green), blue: mean(\.blue))
        }
        switch processor.channels {
        case .rgb: result += [color.red, color.green, color.blue]
        case .bgr: result += [color.blue, color.green, color.red]
        case .gray:
          let isGray = image.format == .gray && color != fill
          result.append(isGray ? color.red : color.luminance)
        }
      }
    }
    return result
  }
}
