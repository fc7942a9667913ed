// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import Foundation
import Testing

@Suite struct CountingTests {
  private func track(_ id: Int, _ box: TrackingBox, isLost: Bool = false) -> Track {
    Track(id: id, box: box, classIndex: id % 3, detectionIndex: isLost ? nil : 0)
  }

  private func standing(_ id: Int, x: Double, y: Double, isLost: Bool = false) -> Track {
    track(id, TrackingBox(x: x - 5, y: y - 20, width: 10, height: 20), isLost: isLost)
  }

  @Test(
    "10,000 walks cross their lines as supervision counts them",
    arguments: [
      ("bottomCenter", [BoxAnchor.bottomCenter]),
      ("corners", [.topLeft, .topRight, .bottomLeft, .bottomRight]),
    ])
  func agreesWithSupervision(name: String, anchors: [BoxAnchor]) throws {
    let golden = Array(try #require(TrackingGoldens.all.lines[name]))
    #expect(golden.count == 20_000)
    for seed in 0..<(golden.count / 2) {
      let walk = Scene.walk(seed: seed)
      var counter = try LineCounter(
        from: TrackingPoint(x: Double(walk.line[0]), y: Double(walk.line[1])),
        to: TrackingPoint(x: Double(walk.line[2]), y: Double(walk.line[3])), anchors: anchors,
        minimumCrossingFrames: walk.minimum)
      for box in walk.frames { _ = counter.update(box.map { [track(1, $0)] } ?? []) }
      let counts = [counter.inCount, counter.outCount].map { String($0, radix: 36) }.joined()
      try #require(counts == String(golden[(2 * seed)...(2 * seed + 1)]), "walk \(seed)")
    }
  }

  @Test func countsByDirectionAndClassAndLeavesLostTracksOut() throws {
    var counter = try LineCounter(from: TrackingPoint(x: 0, y: 100), to: TrackingPoint(x: 200, y: 100))
    func frame(_ y: Double) -> [LineCrossing] {
      counter.update([
        standing(1, x: 50, y: y), standing(2, x: 90, y: 200 - y), standing(3, x: 90, y: y, isLost: true),
      ])
    }
    #expect(frame(120).isEmpty)
    let crossings = frame(80)
    #expect(crossings.map(\.trackID) == [1, 2] && crossings.map(\.direction) == [.in, .out])
    #expect(counter.counts == [.in: [1: 1], .out: [2: 1]])
    #expect(try JSONDecoder().decode(LineCounter.self, from: JSONEncoder().encode(counter)) == counter)
  }

  @Test func remembersSidesOfAbsentTracksAsLongAsAsked() throws {
    for (frames, expected) in [(3, 0), (20, 1)] {
      var counter = try LineCounter(
        from: TrackingPoint(x: 0, y: 100), to: TrackingPoint(x: 200, y: 100), maximumAbsentFrames: frames)
      _ = counter.update([standing(1, x: 50, y: 120)])
      for _ in 0..<10 { _ = counter.update([]) }
      _ = counter.update([standing(1, x: 50, y: 80)])
      #expect(counter.inCount == expected)
    }
  }

  @Test func insideIsWhereSupervisionSaysSo() throws {
    for golden in TrackingGoldens.all.zones {
      let zone = try ZoneCounter(polygon: golden.corners.map { TrackingPoint(x: $0[0], y: $0[1]) })
      for (row, line) in golden.rows.enumerated() {
        for (column, expected) in line.enumerated() where expected != "?" {
          let point = TrackingPoint(x: Double(column) * golden.step, y: Double(row) * golden.step)
          #expect(zone.contains(point) == (expected == "1"), "\(point)")
        }
      }
    }
  }

  @Test func zonesCountEntriesExitsAndDwell() throws {
    let square = [(0.0, 0.0), (100, 0), (100, 100), (0, 100)].map { TrackingPoint(x: $0.0, y: $0.1) }
    var zone = try ZoneCounter(polygon: square, minimumCrossingFrames: 2, maximumAbsentFrames: 3)
    var time = 0.0
    func frame(_ tracks: [Track]) throws -> [ZoneEvent] {
      time += 0.5
      return try zone.update(tracks, at: time)
    }
    // Flicker: one frame inside does not enter.
    #expect(try frame([standing(1, x: 50, y: 50)]).isEmpty)
    #expect(try frame([standing(1, x: 150, y: 50)]).isEmpty)
    #expect(zone.occupancy == 0)
    // Two do, and the stay begins with the first.
    #expect(try frame([standing(1, x: 50, y: 50)]).isEmpty)
    let entry = try frame([standing(1, x: 50, y: 50), standing(2, x: 60, y: 50)])
    #expect(entry.map(\.kind) == [.entered] && entry[0].entryTime == 1.5 && entry[0].dwell == 0.5)
    _ = try frame([standing(1, x: 50, y: 50), standing(2, x: 60, y: 50)])
    #expect(zone.trackIDs == [1, 2] && zone.occupancy == 2 && zone.dwell(of: 1) == 1 && zone.entries == 2)
    // Out for two frames, absent for three.
    #expect(try frame([standing(1, x: 150, y: 50)]).isEmpty)
    let exit = try frame([standing(1, x: 150, y: 50)])
    #expect(exit.map(\.kind) == [.left] && exit[0].trackID == 1 && exit[0].dwell == 1)
    let lost = try frame([])
    #expect(lost.map(\.trackID) == [2] && lost[0].dwell == 0.5)
    #expect(zone.occupancy == 0 && zone.exits == 2 && zone.totalDwell == 1.5 && zone.longestDwell == 1)
    #expect(try JSONDecoder().decode(ZoneCounter.self, from: JSONEncoder().encode(zone)) == zone)
    #expect(throws: TrackingError.self) { try zone.update([], at: 0) }
    #expect(throws: TrackingError.self) { try zone.update([], at: .nan) }
    #expect(zone.finish().isEmpty)
  }

  @Test("with all tracks of a tracker, lines and zones forget a track when it does")
  func forgetsWithTheTracker() throws {
    let square = [(0.0, 0.0), (100, 0), (100, 100), (0, 100)].map { TrackingPoint(x: $0.0, y: $0.1) }
    var zone = try ZoneCounter(polygon: square, maximumAbsentFrames: 5)
    var line = try LineCounter(
      from: TrackingPoint(x: 0, y: 100), to: TrackingPoint(x: 200, y: 100), maximumAbsentFrames: 5)
    var time = 0.0
    func frame(_ tracks: [Track]) throws -> (events: [ZoneEvent], crossings: [LineCrossing]) {
      time += 0.5
      return (try zone.update(tracks, at: time, areAll: true), line.update(tracks, areAll: true))
    }
    #expect(try frame([standing(1, x: 50, y: 90)]).events.map(\.kind) == [.entered])
    // Lost for longer than their own limits.
    for _ in 0..<9 { #expect(try frame([standing(1, x: 50, y: 90, isLost: true)]).events.isEmpty) }
    let back = try frame([standing(1, x: 50, y: 110)])
    #expect(back.events.map(\.kind) == [.left] && back.events[0].dwell == 0)
    #expect(back.crossings.map(\.direction) == [.out])
    _ = try frame([standing(1, x: 50, y: 90)])
    // The tracker has ended the track, and has another one for what is there now.
    let next = try frame([standing(2, x: 50, y: 90)])
    #expect(next.events.map(\.kind) == [.left, .entered] && next.events.map(\.trackID) == [1, 2])
    #expect(zone.occupancy == 1 && zone.entries == 3 && zone.exits == 2)
    #expect(try frame([standing(1, x: 50, y: 110)]).crossings.isEmpty)
  }

  @Test func refusesImpossibleLinesAndZones() {
    let point = TrackingPoint(x: 1, y: 1)
    #expect(throws: TrackingError.self) { try LineCounter(from: point, to: point) }
    #expect(throws: TrackingError.self) { try LineCounter(from: point, to: TrackingPoint(x: .nan, y: 0)) }
    #expect(throws: TrackingError.self) { try LineCounter(from: point, to: TrackingPoint(x: 0, y: 1e300)) }
    let other = TrackingPoint(x: 5, y: 5)
    #expect(throws: TrackingError.self) { try LineCounter(from: point, to: other, anchors: []) }
    #expect(throws: TrackingError.self) { try LineCounter(from: point, to: other, minimumCrossingFrames: 0) }
    #expect(throws: TrackingError.self) { try LineCounter(from: point, to: other, maximumAbsentFrames: 0) }
    #expect(throws: TrackingError.self) { try ZoneCounter(polygon: [point, other]) }
    #expect(throws: TrackingError.self) {
      try ZoneCounter(polygon: [point, other, TrackingPoint(x: .infinity, y: 0)])
    }
    #expect(throws: TrackingError.self) {
      try ZoneCounter(polygon: [TrackingPoint](repeating: point, count: 1001))
    }
  }

