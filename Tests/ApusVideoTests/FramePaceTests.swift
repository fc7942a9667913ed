// SPDX-License-Identifier: Apache-2.0
import ApusVideo
import TestSupport
import Testing

@Suite struct FramePaceTests {
  /// How many of the frames of ten seconds are looked at, and the minimum distance between two of them.
  private func taken(rate: Double, jitter: Double, limit: Double?, isLive: Bool) -> (count: Int, gap: Double)
  {
    var random = SeededGenerator(seed: (limit ?? 0).bitPattern &+ rate.bitPattern)
    var pace = FramePace(atMost: limit)
    var (last, count, gap) = (-1e9, 0, 1e9)
    for number in 0..<Int(10 * rate) {
      let time = Double(number) / rate + (number == 0 ? 0 : .random(in: -jitter...jitter, using: &random))
      guard pace.takes(time, isLive: isLive) else { continue }
      (gap, last) = (min(gap, time - last), time)
      count += 1
    }
    return (count, gap)
  }

  @Test(
    "of a live source, as many frames are looked at as the limit allows, and no more",
    arguments: [
      (30, 30, 299...300), (30, 15, 149...150), (30, 60, 300...300), (60, 30, 299...300), (25, 25, 249...250),
      (31, 30, 285...300), (30, 20, 190...200), (10, 1, 10...10), (10, 10, 99...100),
    ] as [(Double, Double, ClosedRange<Int>)])
  func keepsThePaceOfLiveSources(rate: Double, limit: Double, expected: ClosedRange<Int>) {
    let found = taken(rate: rate, jitter: 0.003, limit: limit, isLive: true)
    #expect(expected.contains(found.count) && found.gap >= 0.49 / limit, "\(found)")
  }

  @Test(
    "frames of files are at least as far apart as the limit says",
    arguments: [(30, 30, 300), (10, 4, 34), (60, 20, 200), (10, 3, 25), (24, 24, 240)]
      as [(Double, Double, Int)])
  func keepsThePaceOfFiles(rate: Double, limit: Double, expected: Int) {
    let found = taken(rate: rate, jitter: 0, limit: limit, isLive: false)
    #expect(found.count == expected && found.gap >= 1 / limit - 1e-5, "\(found)")
  }

  @Test(
    "films whose times are rounded to milliseconds keep the pace of those whose times are not",
    arguments: [(30, 30, 300), (60, 30, 300), (60, 60, 600), (30, 10, 100), (29.97, 30, 299), (25, 25, 250)]
      as [(Double, Double, Int)], [FloatingPointRoundingRule.toNearestOrEven, .down])
  func keepsThePaceOfRoundedTimes(
    film: (rate: Double, limit: Double, count: Int), rule: FloatingPointRoundingRule
  ) {
    var pace = FramePace(atMost: film.limit)
    let times = (0..<Int(10 * film.rate)).map { (1000 * Double($0) / film.rate).rounded(rule) / 1000 }
    #expect(times.count { pace.takes($0, isLive: false) } == film.count)
  }

  @Test func looksAtAllFramesWithoutALimit() {
    for limit in [nil, 0, -1, .infinity, .nan] as [Double?] {
      #expect(taken(rate: 30, jitter: 0.001, limit: limit, isLive: true).count == 300)
      #expect(taken(rate: 30, jitter: 0, limit: limit, isLive: false).count == 300)
    }
  }

  @Test func doesNotMakeUpForASilence() {
    var pace = FramePace(atMost: 10)
    let taken = [0, 0.05, 60, 60.04, 60.1].map { pace.takes($0, isLive: true) }
    #expect(taken == [true, false, true, false, true])
  }
}
