// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

/// Class shares of a segmenter that sees only a part of the picture.
@Suite struct SegmentedRegionTests {
  /// A segmenter whose left quarter is of class 0, and the rest of class 1.
  private func segmenter(_ fit: FitPolicy?) throws -> ImageSegmenter {
    var base = BaseOptions()
    base.fit = fit
    let scores = (0..<64).flatMap { ($0 % 8 < 2 ? [1, 0] : [0, 1]) as [Float] }
    let model = DetectorModel.answering([.init(shape: [1, 8, 8, 2], values: scores)])
    return try ImageSegmenter(model: model.model(), options: .init(baseOptions: base))
  }

  @Test("pixels outside the region or the crop have the class of an edge, and no share")
  func countsWhatTheModelSaw() throws {
    let image = try ImageBuffer(
      bytes: [UInt8](repeating: 128, count: 3 * 80 * 40), width: 80, height: 40, format: .rgb)
    for (fit, region, seen) in [
      (nil, nil, 0..<80), (nil, PixelRect(x: 8, y: 4, width: 16, height: 16), 8..<24),
      (.centerCrop, nil, 20..<60), (.letterbox(), nil, 0..<80),
    ] as [(FitPolicy?, PixelRect?, Range<Int>)] {
      let result = try segmenter(fit).segment(image, in: region)
      #expect(result.classes.map(\.index) == [1, 0])
      #expect(abs((result.classes.last?.share ?? 0) - 0.25) < 0.02, "\(result.classes)")
      #expect(abs(result.classes.reduce(0) { $0 + $1.share } - 1) < 1e-9)
      #expect(result.categoryMask.count == 80 * 40)
      #expect(result.category(x: 0, y: 0) == 0 && result.category(x: 79, y: 39) == 1)
      #expect(result.category(x: seen.lowerBound, y: 20) == 0)
    }
  }
}
