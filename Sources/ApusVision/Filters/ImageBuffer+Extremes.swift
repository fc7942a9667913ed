// SPDX-License-Identifier: Apache-2.0
import Apus

/// Which value of a window is taken.
enum WindowExtreme {
  case minimum
  case maximum
}

extension ImageBuffer {
  /// The minimum or maximum of each channel of a tightly packed, upright picture over `2 · radius + 1` pixels of a row, then
  /// of a column. Alpha stays as it is. `checkTime` is asked before each row and each strip of columns.
  func extremes(
    _ extreme: WindowExtreme, radius: Int, _ checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> ImageBuffer {
    guard radius > 0 else { return self }
    let step = format.bytesPerPixel
    let rowBytes = width * step
    let bytes = bytes
    // A window that is as wide as the picture on each side sees all of it: a larger one sees nothing more.
    let (across, down) = (min(radius, width - 1), min(radius, height - 1))
    var result = [UInt8](repeating: 0, count: bytes.count)
    var output = result.mutableSpan
    var line = [UInt8](repeating: 0, count: (width + 2 * across) * step)
    for y in 0..<height {
      try checkTime()
      let row = bytes.span.extracting(y * rowBytes..<(y + 1) * rowBytes)
      pad(row, by: across, of: step, into: &line)
      slide(&line, window: 2 * across + 1, step: step, extreme)
      for x in 0..<rowBytes { output[y * rowBytes + x] = line[x] }
    }
    for first in stride(from: 0, to: rowBytes, by: Self.stripByteCount) {
      try checkTime()
      let count = min(Self.stripByteCount, rowBytes - first)
      var strip = [UInt8](repeating: 0, count: height * count)
      for y in 0..<height {
        for x in 0..<count { strip[y * count + x] = output[y * rowBytes + first + x] }
      }
      var columns = [UInt8](repeating: 0, count: (height + 2 * down) * count)
      pad(strip.span, by: down, of: count, into: &columns)
      slide(&columns, window: 2 * down + 1, step: count, extreme)
      for y in 0..<height {
        for x in 0..<count { output[y * rowBytes + first + x] = columns[y * count + x] }
      }
    }
    return replacingColors(with: consume result)
  }

  /// How many bytes of each row are in memory once more while columns are filtered.
  private static let stripByteCount = 256
}

/// Writes values between copies of the first and the last `step` of them.
private func pad(_ values: Span<UInt8>, by count: Int, of step: Int, into padded: inout [UInt8]) {
  var output = padded.mutableSpan
  let start = count * step
  for index in 0..<values.count { output[start + index] = values[index] }
  for index in 0..<start { output[index] = values[index % step] }
  let last = values.count - step
  for index in 0..<start { output[start + values.count + index] = values[last + index % step] }
}

/// Replaces each value by the extreme of `window` values that are `step` apart and begin with it; the last ones, where fewer
/// follow, are of no use afterwards.
///
/// Windows of one, two, four, eight are made each of two of the size before; two of the largest that fits cover the whole.
private func slide(_ values: inout [UInt8], window: Int, step: Int, _ extreme: WindowExtreme) {
  var covered = 1
  while covered * 2 <= window {
    merge(&values, distance: covered * step, extreme)
    covered *= 2
  }
  if covered < window { merge(&values, distance: (window - covered) * step, extreme) }
}

/// Replaces each value by the extreme of itself and the one at a distance, which is not replaced yet.
private func merge(_ values: inout [UInt8], distance: Int, _ extreme: WindowExtreme) {
  guard distance < values.count else { return }
  var span = values.mutableSpan
  let count = span.count - distance
  switch extreme {
  case .minimum: for index in 0..<count { span[index] = min(span[index], span[index + distance]) }
  case .maximum: for index in 0..<count { span[index] = max(span[index], span[index + distance]) }
  }
}
