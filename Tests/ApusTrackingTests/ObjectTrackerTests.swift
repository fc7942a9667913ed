// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import Foundation
import Testing

@Suite struct ObjectTrackerTests {
  @Test("ids and boxes are those of `trackers`, frame by frame", arguments: TrackingGoldens.all.tracks)
  func agreesWithTrackers(golden: TrackingGoldens.Tracks) throws {
    var options: ObjectTracker.Options = golden.method == "sort" ? .sort : .byteTrack
    if let frames = golden.options.lostTrackBuffer { options.maximumLostTime = Double(frames) / 30 }
    if let rate = golden.options.frameRate { options.frameRate = rate }
    if let score = golden.options.trackActivationThreshold { options.activationScore = score }
    if let hits = golden.options.minimumConsecutiveFrames { options.minimumHits = hits }
    if let overlap = golden.options.minimumIouThreshold { options.minimumOverlap = overlap }
    var tracker = try ObjectTracker(options)
    var clock = Scene(seed: golden.seed + 1000)
    var now = 0
    var last: [Track] = []
    for (number, detections) in Scene.frames(
      seed: golden.seed, objects: golden.objects, frames: golden.frames
    )
    .enumerated() {
      now += [32, 32, 32, 33, 64, 128][clock.below(6)]
      last = try tracker.update(detections, at: golden.hasTimes ? Double(now) / 1024 : nil)
      var ids = [Int](repeating: 0, count: detections.count)
      for track in last { if let index = track.detectionIndex { ids[index] = track.id } }
      try #require(ids.map(String.init).joined(separator: " ") == golden.ids[number], "frame \(number)")
    }
    let tracked = last.filter { $0.state == .tracked }
    #expect(Set(tracked.map { "\($0.id)" }) == Set(golden.lastBoxes.keys))
    for track in tracked {
      let box = [track.box.minX, track.box.minY, track.box.maxX, track.box.maxY]
      for (value, expected) in zip(box, golden.lastBoxes["\(track.id)"] ?? []) {
        // The peer adds a millionth to the height before it divides by it.
        #expect(abs(value - expected) < 1e-3)
      }
    }
  }

  @Test("without options, every detection can start a track")
  func followsDoubtfulObjects() throws {
    var tracker = try ObjectTracker()
    let object = [TrackingDetection(box: TrackingBox(x: 10, y: 10, width: 40, height: 80), score: 0.26)]
    for _ in 0..<3 { try tracker.update(object) }
    #expect(tracker.tracks.map(\.id) == [1])
    #expect(try ObjectTracker() == ObjectTracker(options: .byteTrack.withoutScoreThresholds))
    #expect(try ObjectTracker(.sort) == ObjectTracker(options: .sort))
  }

  @Test func predictsLostObjectsAndFindsThemAgain() throws {
    var tracker = try ObjectTracker(.byteTrack)
    func frame(_ x: Double) -> [TrackingDetection] {
      [TrackingDetection(box: TrackingBox(x: x, y: 50, width: 40, height: 80), score: 0.9)]
    }
    for number in 0..<20 { try tracker.update(frame(Double(number) * 5)) }
    for _ in 20..<30 { try tracker.update([]) }
    let lost = try #require(tracker.tracks.first)
    #expect(lost.state == .lost && lost.framesSinceHit == 10 && lost.hits == 20 && lost.age == 29)
    #expect(abs(lost.velocity.x - 5) < 0.1 && abs(lost.box.minX - 145) < 2)
    let found = try tracker.update(frame(150))
    #expect(found.map(\.id) == [lost.id] && found[0].state == .tracked)
    for _ in 0..<31 { try tracker.update([]) }
    #expect(tracker.isIdle)
  }

  @Test("objects are followed however far apart frames are", arguments: [0.9, 1.25, 60])
  func followsDistantFrames(step: Double) throws {
    for options in [ObjectTracker.Options.sort, .byteTrack] {
      var tracker = try ObjectTracker(options)
      let detection = TrackingDetection(box: TrackingBox(x: 10, y: 10, width: 40, height: 80), score: 0.9)
      var ids: [Int?] = []
      for number in 0..<6 {
        ids.append(
          try tracker.update([detection], at: Double(number) * step).first { $0.state == .tracked }?.id)
      }
      #expect(ids == (0..<6).map { $0 < options.minimumHits - 1 ? nil : 1 })
      // It is unseen for two steps, more than the second for which lost tracks are kept.
      _ = try tracker.update([], at: 6 * step)
      for number in 7..<10 { _ = try tracker.update([detection], at: Double(number) * step) }
      #expect(tracker.tracks.map(\.id) == [2])
    }
  }