  @Test("numbers that no counting has are refused when counters are decoded")
  func checksDecodedCounters() throws {
    var line = try LineCounter(from: TrackingPoint(x: 0, y: 50), to: TrackingPoint(x: 100, y: 50))
    var zone = try ZoneCounter(polygon: [(0, 0), (100, 0), (100, 100)].map { TrackingPoint(x: $0, y: $1) })
    for (number, y) in [40.0, 60, 40].enumerated() {
      _ = line.update([standing(1, x: 80, y: y)])
      _ = try zone.update([standing(1, x: 80, y: y)], at: Double(number))
    }
    func refuses<Counter: Codable>(_ counter: Counter, _ changes: [(String, String)]) throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let text = String(decoding: try encoder.encode(counter), as: UTF8.self)
      for (old, new) in changes {
        let broken = text.replacing(try Regex(old), with: new)
        #expect(broken != text, "\(old) is not in \(text)")
        #expect(throws: (any Error).self, "\(broken)") {
          try JSONDecoder().decode(Counter.self, from: Data(broken.utf8))
        }
      }
    }
    try refuses(
      zone,
      [
        (#""polygon":\[.*\]"#, #""polygon":[]"#), (#""entries":\d+"#, #""entries":9223372036854775807"#),
        (#""exits":\d+"#, #""exits":-1"#), (#""minimumCrossingFrames":1"#, #""minimumCrossingFrames":0"#),
        (#""absentFrames":\d+"#, #""absentFrames":9223372036854775807"#),
      ])
    try refuses(
      line,
      [
        (#""start":\{[^}]*\}"#, #""start":{"x":100,"y":50}"#), (#""anchors":\[[^\]]*\]"#, #""anchors":[]"#),
        (#""absentFrames":\d+"#, #""absentFrames":-1"#),
      ])
    var filter = try OneEuroFilter()
    _ = try filter.filter([1, 2], at: 0)
    try refuses(
      filter,
      [
        (#""rawValues":\[1,2\]"#, #""rawValues":[]"#), (#""speeds":\[0,0\]"#, #""speeds":[0]"#),
        (#""minimumCutoff":1"#, #""minimumCutoff":0"#),
      ])
    #expect(try JSONDecoder().decode(OneEuroFilter.self, from: JSONEncoder().encode(filter)) == filter)
  }
}
