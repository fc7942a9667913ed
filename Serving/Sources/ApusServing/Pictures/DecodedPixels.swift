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

  /// The least room that is made for a picture, so that tiny ones take turns, too.
  private static let minimum = 1 << 16

  /// Decodes a picture and hands it to `body`, with room for its pixels until `body` returns. Waits while pictures of other threads leave no
  /// room for it.
  func withPicture<Value>(
    _ file: [UInt8], _ limits: ImageLimits, _ body: (ImageBuffer) throws(ApusError) -> Value
  ) throws(ApusError) -> Value {
    // The decoder has the last word: where it finds another size than the header says, room for the greatest one is made.
    if let count = Self.pixelCount(file), count < limits.maximumPixelCount {
      var smaller = limits
      smaller.maximumPixelCount = max(count, Self.minimum)
      take(smaller.maximumPixelCount)
      defer { give(smaller.maximumPixelCount) }
      let picture: ImageBuffer?
      do throws(ApusError) { picture = try ImageBuffer(decoding: file, limits: smaller) } catch {
        guard error.code == .resourceLimit else { throw error }
        picture = nil
      }
      if let picture { return try body(picture) }
    }
    take(limits.maximumPixelCount)
    defer { give(limits.maximumPixelCount) }
    return try body(ImageBuffer(decoding: file, limits: limits))
  }

  /// The pixels of a picture by its header, which is not checked; nil if it does not say.
  private static func pixelCount(_ file: [UInt8]) -> Int? {
    guard let (width, height) = ImageBuffer.storedSize(ofFile: file), width > 0, height > 0 else {
      return nil
    }
    let (count, isTooLarge) = width.multipliedReportingOverflow(by: height)
    return isTooLarge ? nil : count
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