  @Test("one detection never confirms a track; with a minimum of 1, the second may come later")
  func confirmsBySecondDetections() throws {
    let detection = TrackingDetection(box: TrackingBox(x: 10, y: 10, width: 40, height: 80), score: 0.9)
    for var options in [ObjectTracker.Options.sort, .byteTrack] {
      for (minimum, hidden, expected) in [
        (1, false, [nil, 1]), (2, false, [nil, 1]), (1, true, [nil, 1]), (2, true, [nil, nil]),
      ]
        as [(Int, Bool, [Int?])]
      {
        options.minimumHits = minimum
        var tracker = try ObjectTracker(options)
        let first = try tracker.update([detection]).first?.id
        if hidden { _ = try tracker.update([]) }
        #expect([first, try tracker.update([detection]).first?.id] == expected)
      }
    }
  }

  @Test("a pause between frames ends tracks that the last frame had")
  func endsTracksAtAPause() throws {
    for (pause, expected) in [(0.9, 1), (1.1, 2), (180, 2)] {
      var tracker = try ObjectTracker(.byteTrack)
      let detection = TrackingDetection(box: TrackingBox(x: 10, y: 10, width: 40, height: 80), score: 0.9)
      for number in 0..<60 {
        try tracker.update([detection], at: Double(number) / 30 + (number < 30 ? 0 : pause))
      }
      #expect(tracker.tracks.map(\.id) == [expected], "\(pause)")
    }
  }

  @Test("times that add up to the lost time are not beyond it", arguments: [10.0, 24, 30, 60])
  func sumsTimes(rate: Double) throws {
    for (absent, expected) in [(Int(rate) - 1, 1), (Int(rate), 2)] {
      var tracker = try ObjectTracker(.byteTrack)
      let detection = TrackingDetection(box: TrackingBox(x: 10, y: 10, width: 40, height: 80), score: 0.9)
      for number in 0..<(20 + absent) {
        try tracker.update((10..<10 + absent).contains(number) ? [] : [detection], at: Double(number) / rate)
      }
      #expect(tracker.tracks.map(\.id) == [expected], "\(absent)")
    }
  }

  @Test func neverUsesAnIDTwice() throws {
    var tracker = try ObjectTracker(.sort)
    var seen: [Int] = []
    for round in 0..<5 {
      for _ in 0..<4 {
        try tracker.update([TrackingDetection(box: TrackingBox(x: 0, y: 0, width: 9, height: 9))])
      }
      seen += tracker.tracks.map(\.id)
      if round.isMultiple(of: 2) { tracker.removeAll() } else { for _ in 0..<40 { try tracker.update([]) } }
    }
    #expect(seen == [1, 2, 3, 4, 5])
  }

  @Test func keepsClassesApartIfAsked() throws {
    let box = TrackingBox(x: 10, y: 10, width: 30, height: 30)
    for isWithinClass in [true, false] {
      var options = ObjectTracker.Options.byteTrack
      options.matchesWithinClass = isWithinClass
      var tracker = try ObjectTracker(options)
      for _ in 0..<3 { try tracker.update([TrackingDetection(box: box, score: 0.9, classIndex: 1)]) }
      for _ in 0..<3 { try tracker.update([TrackingDetection(box: box, score: 0.9, classIndex: 2)]) }
      #expect(tracker.tracks.map(\.classIndex) == (isWithinClass ? [1, 2] : [2]))
    }
  }

  @Test func continuesFromItsEncodedForm() throws {
    let frames = Scene.frames(seed: 9, objects: 10, frames: 60)
    var tracker = try ObjectTracker(.byteTrack)
    for frame in frames[..<30] { try tracker.update(frame) }
    var copy = try JSONDecoder().decode(ObjectTracker.self, from: JSONEncoder().encode(tracker))
    #expect(copy == tracker)
    for frame in frames[30...] { #expect(try copy.update(frame) == tracker.update(frame)) }
  }

  @Test func refusesImpossibleStates() throws {
    var tracker = try ObjectTracker(.sort)
    for frame in Scene.frames(seed: 9, objects: 3, frames: 9) { try tracker.update(frame) }
    let text = String(decoding: try JSONEncoder().encode(tracker), as: UTF8.self)
    for (good, bad) in [
      ("\"hits\":", "\"hits\":-1"), ("\"lastID\":", "\"lastID\":-7"), ("\"frameRate\":", "\"frameRate\":-"),
    ] {
      let broken = text.replacingOccurrences(of: good, with: bad)
      #expect(throws: (any Error).self) {
        try JSONDecoder().decode(ObjectTracker.self, from: Data(broken.utf8))
      }
    }
  }

