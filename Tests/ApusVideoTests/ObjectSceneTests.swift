// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ApusVideo
import ApusVision
import Testing

@Suite struct ObjectSceneTests {
  /// What a scene with a zone over the whole picture tells of an object that is hidden from one time to another.
  private func events(rate: Double, hidden: Range<Double>, end: Double) throws -> (
    events: [ObjectScene.Event], tracks: Set<Int>, occupancy: [Int]
  ) {
    var tracking = ObjectTracker.Options.byteTrack
    tracking.frameRate = 30
    var scene = try ObjectScene(
      zones: [ScenePlace(parsing: "z:0,0,1,0,1,1,0,1")], tracking: tracking, width: 640, height: 480)
    let object = Detection(
      category: Category(index: 0, score: 0.9, label: "circle"),
      boundingBox: BoundingBox(minX: 0.4, minY: 0.4, maxX: 0.6, maxY: 0.6),
      rect: PixelRect(x: 256, y: 192, width: 128, height: 96))
    var result: (events: [ObjectScene.Event], tracks: Set<Int>, occupancy: [Int]) = ([], [], [])
    for number in 0..<Int(end * rate) {
      let time = Double(number) / rate
      let answer = try scene.update(hidden.contains(time) ? [] : [object], at: time)
      result.events += answer.events
      result.tracks.formUnion(answer.objects.compactMap(\.track))
      result.occupancy.append(scene.zoneCounts["z"]?.occupancy ?? -1)
    }
    return result
  }

  @Test("a zone keeps an object as long as its track, whatever the rate", arguments: [10.0, 30, 60, 120])
  func keepsLostTracks(rate: Double) throws {
    let found = try events(rate: rate, hidden: 2..<2.7, end: 4)
    #expect(found.tracks == [1] && found.events.map(\.event) == ["entered"])
  }

  @Test(
    "a zone does not keep an object longer than its track, whatever the rate", arguments: [4.0, 10, 30, 60])
  func forgetsEndedTracks(rate: Double) throws {
    let found = try events(rate: rate, hidden: 2..<3.6, end: 8)
    #expect(found.tracks == [1, 2] && found.occupancy.max() == 1)
    #expect(found.events.map(\.event) == ["entered", "left", "entered"])
    #expect(found.events.map(\.track) == [1, 1, 2])
    #expect((2.99...3.4).contains(found.events.dropFirst().first?.time ?? 0))
  }

  @Test(
    "every object that a detector finds is counted, whatever its score",
    arguments: [Float(0.01), 0.3, 0.645, -3])
  func countsDoubtfulObjects(score: Float) throws {
    for method in [ObjectTracker.Options.byteTrack, .sort] {
      var scene = try ObjectScene(
        zones: [ScenePlace(parsing: "z:0,0,1,0,1,1,0,1")], tracking: method.withoutScoreThresholds,
        width: 640,
        height: 480)
      let object = Detection(
        category: Category(index: 0, score: score),
        boundingBox: BoundingBox(minX: 0.4, minY: 0.4, maxX: 0.6, maxY: 0.6),
        rect: PixelRect(x: 256, y: 192, width: 128, height: 96))
      for number in 0..<4 { _ = try scene.update([object], at: Double(number) / 30) }
      #expect(scene.zoneCounts["z"]?.entries == 1)
    }
  }

  @Test(
    "an object whose box reaches beyond the picture is at the edge, and the edges belong to the picture",
    arguments: [
      (200, 20, 100, 238), (200, 80, 100, 160), (200, 80, 100, 240), (-90, 20, 100, 100), (560, 20, 200, 100),
      (0, -200, 640, 100),
    ] as [(Float, Float, Float, Float)])
  func keepsAnchorsInThePicture(x: Float, y: Float, width: Float, height: Float) throws {
    var scene = try ObjectScene(
      lines: [ScenePlace(parsing: "edge:0,1,1,1")], zones: [ScenePlace(parsing: "z:0,0,1,0,1,1,0,1")],
      tracking: .byteTrack, width: 640, height: 240)
    for number in 0..<6 {
      // The lower edge trembles around that of the picture.
      let rect = PixelRect(x: x, y: y, width: width, height: height + Float(number % 2) * 4)
      let object = Detection(
        category: Category(index: 0, score: 0.9),
        boundingBox: BoundingBox(minX: 0, minY: 0, maxX: 1, maxY: 1), rect: rect)
      _ = try scene.update([object], at: Double(number) / 30)
    }
    #expect(scene.zoneCounts["z"]?.entries == 1 && scene.zoneCounts["z"]?.occupancy == 1)
    #expect(scene.lineCounts["edge"]?.in == 0 && scene.lineCounts["edge"]?.out == 0)
  }
}
