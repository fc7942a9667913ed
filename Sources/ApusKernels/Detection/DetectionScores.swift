// SPDX-License-Identifier: Apache-2.0

/// The scores of all boxes, read row by row.
protocol DetectionScores {
  /// These scores as a value of a type that is not generic.
  var anyScores: AnyDetectionScores { get }
  /// The maximum score of a box, without NaN; NaN if there is nothing else.
  func maximum(row: Int) -> Float
  /// One score.
  func score(row: Int, class index: Int) -> Float
  /// Calls `body` with each class whose score is at least the threshold.
  func forEachCandidate(row: Int, _ body: (_ class: Int, _ score: Float) -> Void)
}

/// Scores of either type, not generic: code that threads reach generically is not specialized.
enum AnyDetectionScores {
  case floats(FloatDetectionScores)
  case bytes(ByteDetectionScores)
}

/// Scores that are floats.
@safe struct FloatDetectionScores: DetectionScores {
  /// The first row's first class, after the background.
  let base: UnsafePointer<Float>
  let rowStride: Int
  let classCount: Int
  let threshold: Float

  private typealias Lanes = SIMD16<Float>

  var anyScores: AnyDetectionScores { .floats(self) }

  @inline(__always)
  private func lanes(_ row: UnsafePointer<Float>, _ index: Int) -> Lanes {
    unsafe UnsafeRawPointer(row + index).loadUnaligned(as: Lanes.self)
  }

  @inline(__always)
  func maximum(row: Int) -> Float {
    let scores = unsafe base + row &* rowStride
    var best = -Float.infinity
    if classCount >= Lanes.scalarCount {
      var bests = Lanes(repeating: best)
      var index = 0
      // The last lanes overlap the ones before, which does not change a maximum.
      let last = classCount &- Lanes.scalarCount
      while true {
        let values = unsafe lanes(scores, index)
        bests.replace(with: values, where: values .> bests)
        if index == last { break }
        index = min(index &+ Lanes.scalarCount, last)
      }
      let eight = bests.lowHalf.replacing(with: bests.highHalf, where: bests.highHalf .> bests.lowHalf)
      let four = eight.lowHalf.replacing(with: eight.highHalf, where: eight.highHalf .> eight.lowHalf)
      for lane in 0..<4 where four[lane] > best { best = four[lane] }
    } else {
      for index in 0..<classCount where unsafe scores[index] > best { best = unsafe scores[index] }
    }
    if best > -.infinity { return best }
    for index in 0..<classCount where unsafe scores[index] == best { return best }
    return .nan
  }

  @inline(__always)
  func score(row: Int, class index: Int) -> Float { unsafe base[row &* rowStride &+ index] }

  @inline(__always)
  func forEachCandidate(row: Int, _ body: (_ class: Int, _ score: Float) -> Void) {
    let scores = unsafe base + row &* rowStride
    let thresholds = Lanes(repeating: threshold)
    var index = 0
    while index < classCount {
      let end = min(index &+ Lanes.scalarCount, classCount)
      if end &- index == Lanes.scalarCount, unsafe !any(lanes(scores, index) .>= thresholds) {
        index = end
        continue
      }
      while index < end {
        let score = unsafe scores[index]
        if score >= threshold { body(index, score) }
        index &+= 1
      }
    }
  }
}

/// Scores that are bytes; a larger byte never has a smaller real value.
@safe struct ByteDetectionScores: DetectionScores {
  /// The first row's first class, after the background.
  let base: UnsafePointer<UInt8>
  let rowStride: Int
  let classCount: Int
  /// The real value of each byte.
  let values: UnsafePointer<Float>
  /// The minimum byte that is a candidate; 256 if none is.
  let threshold: Int

  private typealias Lanes = SIMD16<UInt8>

  var anyScores: AnyDetectionScores { .bytes(self) }

  init(
    base: UnsafePointer<UInt8>, rowStride: Int, classCount: Int, values: UnsafePointer<Float>,
    threshold: Float
  ) {
    unsafe self.base = base
    self.rowStride = rowStride
    self.classCount = classCount
    unsafe self.values = values
    var least = 0
    while least < 256, unsafe !(values[least] >= threshold) { least += 1 }
    self.threshold = least
  }

  @inline(__always)
  private func lanes(_ row: UnsafePointer<UInt8>, _ index: Int) -> Lanes {
    unsafe UnsafeRawPointer(row + index).loadUnaligned(as: Lanes.self)
  }

  @inline(__always)
  func maximum(row: Int) -> Float {
    let scores = unsafe base + row &* rowStride
    var best: UInt8 = 0
    if classCount >= Lanes.scalarCount {
      var bests = Lanes(repeating: 0)
      var index = 0
      let last = classCount &- Lanes.scalarCount
      while true {
        bests = unsafe bests.greater(lanes(scores, index))
        if index == last { break }
        index = min(index &+ Lanes.scalarCount, last)
      }
      best = bests.greatest
    } else {
      for index in 0..<classCount { best = unsafe max(best, scores[index]) }
    }
    return unsafe values[Int(best)]
  }

  @inline(__always)
  func score(row: Int, class index: Int) -> Float { unsafe values[Int(base[row &* rowStride &+ index])] }

  @inline(__always)
  func forEachCandidate(row: Int, _ body: (_ class: Int, _ score: Float) -> Void) {
    guard threshold < 256 else { return }
    let scores = unsafe base + row &* rowStride
    let thresholds = Lanes(repeating: UInt8(threshold))
    var index = 0
    while index < classCount {
      let end = min(index &+ Lanes.scalarCount, classCount)
      if end &- index == Lanes.scalarCount, unsafe !any(lanes(scores, index) .>= thresholds) {
        index = end
        continue
      }
      while index < end {
        let byte = unsafe scores[index]
        if Int(byte) >= threshold { unsafe body(index, values[Int(byte)]) }
        index &+= 1
      }
    }
  }
}