  @Test(
    "a refused frame changes nothing",
    arguments: [
      TrackingBox(minX: .nan, minY: 0, maxX: 1, maxY: 1),
      TrackingBox(minX: 0, minY: 0, maxX: .infinity, maxY: 1),
      TrackingBox(x: 5, y: 5, width: -3, height: 4), TrackingBox(x: 5, y: 5, width: 3, height: 0),
      TrackingBox(x: -1e10, y: 0, width: 1, height: 1), TrackingBox(x: 1e300, y: 0, width: 1e300, height: 1),
    ])
  func refusesImpossibleBoxes(box: TrackingBox) throws {
    var tracker = try ObjectTracker(.byteTrack)
    for frame in Scene.frames(seed: 2, objects: 3, frames: 5) { try tracker.update(frame, at: 1) }
    let before = tracker
    let error = #expect(throws: TrackingError.self) {
      try tracker.update([
        TrackingDetection(box: TrackingBox(x: 0, y: 0, width: 1, height: 1)), TrackingDetection(box: box),
      ])
    }
    #expect(error?.code == .invalidDetection && error?.message.contains("detection 1") == true)
    #expect(tracker == before)
  }

  @Test func refusesImpossibleScoresTimesAndCrowds() throws {
    var tracker = try ObjectTracker(.sort)
    let box = TrackingBox(x: 0, y: 0, width: 1, height: 1)
    func code(_ detections: [TrackingDetection], _ time: Double?) -> TrackingError.Code? {
      do throws(TrackingError) { try tracker.update(detections, at: time) } catch { return error.code }
      return nil
    }
    #expect(code([TrackingDetection(box: box, score: .nan)], nil) == .invalidDetection)
    #expect(code([], 5) == nil)
    #expect(code([], 4.9) == .invalidTime)
    #expect(code([], .nan) == .invalidTime)
    #expect(code([], .infinity) == .invalidTime)
    #expect(
      code([TrackingDetection](repeating: TrackingDetection(box: box), count: 1_000_000), 6) == .resourceLimit
    )
    #expect(code([TrackingDetection](repeating: TrackingDetection(box: box), count: 1000), 6) == nil)
  }

  @Test func bearsExtremes() throws {
    var options = ObjectTracker.Options.sort
    options.maximumLostTime = 86_400
    for method in ObjectTracker.Method.allCases {
      options.method = method
      options.maximumDetections = 20
      var tracker = try ObjectTracker(options)
      var scene = Scene(seed: 3)
      for frame in 0..<300 {
        var detections: [TrackingDetection] = []
        for _ in 0..<20 {
          let size: Double = [1e-9, 1, 1e4, 1e9][scene.below(4)]
          let x = Double(scene.below(2000)) * 1e6 - 1e9
          let box = TrackingBox(minX: x, minY: -1e9, maxX: min(x + size, 1e9), maxY: size - 1e9)
          if box.minX < box.maxX, box.minY < box.maxY { detections.append(TrackingDetection(box: box)) }
        }
        let tracks = try tracker.update(
          detections, at: frame < 150 ? Double(frame * frame) * 10 : Double(frame) * 1e6)
        #expect(tracks.count <= 160 && tracks.allSatisfy { $0.box.minX.isFinite && $0.velocity.y.isFinite })
      }
    }
  }

  @Test func refusesOptionsOutOfRange() {
    let changes: [(inout ObjectTracker.Options) -> Void] = [
      { $0.minimumOverlap = 0 }, { $0.minimumOverlap = .nan }, { $0.minimumOverlap = 1.1 },
      { $0.minimumHits = 0 },
      { $0.maximumLostTime = -1 }, { $0.maximumLostTime = .infinity }, { $0.frameRate = 0 },
      { $0.frameRate = .nan },
      { $0.maximumDetections = 0 }, { $0.maximumDetections = .max }, { $0.activationScore = .nan },
      { $0.highScore = .infinity },
    ]
    for change in changes {
      var options = ObjectTracker.Options.sort
      change(&options)
      let error = #expect(throws: TrackingError.self) { try ObjectTracker(options) }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test("an error of trackers says its message to whoever asks for a localized one")
  func localizesTrackingErrors() {
    let error: any Error = TrackingError(.invalidTime, "the time is not a number")
    #expect(error.localizedDescription == "the time is not a number")
  }
}
