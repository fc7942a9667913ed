// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import ApusVision
import Testing

@Suite struct TrackedDetectionTests {
  private func detection(_ x: Float, _ width: Float = 40) -> Detection {
    Detection(
      category: Category(index: 3, score: 0.4), boundingBox: BoundingBox(minX: 0, minY: 0, maxX: 1, maxY: 1),
      rect: PixelRect(x: x, y: 10, width: width, height: 80))
  }

  @Test("tracks have the positions of their detections, also behind those that no tracker takes")
  func keepsPositions() throws {
    var tracker = try ObjectTracker()
    let detections = [
      detection(0, -5), detection(100), detection(.nan), detection(300), detection(600, .infinity),
    ]
    for _ in 0..<2 { try tracker.update(detections) }
    let tracks = tracker.tracks
    #expect(tracks.map(\.detectionIndex) == [1, 3] && tracks.map(\.classIndex) == [3, 3])
    for track in tracks {
      let index = try #require(track.detectionIndex)
      #expect(abs(track.box.minX - Double(detections[index].rect.x)) < 1)
    }
    try tracker.update([])
    #expect(tracker.tracks.allSatisfy { $0.detectionIndex == nil })
    let error = #expect(throws: TrackingError.self) {
      try tracker.update([detection(0)], at: 1)
      try tracker.update([detection(0)], at: 0)
    }
    #expect(error?.code == .invalidTime)
  }
}
