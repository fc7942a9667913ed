// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import Testing

@Suite struct OneEuroFilterTests {
  @Test func agreesWithItsAuthors() throws {
    for golden in TrackingGoldens.all.smoothing {
      var scene = Scene(seed: golden.seed)
      var filter = try OneEuroFilter(
        minimumCutoff: golden.minimumCutoff, beta: golden.beta, derivativeCutoff: golden.derivativeCutoff)
      var (now, value) = (1024, 0)
      for expected in golden.values {
        value += scene.below(2001) - 1000
        if scene.below(10) == 0 { value += 8000 }
        let smooth = try filter.filter([Double(value) / 1024, 7], at: Double(now) / 1024)
        // The last bits depend on the order of sums.
        #expect(abs(smooth[0] - expected) < 1e-9 * max(1, abs(expected)) && abs(smooth[1] - 7) < 1e-12)
        now += 20 + scene.below(40)
      }
    }
  }

  @Test("what is known can be scaled together with the values and the unit")
  func scales() throws {
    var (one, other) = (try OneEuroFilter(beta: 1), try OneEuroFilter(beta: 1))
    for time in 0..<6 {
      let (x, y) = (Double(time * time), Double(3 - time))
      let factor = time < 3 ? 1.0 : 4
      if time == 3 { other.scale(by: [4, 4]) }
      let smooth = try one.filter([x, y, x], at: Double(time)).map { $0 * factor }
      let scaled = try other.filter([x * factor, y * factor, x * factor], at: Double(time), unit: factor)
      #expect(zip(smooth, scaled).allSatisfy { abs($0 - $1) < 1e-9 })
    }
  }

  @Test("compared with the last raw value, one that rests has no speed")
  func comparesRawValues() throws {
    func weight(_ cutoff: Double) -> Double { 1 / (1 + 1 / (2 * .pi * cutoff)) }
    for comparesRawValues in [true, false] {
      var filter = try OneEuroFilter(beta: 2, comparesRawValues: comparesRawValues)
      var (smooth, speed) = (0.0, 0.0)
      #expect(try filter.filter([0], at: 0) == [0])
      for (time, change) in [(1.0, 1.0), (2, 0), (3, 0)] {
        speed += weight(1) * ((comparesRawValues ? change : 1 - smooth) - speed)
        smooth += weight(1 + 2 * abs(speed)) * (1 - smooth)
        #expect(abs(try filter.filter([1], at: time)[0] - smooth) < 1e-12)
      }
    }
  }

  @Test func refusesWhatItCannotSmooth() throws {
    #expect(throws: TrackingError.self) { try OneEuroFilter(minimumCutoff: 0) }
    #expect(throws: TrackingError.self) { try OneEuroFilter(beta: -1) }
    #expect(throws: TrackingError.self) { try OneEuroFilter(derivativeCutoff: .nan) }
    var filter = try OneEuroFilter()
    _ = try filter.filter([1, 2], at: 0)
    let before = filter
    #expect(throws: TrackingError.self) { try filter.filter([1], at: 1) }
    #expect(throws: TrackingError.self) { try filter.filter([1, .nan], at: 1) }
    #expect(throws: TrackingError.self) { try filter.filter([1, 2], at: 0) }
    #expect(throws: TrackingError.self) { try filter.filter([1, 2], at: .infinity) }
    #expect(filter == before)
    #expect(try filter.filter([1e150, -1e150], at: 1e-9).allSatisfy(\.isFinite))
    filter.removeAll()
    #expect(try filter.filter([5], at: -3) == [5])
  }
}
