// SPDX-License-Identifier: Apache-2.0

extension PoolingWindow {
  /// Pools float32 channels.
  func poolFloats(
    _ kind: Pooling.Kind, _ source: UnsafeRawPointer, to destination: UnsafeMutableRawPointer, minimum: Float,
    maximum: Float
  ) {
    var channel = 0
    // A cache line of each tap at once.
    while channel &+ 16 <= channels {
      let (low, high) = unsafe poolSixteen(kind, source + channel &* 4)
      let place = unsafe destination + channel &* 4
      unsafe place.storeBytes(of: low.bounded(minimum, maximum), as: SIMD8<Float>.self)
      unsafe (place + 32).storeBytes(of: high.bounded(minimum, maximum), as: SIMD8<Float>.self)
      channel &+= 16
    }
    while channel < channels, channels >= 8 {
      // The last eight channels may overlap the ones before.
      channel = min(channel, channels &- 8)
      let result = unsafe poolEight(kind, source + channel &* 4).bounded(minimum, maximum)
      unsafe (destination + channel &* 4).storeBytes(of: result, as: SIMD8<Float>.self)
      channel &+= 8
    }
    while channel < channels {
      var value = unsafe poolScalar(kind, source + channel &* 4)
      value = value < minimum ? minimum : value
      value = maximum < value ? maximum : value
      unsafe destination.storeBytes(of: value, toByteOffset: channel &* 4, as: Float.self)
      channel &+= 1
    }
  }

  @inline(__always)
  private func poolSixteen(_ kind: Pooling.Kind, _ source: UnsafeRawPointer) -> (SIMD8<Float>, SIMD8<Float>) {
    switch kind {
    case .maximum:
      var low = SIMD8<Float>(repeating: -.greatestFiniteMagnitude)
      var high = low
      forEachTap { offset in
        let (first, second) = unsafe (eight(source, offset), eight(source, offset &+ 8))
        low.replace(with: first, where: low .< first)
        high.replace(with: second, where: high .< second)
      }
      return (low, high)
    case .average:
      var (low, high) = (SIMD8<Float>(), SIMD8<Float>())
      forEachTap { offset in
        low += unsafe eight(source, offset)
        high += unsafe eight(source, offset &+ 8)
      }
      return (low / Float(count), high / Float(count))
    case .l2: return unsafe (poolEight(kind, source), poolEight(kind, source + 32))
    }
  }

  @inline(__always)
  private func poolEight(_ kind: Pooling.Kind, _ source: UnsafeRawPointer) -> SIMD8<Float> {
    switch kind {
    case .maximum:
      var most = SIMD8<Float>(repeating: -.greatestFiniteMagnitude)
      forEachTap { offset in
        let values = unsafe eight(source, offset)
        most.replace(with: values, where: most .< values)
      }
      return most
    case .average:
      var sum = SIMD8<Float>()
      forEachTap { offset in sum += unsafe eight(source, offset) }
      return sum / Float(count)
    case .l2:
      var sum = SIMD8<Float>()
      forEachTap { offset in
        let values = unsafe eight(source, offset)
        sum += values * values
      }
      return (sum / Float(count)).squareRoot()
    }
  }

  @inline(__always)
  private func eight(_ source: UnsafeRawPointer, _ offset: Int) -> SIMD8<Float> {
    unsafe source.loadUnaligned(fromByteOffset: offset &* 4, as: SIMD8<Float>.self)
  }

  private func poolScalar(_ kind: Pooling.Kind, _ source: UnsafeRawPointer) -> Float {
    var result: Float = kind == .maximum ? -.greatestFiniteMagnitude : 0
    forEachTap { offset in
      let value = unsafe source.loadUnaligned(fromByteOffset: offset &* 4, as: Float.self)
      switch kind {
      case .maximum: result = result < value ? value : result
      case .average: result += value
      case .l2: result += value * value
      }
    }
    switch kind {
    case .maximum: return result
    case .average: return result / Float(count)
    case .l2: return (result / Float(count)).squareRoot()
    }
  }
}
