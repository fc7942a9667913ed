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
}
