// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Synchronization
import TestSupport
import Testing

/// Landmarks of frames, smoothed as the rules in NumPy say.
@Suite struct LandmarkTrackerTests {
  /// A subject with points of every kind, always expected in the same place.
  private struct Wanderer: LandmarkSubject, Encodable {
    var landmarks: [Landmark]
    var worldLandmarks: [WorldLandmark]
    var regionPoints: [PixelPoint]
    var region: Region { Region(center: PixelPoint(x: 8, y: 8), width: 4, height: 4) }
    var nextRegion: Region { region }

    /// Four points with visibilities, three in space, two of the next region.
    init(_ numbers: [Float]) {
      landmarks = (0..<4).map {
        Landmark(
          x: numbers[3 * $0], y: numbers[3 * $0 + 1], z: numbers[3 * $0 + 2], visibility: numbers[12 + $0],
          presence: 0.25)
      }
      worldLandmarks = (0..<3).map {
        WorldLandmark(x: numbers[16 + 3 * $0], y: numbers[17 + 3 * $0], z: numbers[18 + 3 * $0])
      }
      regionPoints = (0..<2).map { PixelPoint(x: numbers[25 + 2 * $0], y: numbers[26 + 2 * $0]) }
    }

    var numbers: [Float] {
      landmarks.flatMap { [$0.x, $0.y, $0.z] } + landmarks.map { $0.visibility ?? -1 }
        + worldLandmarks.flatMap { [$0.x, $0.y, $0.z] } + regionPoints.flatMap { [$0.x, $0.y] }
    }

    func encode(to encoder: any Encoder) throws {}
  }

  private struct Found: LandmarkResult {
    var imageWidth: Int { 16 }
    var imageHeight: Int { 16 }
    var timings = StageTimings()
    var subjects: [Wanderer]

    func encode(to encoder: any Encoder) throws {}
  }

  /// A task that finds what it is told, one frame after the other.
  private final class Script: LandmarkTask {
    let assumptions: TaskAssumptions
    let frames: [[Float]]
    private let next = Mutex(0)

    init(_ frames: [[Float]]) throws {
      self.frames = frames
      assumptions = try ImageClassifier(model: DetectorModel.answering([.rows([0, 1])]).model()).assumptions
    }

    func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?) -> Found {
      next.withLock { next in
        defer { next += 1 }
        return Found(subjects: frames[next].isEmpty ? [] : [Wanderer(frames[next])])
      }
    }

