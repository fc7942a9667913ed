// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Finds the poses of persons in PoseNet's maps, best first.
///
/// Source: Papandreou et al., "PersonLab: Person Pose Estimation and Instance Segmentation with a Bottom-Up,
/// Part-Based, Geometric Embedding Model" (2018), as implemented by Coral's `PosenetDecoderOp`.
package struct PoseDecoding: Sendable {
  /// The points of a pose.
  package static let pointCount = PoseSkeleton.pointCount
  /// The rows and columns of a mask.
  package static let maskSize = 33
  /// The numbers of channels of the maps: scores, short displacements, and displacements from point to point.
  package static let channels = (scores: 17, short: 34, middle: 64)

  private let height: Int
  private let width: Int
  private let most: Int
  private let threshold: Float
  private let radius: Float
  private let stride: Float

  /// Describes a decoder for maps of `height × width` pixels, both positive.
  ///
  /// - Parameters:
  ///   - most: the maximum number of poses.
  ///   - threshold: the minimum score, as a probability.
  ///   - radius: the minimum distance of equal points of different poses, in pixels of the maps.
  ///   - stride: pixels of the picture per pixel of the maps.
  package init(height: Int, width: Int, most: Int, threshold: Float, radius: Float, stride: Float) {
    precondition(height > 0 && width > 0 && most >= 0)
    self.height = height
    self.width = width
    self.most = most
    self.threshold = threshold
    self.radius = radius
    self.stride = stride
  }

  private var candidateCount: Int { height * width * Self.pointCount }

  /// The bytes of memory that a run needs.
  package var scratchByteCount: Int {
    // For each pose its points, their scores, its own score and its number.
    MemoryLayout<ScoreHeap.Entry>.stride * candidateCount + most * (Self.pointCount * 12 + 8)
  }

  /// Writes points (row, column), their scores, and scores of poses; zeros follow. Returns the number of
  /// poses.
  ///
  /// - Parameters:
  ///   - scores: logits, as floats.
  ///   - short: floats in units of the maps' pixels, like `middle`.
  package func run(
    scores logits: RawSpan, short: RawSpan, middle: RawSpan, points: inout MutableSpan<Float>,
    pointScores: inout MutableSpan<Float>, scores: inout MutableSpan<Float>, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) -> Int {
    let (count, channels) = (Self.pointCount, Self.channels)
    let byteCount = 4 * height * width
    precondition(
      logits.byteCount >= byteCount * channels.scores && short.byteCount >= byteCount * channels.short
        && middle.byteCount >= byteCount * channels.middle && points.count >= most * count * 2
        && pointScores.count >= most * count && scores.count >= most
        && scratch.byteCount >= scratchByteCount)
    for index in points.indices { points[index] = 0 }
    for index in pointScores.indices { pointScores[index] = 0 }
    for index in scores.indices { scores[index] = 0 }
    return unsafe scratch.withUnsafeMutableBytes { scratch in
      unsafe logits.withUnsafeBytes { logits in
        unsafe short.withUnsafeBytes { short in
          unsafe middle.withUnsafeBytes { middle in
            guard let base = scratch.baseAddress else { return 0 }
            let queueByteCount = MemoryLayout<ScoreHeap.Entry>.stride * candidateCount
            var finder = unsafe PoseFinder(
              logits: PixelSampling(logits, height, width, channels: channels.scores),
              short: PixelSampling(short, height, width, channels: channels.short),
              middle: PixelSampling(middle, height, width, channels: channels.middle),
              queue: ScoreHeap(base, capacity: candidateCount), poses: PoseList(base + queueByteCount, most))
            finder.findPoses(threshold: threshold, radius: radius, threads: threads)
            return write(finder.poses, &points, &pointScores, &scores)
          }
        }
      }
    }
  }

  /// Copies poses whose scores reach the threshold, in pixels of the picture.
  private func write(
    _ poses: PoseList, _ points: inout MutableSpan<Float>, _ pointScores: inout MutableSpan<Float>,
    _ scores: inout MutableSpan<Float>
  ) -> Int {
    for place in 0..<poses.count {
      let pose = unsafe Int(poses.numbers[place])
      guard unsafe poses.scores[pose] >= threshold else { return place }
      for index in 0..<Self.pointCount {
        let (source, target) = (pose &* Self.pointCount &+ index, place &* Self.pointCount &+ index)
        let point = unsafe poses.points[source]
        points[2 &* target] = point.y * stride
        points[2 &* target &+ 1] = point.x * stride
        pointScores[target] = unsafe poses.pointScores[source]
      }
      scores[place] = unsafe poses.scores[pose]
    }
    return poses.count
  }
}

/// Masks of the pixels that belong to each pose, by a pixel's displacements to all points of its pose.
package struct PoseMasks: Sendable {
  private let stride: Float

  /// Describes masks of maps with `stride` pixels of the picture per pixel.
  package init(stride: Float) {
    self.stride = stride
  }

  /// Writes a mask of 33 × 33 pixels for each of `count` poses; zeros follow.
  ///
  /// - Parameters:
  ///   - displacements: 33 × 33 × 34 floats, in pixels of the map.
  ///   - points: rows and columns of the poses' points.
  package func run(
    displacements: RawSpan, points: Span<Float>, count: Int, to masks: inout MutableSpan<Float>
  ) {
    let (size, channels) = (PoseDecoding.maskSize, PoseDecoding.channels.short)
    precondition(
      displacements.byteCount >= 4 * size * size * channels && points.count >= count * channels
        && masks.count >= count * size * size)
    for index in masks.indices { masks[index] = 0 }
    guard count > 0 else { return }
    unsafe displacements.withUnsafeBytes { values in
      let map = unsafe PixelSampling(values, size, size, channels: channels)
      unsafe withUnsafeTemporaryAllocation(of: SIMD2<Float>.self, capacity: PoseSkeleton.pointCount) {
        places in
        for row in 0..<size {
          for column in 0..<size {
            // The targets of a pixel's displacements, which do not depend on the pose.
            for index in 0..<PoseSkeleton.pointCount {
              var place = SIMD2(Float(row), Float(column), yFirst: ())
              for _ in 0..<3 { place = map.displaced(place, index, index &+ PoseSkeleton.pointCount) }
              unsafe places.initializeElement(at: index, to: place * stride)
            }
            let pose = unsafe nearest(UnsafeBufferPointer(places), points, count)
            masks[(pose &* size &+ row) &* size &+ column] = 1
          }
        }
      }
    }
  }

  /// The pose whose points are nearest to these positions.
  private func nearest(_ places: UnsafeBufferPointer<SIMD2<Float>>, _ points: Span<Float>, _ count: Int)
    -> Int
  {
    var (best, least) = (0, Float.infinity)
    for pose in 0..<count {
      var distance: Float = 0
      for index in 0..<PoseSkeleton.pointCount {
        let first = 2 &* (pose &* PoseSkeleton.pointCount &+ index)
        let difference = unsafe places[index] - SIMD2(points[first], points[first &+ 1], yFirst: ())
        distance += (difference * difference).sum()
      }
      if distance < least { (best, least) = (pose, distance) }
    }
    return best
  }
}
