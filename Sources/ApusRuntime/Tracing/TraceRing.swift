// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// The newest events of one thread, in memory that only this thread writes.
///
/// It is an address, so that a run neither counts references nor allocates.
@safe package struct TraceRing: @unchecked Sendable {
  // @unchecked: the memory is never freed; one thread writes, and others read when it is done.
  private let base: UnsafeMutablePointer<Int>

  /// The words before the events: how many were written, the mask of positions, the current label, and the worker's number
  /// plus one.
  static let headWords = 8
  /// The words of an event.
  static let eventWords = 4

  init(at base: UnsafeMutablePointer<Int>) { unsafe self.base = base }

  /// The ring that ``address`` identifies.
  init?(address: UnsafeMutableRawPointer?) {
    guard let address = unsafe address else { return nil }
    unsafe base = address.assumingMemoryBound(to: Int.self)
  }

  /// The ring's identity.
  var address: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(base) }

  /// Forgets all events, and keeps `capacity` ones from now on: a power of two.
  func reset(capacity: Int) {
    unsafe base[0] = 0
    unsafe base[1] = capacity - 1
    unsafe base[2] = -1
  }

  /// The number of events that were written, those included that newer ones replaced.
  var writtenCount: Int { unsafe base[0] }

  /// The number of events that are kept.
  var keptCount: Int { unsafe min(base[0], base[1] + 1) }

  /// The name of what this thread does, for its tiles; negative for none.
  package var label: Int32 {
    get { unsafe Int32(truncatingIfNeeded: base[2]) }
    nonmutating set { unsafe base[2] = Int(newValue) }
  }

  /// The number of the pool's thread that writes it; nil for another thread.
  var worker: Int? {
    get { unsafe base[3] > 0 ? base[3] - 1 : nil }
    nonmutating set { unsafe base[3] = (newValue ?? -1) + 1 }
  }

  /// Writes an event, in place of the oldest one if the ring is full.
  func append(
    _ kind: TraceEvent.Kind, label: Int32 = -1, number: Int32 = 0, count: Int32 = 0, from start: Int,
    to end: Int
  ) {
    let written = unsafe base[0]
    let event = unsafe base + Self.headWords + (written & base[1]) &* Self.eventWords
    unsafe event[0] = start
    unsafe event[1] = end
    unsafe event[2] = Int(kind.rawValue) << 32 | Int(UInt32(bitPattern: label))
    unsafe event[3] = Int(number) << 32 | Int(UInt32(bitPattern: count))
    unsafe base[0] = written &+ 1
  }

  /// Writes a step that ended now, and returns the time.
  package func endStep(label: Int32, number: Int, from start: Int) -> Int {
    let now = monotonicNanoseconds()
    append(.step, label: label, number: Int32(truncatingIfNeeded: number), from: start, to: now)
    return now
  }

  /// The kept events, the oldest first.
  var events: [TraceEvent] {
    let written = writtenCount
    return (written - keptCount..<written).compactMap { position in
      let event = unsafe base + Self.headWords + (position & base[1]) &* Self.eventWords
      guard let kind = unsafe TraceEvent.Kind(rawValue: UInt8(truncatingIfNeeded: event[2] >> 32)) else {
        return nil
      }
      return unsafe TraceEvent(
        kind: kind, label: Int32(truncatingIfNeeded: event[2]),
        number: Int32(truncatingIfNeeded: event[3] >> 32), count: Int32(truncatingIfNeeded: event[3]),
        start: event[0], end: event[1])
    }
  }
}
