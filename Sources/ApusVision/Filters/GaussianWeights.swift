// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// The weights of a blur: those of a pixel and its neighbors to one side, whose sum over both sides is 1.
struct GaussianWeights: Hashable, Sendable {
  /// The weight of the pixel itself, then those of its neighbors by distance.
  let values: [Double]

  /// Takes as many neighbors as ``StandardFilter/gaussianBlur(radius:)`` says.
  init(sigma: Int) {
    guard sigma > 0 else {
      values = [1]
      return
    }
    let variance = Double(sigma) * Double(sigma)
    let peak = Double(sigma) * (2 * Double.pi).squareRoot()
    let reach = Int((-2 * variance * log(peak / 256)).squareRoot())
    let weights = (0...reach + reach % 2).map { exp(-Double($0 * $0) / (2 * variance)) }
    let sum = weights.reduce(-weights[0]) { $0 + 2 * $1 }
    values = weights.map { $0 / sum }
  }
}

extension ImageBuffer {
  /// The weighted means of each channel of a tightly packed, upright picture along rows, then along columns; each rounded to
  /// bytes, halves upward. Alpha stays as it is. `checkTime` is asked before each row.
  func blurred(
    _ weights: GaussianWeights, _ checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> ImageBuffer {
    guard weights.values.count > 1 else { return self }
    let step = format.bytesPerPixel
    let bytes = bytes
    let rowBytes = width * step
    let reach = weights.values.count - 1
    var passed = [UInt8](repeating: 0, count: bytes.count)
    var line = [UInt8](repeating: 0, count: rowBytes + 2 * reach * step)
    var sums = [Double](repeating: 0, count: rowBytes)
    for y in 0..<height {
      try checkTime()
      for index in line.indices {
        let pixel = min(max(index / step - reach, 0), width - 1)
        line[index] = bytes[y * rowBytes + pixel * step + index % step]
      }
      let center = reach * step
      add(line.span.extracting(center..<center + rowBytes), nil, weights.values[0], to: &sums)
      for distance in 1...reach {
        let (before, after) = (center - distance * step, center + distance * step)
        add(
          line.span.extracting(before..<before + rowBytes), line.span.extracting(after..<after + rowBytes),
          weights.values[distance], to: &sums)
      }
      round(&sums, into: &passed, at: y * rowBytes)
    }
    var result = passed
    for y in 0..<height {
      try checkTime()
      func row(_ index: Int) -> Range<Int> {
        let inside = min(max(index, 0), height - 1)
        return inside * rowBytes..<(inside + 1) * rowBytes
      }
      add(passed.span.extracting(row(y)), nil, weights.values[0], to: &sums)
      for distance in 1...reach {
        add(
          passed.span.extracting(row(y - distance)), passed.span.extracting(row(y + distance)),
          weights.values[distance], to: &sums)
      }
      round(&sums, into: &result, at: y * rowBytes)
    }
    return replacingColors(with: consume result)
  }
}

/// Adds bytes, or the sums of two rows of bytes, times a weight.
private func add(_ one: Span<UInt8>, _ other: Span<UInt8>?, _ weight: Double, to sums: inout [Double]) {
  var output = sums.mutableSpan
  if let other {
    for index in 0..<output.count {
      output[index] += weight * Double(Int32(one[index]) + Int32(other[index]))
    }
  } else {
    for index in 0..<output.count { output[index] += weight * Double(one[index]) }
  }
}

/// Writes sums as bytes, and makes them zero again.
private func round(_ sums: inout [Double], into bytes: inout [UInt8], at start: Int) {
  var output = bytes.mutableSpan
  var sums = sums.mutableSpan
  for index in 0..<sums.count {
    // Weights add up to 1, but for the last digit: 255 stays below 255.5.
    output[start + index] = UInt8(sums[index] + 0.5)
    sums[index] = 0
  }
}
