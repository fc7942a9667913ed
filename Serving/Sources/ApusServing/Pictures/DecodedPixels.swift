// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import Foundation

/// The pixels that all threads of the process have decoded and not yet given back: one limit, so that memory does not grow with
/// the number of threads.
final class DecodedPixels: @unchecked Sendable {
  /// The pixels of this process: two pictures of the greatest size, or 32 of 4 megapixels.
  static let shared = DecodedPixels(limit: 1 << 27)

  private let limit: Int
  private let condition = NSCondition()
  /// The pixels in use. `condition` guards them and the turns.
  private var taken = 0
  private var nextTurn = 0
  private var turn = 0

  init(limit: Int) { self.limit = limit }

  /// The sizes for which room is made, one after the other, until a picture fits.
  private static let steps = [1 << 22, 1 << 24]

  /// Decodes a picture and hands it to `body`. Waits while pictures of other threads leave no room for it.
  func withPicture<Value>(
    _ file: [UInt8], _ limits: ImageLimits, _ body: (ImageBuffer) throws(ApusError) -> Value
  ) throws(ApusError) -> Value {
    for step in Self.steps where step < limits.maximumPixelCount {
      var smaller = limits
      smaller.maximumPixelCount = step
      take(step)
      defer { give(step) }
      let picture: ImageBuffer
      do throws(ApusError) { picture = try ImageBuffer(decoding: file, limits: smaller) } catch {
        // The picture's header says its size: nothing was decoded.
        if error.code == .resourceLimit { continue }
        throw error
      }
      return try body(picture)
    }
    take(limits.maximumPixelCount)
    defer { give(limits.maximumPixelCount) }
    return try body(ImageBuffer(decoding: file, limits: limits))
  }

  /// Reserves room for pixels; serves callers in order. A count above the limit is granted once no other caller holds room.
  private func take(_ count: Int) {
    condition.lock()
    defer { condition.unlock() }
    let mine = nextTurn
    nextTurn += 1
    while turn != mine || (taken > 0 && count > limit - taken) { condition.wait() }
    turn += 1
    taken += count
    condition.broadcast()
  }

  private func give(_ count: Int) {
    condition.lock()
    taken -= count
    condition.broadcast()
    condition.unlock()
  }
}
