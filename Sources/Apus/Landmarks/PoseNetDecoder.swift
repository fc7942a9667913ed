// SPDX-License-Identifier: Apache-2.0
import ApusKernels
import ApusRuntime

/// Finds poses in PoseNet's maps outside of a model, as Coral's `PosenetDecoderOp` does inside one.
package struct PoseNetDecoder: Sendable {
  /// A pose in pixels of the model's input.
  package struct Pose: Sendable {
    /// The mean of the points' scores, without points that better poses share.
    package let score: Float
    /// Row, column and score of each point.
    package let points: [(y: Float, x: Float, score: Float)]
  }

  /// The points of a pose.
  package static let pointCount = PoseDecoding.pointCount
  /// How many channels the maps have: of scores, of short displacements, and of those from point to point.
  package static let channels = PoseDecoding.channels

  private let height: Int
  private let width: Int
  private let stride: Float

  /// Describes maps of `height × width` cells, `stride` pixels apart; nil for impossible sizes.
  package init?(height: Int, width: Int, stride: Float) {
    let (cells, overflow) = height.multipliedReportingOverflow(by: width)
    guard height > 0, width > 0, !overflow, cells <= 1 << 20, stride > 0, stride.isFinite else { return nil }
    self.height = height
    self.width = width
    self.stride = stride
  }

  /// How many cells the maps have.
  package var cellCount: Int { height * width }

  /// The poses that score enough, best first.
  ///
  /// - Parameters:
  ///   - scores: logits, `height × width × 17`.
  ///   - short: displacements in pixels of the input, `height × width × 34`.
  ///   - middle: displacements from point to point, `height × width × 64`.
  ///   - most: the maximum number of poses.
  ///   - radius: the minimum distance of points of one kind, in pixels of the input.
  package func poses(
    scores: [Float], short: [Float], middle: [Float], most: Int = 64, threshold: Float, radius: Float = 20
  ) -> [Pose] {
    let decoding = PoseDecoding(
      height: height, width: width, most: most, threshold: threshold, radius: radius / stride,
      stride: stride)
    let short = short.map { $0 / stride }
    let middle = middle.map { $0 / stride }
    let count = Self.pointCount
    var points = [Float](repeating: 0, count: most * count * 2)
    var pointScores = [Float](repeating: 0, count: most * count)
    var poseScores = [Float](repeating: 0, count: most)
    var scratch = [UInt64](repeating: 0, count: decoding.scratchByteCount / 8 + 1)
    var pointSpan = points.mutableSpan
    var pointScoreSpan = pointScores.mutableSpan
    var scoreSpan = poseScores.mutableSpan
    var scratchSpan = scratch.mutableSpan
    var scratchBytes = unsafe scratchSpan.mutableBytes
    let found = unsafe decoding.run(
      scores: scores.span.bytes, short: short.span.bytes, middle: middle.span.bytes, points: &pointSpan,
      pointScores: &pointScoreSpan, scores: &scoreSpan, scratch: &scratchBytes,
      threads: ThreadTeam(count: 1))
    return (0..<found).map { pose in
      Pose(
        score: poseScores[pose],
        points: (0..<count).map { point in
          let place = pose * count + point
          return (y: points[2 * place], x: points[2 * place + 1], score: pointScores[place])
        })
    }
  }
}
