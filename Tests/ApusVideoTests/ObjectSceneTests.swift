// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ApusVideo
import ApusVision
import Foundation
import Testing

@Suite struct ObjectSceneTests {
  /// The results of a scene whose zone is the whole picture, for an object that is hidden for a time.
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

  @Test("events say which class, by its name and number", arguments: ["person", nil])
  func namesClasses(label: String?) throws {
    var scene = try ObjectScene(
      zones: [ScenePlace(parsing: "z:0,0,1,0,1,1,0,1")], tracking: .byteTrack, width: 64, height: 48)
    let object = Detection(
      category: Category(index: 7, score: 0.9, label: label),
      boundingBox: BoundingBox(minX: 0.4, minY: 0.4, maxX: 0.6, maxY: 0.6), imageWidth: 64, imageHeight: 48)
    let events = try [0.4, 0.5].flatMap { try scene.update([object], at: $0).events }
    let event = try #require(events.first)
    #expect(event.label == label && event.index == 7)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = String(decoding: try encoder.encode(event), as: UTF8.self)
    let name = label.map { "\"\($0)\"" } ?? "null"
    #expect(
      text.hasPrefix("{") && text.contains("\"event\":\"entered\"")
        && text.contains("\"index\":7,\"label\":\(name),"),
      "\(text)")
    #expect(!text.contains("direction") && !text.contains("dwell\":null"), "\(text)")
  }

  @Test("places and tracks stay where they are in the picture when frames change their size")
  func keepsPlacesInFramesOfAnotherSize() throws {
    func object(_ x: Float, _ width: Int, _ height: Int) -> Detection {
      Detection(
        category: Category(index: 0, score: 0.9),
        boundingBox: BoundingBox(minX: x - 0.1, minY: 0.4, maxX: x + 0.1, maxY: 0.6), imageWidth: width,
        imageHeight: height)
    }
    var scene = try ObjectScene(
      lines: [ScenePlace(parsing: "gate:0.5,0,0.5,1")],
      zones: [ScenePlace(parsing: "left:0,0,0.5,0,0.5,1,0,1")],
      tracking: .byteTrack, width: 320, height: 240)
    for number in 0..<40 {
      let (width, height) = number < 10 ? (320, 240) : number < 20 ? (640, 360) : (64, 48)
      // In the left half at first; to the right one at the end.
      let place = number < 25 ? 0.3 : 0.3 + Float(number - 24) * 0.03
      let found = object(place, width, height)
      let (objects, events) = try scene.update(
        [found], width: width, height: height, at: Double(number) / 10)
      #expect(objects.map(\.track) == [number > 0 ? 1 : nil] && objects.first?.detection == found)
      #expect(events.isEmpty || number == 1 || number > 25, "\(events)")
    }
    #expect(scene.zoneCounts["left"]?.entries == 1 && scene.zoneCounts["left"]?.exits == 1)
    #expect((scene.lineCounts["gate"]?.in ?? 0) + (scene.lineCounts["gate"]?.out ?? 0) == 1)
    #expect(throws: ApusError.self) { try scene.update([], width: 0, height: 48, at: 5) }
  }

  @Test(
    "a line or zone must meet the picture, and not only the box around it",
    arguments: [
      ("-1,0.5,2,0.5", true), ("0,1,1,1", true), ("0.5,-3,0.5,-0.1", false), ("2,0,0,2.5", false),
      ("1.5,0.5,0.5,1.5", true), ("1.2,0,0,1.2", true), ("-1,-1,2,-1,2,2,-1,2", true),
      ("-1,-0.5,0.9,-0.5,2,2,2,-0.6", false), ("-1,0.4,2,0.4,2,0.6,-1,0.6", true),
      ("1.1,0,2,0,2,1,1.1,1", false), ("1,0,2,0,2,1,1,1", true),
      // A ring that is open on the left: the picture is in its hole.
      ("-1,-2,3,-2,3,3,-1,3,-1,2,2,2,2,-1,-1,-1", false),
    ])
  func refusesPlacesOutsideOfThePicture(points: String, isSeen: Bool) throws {
    if isSeen {
      _ = try ScenePlace(parsing: "a:\(points)")
    } else {
      let error = #expect(throws: ApusError.self) { try ScenePlace(parsing: "a:\(points)") }
      #expect(error?.message.contains("lies outside of the picture") == true)
    }
  }

  @Test("a scene refuses places in pixels, and what a text is refused for")
  func refusesPlacesOfPrograms() throws {
    func place(_ name: String, _ points: [(Double, Double)]) -> ScenePlace {
      ScenePlace(name: name, points: points.map { TrackingPoint(x: $0.0, y: $0.1) })
    }
    func scene(_ lines: [ScenePlace], _ zones: [ScenePlace] = []) throws -> ObjectScene {
      try ObjectScene(lines: lines, zones: zones, tracking: .byteTrack, width: 320, height: 240)
    }
    for line in [
      place("door", [(160, 0), (160, 240)]), place("door", [(2, 0), (2, 1)]), place("door", [(0.5, 0)]),
      place("door", [(0.5, 0), (0.5, 0)]), place("", [(0.5, 0), (0.5, 1)]), place("door", []),
      place("door", [(.nan, 0), (0.5, 1)]),
    ] {
      let error = #expect(throws: ApusError.self) { try scene([line]) }
      #expect(error?.code == .invalidArgument && error?.message.hasPrefix("the line '") == true)
    }
    #expect(throws: ApusError.self) { try scene([], [place("z", [(0, 0), (0.5, 0.5), (1, 1)])]) }
    _ = try scene([place("door", [(0.5, 0), (0.5, 1)])], [place("z", [(0, 0), (1, 0), (1, 1)])])
  }

  @Test("two lines or zones of one name are refused")
  func refusesNamesTwice() throws {
    let (line, zone) = (try ScenePlace(parsing: "a:0,0,1,1"), try ScenePlace(parsing: "a:0,0,1,0,1,1"))
    _ = try ObjectScene(lines: [line], zones: [zone], tracking: .byteTrack, width: 16, height: 16)
    for (lines, zones) in [([line, line], []), ([], [zone, zone])] as [([ScenePlace], [ScenePlace])] {
      let error = #expect(throws: ApusError.self) {
        try ObjectScene(lines: lines, zones: zones, tracking: .byteTrack, width: 16, height: 16)
      }
      #expect(error?.message.contains("'a'") == true)
    }
  }
}