    func follow(
      _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?
    ) -> Found { answer(frame, in: area, cancellation: cancellation) }
  }

  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 0, count: 768), width: 16, height: 16, format: .rgb)
  }

  private func smoothing(_ golden: LandmarkGolden) -> LandmarkSmoothing {
    golden.withRegions == true ? .withRegions : LandmarkSmoothing()
  }

  @Test("there are cases")
  func hasCases() {
    #expect(LandmarkGolden.of("walks").count == 2 && LandmarkGolden.of("videos").count == 2)
  }

  @Test("every kind of point is smoothed by its own rule", arguments: LandmarkGolden.of("walks"))
  func smooths(golden: LandmarkGolden) throws {
    let (times, raw) = (try #require(golden.times), try #require(golden.raw))
    let tracker = LandmarkTracker(try Script(raw), smoothing: smoothing(golden))
    for (time, expected) in zip(times, try #require(golden.smooth)) {
      let found = try tracker.track(picture(), at: time).subjects
      #expect(found.count == (expected.isEmpty ? 0 : 1))
      guard let found = found.first else { continue }
      #expect(agree(found.numbers, expected, within: 1e-5), "\(time)")
      #expect(found.landmarks.allSatisfy { $0.presence == 0.25 })
    }
  }

  /// Two points that stay in one place of the frame, whatever its size; keeps where it is told to look.
  private final class Seer: LandmarkTask {
    struct Spot: LandmarkSubject, Encodable {
      var landmarks: [Landmark]
      let region: Region
      let nextRegion: Region

      func encode(to encoder: any Encoder) throws {}
    }

    struct Seen: LandmarkResult {
      let imageWidth: Int
      let imageHeight: Int
      var timings = StageTimings()
      var subjects: [Spot]

      func encode(to encoder: any Encoder) throws {}
    }

    let assumptions: TaskAssumptions
    let regions = Mutex<[[Region]]>([])

    init() throws {
      assumptions = try ImageClassifier(model: DetectorModel.answering([.rows([0, 1])]).model()).assumptions
    }

    func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?) -> Seen {
      follow(image, after: [], in: region, cancellation: cancellation)
    }

    func follow(
      _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?
    ) -> Seen {
      self.regions.withLock { $0.append(regions) }
      let (width, height) = (Float(frame.width), Float(frame.height))
      let region = regions.first ?? Region(center: PixelPoint(x: 8, y: 4), width: 6, height: 6, rotation: 1)
      return Seen(
        imageWidth: frame.width, imageHeight: frame.height,
        subjects: [
          Spot(
            landmarks: [
              Landmark(x: width / 4, y: height / 2, z: width / 8),
              Landmark(x: width / 2, y: height / 4, z: 0),
            ], region: region, nextRegion: region)
        ])
    }
  }

  @Test("in frames of another size, regions and smooth points stay where they are in the picture")
  func followsSizes() throws {
    let (task, sizes) = (try Seer(), [(16, 8), (16, 8), (32, 16), (64, 16), (16, 8)])
    let tracker = LandmarkTracker(task)
    for (place, (width, height)) in sizes.enumerated() {
      let frame = try ImageBuffer(
        bytes: [UInt8](repeating: 0, count: width * height * 3), width: width, height: height, format: .rgb)
      let point = try #require(tracker.track(frame, at: Double(place) / 30).subjects.first?.landmarks.first)
      #expect(
        agree(
          [point.x, point.y, point.z], [Float(width) / 4, Float(height) / 2, Float(width) / 8], within: 1e-4))
    }
    let seen = task.regions.withLock { $0 }
    func region(_ x: Float, _ y: Float, _ side: Float) -> Region {
      Region(center: PixelPoint(x: x, y: y), width: side, height: side, rotation: 1)
    }
    // Regions are squares, here as large as the larger side of the stretched one.
    #expect(
      seen == [[], [region(8, 4, 6)], [region(16, 8, 12)], [region(32, 8, 24)], [region(8, 4, 12)]])
  }

  @Test("without smoothing, nothing changes", arguments: LandmarkGolden.of("walks"))
  func keeps(golden: LandmarkGolden) throws {
    let (times, raw) = (try #require(golden.times), try #require(golden.raw))
    let tracker = LandmarkTracker(try Script(raw), smoothing: nil)
    for (time, expected) in zip(times, raw) {
      #expect(try tracker.track(picture(), at: time).subjects.first?.numbers ?? [] == expected)
    }
  }

  @Test("frames of a queue are smoothed by their times", arguments: LandmarkGolden.of("walks"))
  func smoothsFramesOfAQueue(golden: LandmarkGolden) async throws {
    let (times, raw) = (try #require(golden.times), try #require(golden.raw))
    let (direct, queued) = (LandmarkTracker(try Script(raw)), LandmarkTracker(try Script(raw)))
    let latest = LatestFrames(queued)
    var results = latest.results.makeAsyncIterator()
    for time in times {
      let expected = try await direct.track(picture(), at: time).subjects.first?.numbers
      latest.submit(try picture(), at: time)
      let result = try #require(await results.next())
      #expect(try result.time == time && result.answer.get().subjects.first?.numbers == expected)
    }
  }

  @Test("frames that several tasks ask about at once have times in order")
  func ordersConcurrentFrames() async throws {
    let tracker = LandmarkTracker(try Seer())
    let picture = try picture()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<64 { group.addTask { try await tracker.answer(picture).subjects.count } }
      for try await count in group { #expect(count == 1) }
    }
    #expect(try await tracker.track(picture, at: 1e6).subjects.count == 1)
    await #expect(throws: ApusError.self) { try await tracker.track(picture, at: 0) }
  }
}
