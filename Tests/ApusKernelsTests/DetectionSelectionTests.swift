// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import ReferenceKernels
import TestSupport
import Testing

@Suite struct DetectionSelectionTests {
  /// A random problem; scores have few distinct values, so that there are ties.
  private struct Case {
    var reference = ReferenceDetection()
    let encodings: [UInt8]
    let scores: [UInt8]
    let anchors: [UInt8]

    static let encodingQuantization = (scale: Float(0.0625), zeroPoint: Int32(120))
    static let scoreQuantization = (scale: Float(1.0 / 256), zeroPoint: Int32(0))
    static let anchorQuantization = (scale: Float(0.00390625), zeroPoint: Int32(-2))

    init(seed: Int) {
      var random = SeededGenerator(seed: UInt64(seed))
      func draw(_ values: [Int]) -> Int { values.randomElement(using: &random) ?? 0 }
      reference.boxCount = draw([0, 1, 2, 17, 100, 333, 900])
      reference.encodingWidth = draw([4, 4, 5, 12])
      reference.classCount = draw([1, 2, 7, 15, 16, 17, 33, 90])
      reference.hasBackground = draw([0, 1]) == 1
      reference.usesRegularSuppression = draw([0, 1]) == 1
      reference.maximumDetections = draw([1, 10, 50, 400])
      reference.classesPerDetection = draw([1, 1, 2, 5])
      reference.detectionsPerClass = draw([1, 3, 100])
      reference.scoreThreshold = Float(draw([0, 1, 100, 200, 300])) / 256
      reference.overlapThreshold = Float(draw([1, 5, 10])) / 10
      let levels = draw([2, 20, 256])
      func bytes(_ count: Int, _ values: ClosedRange<Int>) -> [UInt8] {
        (0..<count).map { _ in UInt8(Int.random(in: values, using: &random)) }
      }
      let width = reference.classCount + (reference.hasBackground ? 1 : 0)
      encodings = bytes(reference.boxCount * reference.encodingWidth, 60...180)
      scores = bytes(reference.boxCount * width, 0...(levels - 1))
      anchors = bytes((reference.boxCount + draw([0, 3])) * 4, 0...255)
    }

    /// Whether some encodings are not numbers.
    var hasNaN = false

    func real(_ bytes: [UInt8], _ quantization: (scale: Float, zeroPoint: Int32)) -> [Float] {
      bytes.map { (Float($0) - Float(quantization.zeroPoint)) * quantization.scale }
    }

    var realEncodings: [Float] {
      real(encodings, Self.encodingQuantization).enumerated().map { index, value in
        hasNaN && index % 23 == 5 ? .nan : value
      }
    }

    var expected: ReferenceDetection.Result {
      reference.run(
        encodings: realEncodings, scores: real(scores, Self.scoreQuantization),
        anchors: real(anchors, Self.anchorQuantization))
    }

    func selection(bytes: Bool) -> DetectionSelection {
      func elements(_ quantization: (scale: Float, zeroPoint: Int32)) -> DetectionSelection.Elements {
        bytes ? .uint8(scale: quantization.scale, zeroPoint: quantization.zeroPoint) : .float32
      }
      return DetectionSelection(
        boxCount: reference.boxCount, encodingWidth: reference.encodingWidth,
        classCount: reference.classCount,
        scoreWidth: reference.classCount + (reference.hasBackground ? 1 : 0),
        mode: reference.usesRegularSuppression
          ? .everyClass(perClass: min(reference.detectionsPerClass, reference.maximumDetections))
          : .bestClass(listing: reference.classesPerDetection),
        maximumDetections: reference.maximumDetections, scoreThreshold: reference.scoreThreshold,
        overlapThreshold: reference.overlapThreshold,
        scaling: .init(
          y: reference.scales[0], x: reference.scales[1], height: reference.scales[2],
          width: reference.scales[3]),
        encodings: elements(Self.encodingQuantization), scores: elements(Self.scoreQuantization),
        anchors: elements(Self.anchorQuantization))
    }

    /// The kernel's answer, into memory that was not zero.
    func answer(bytes: Bool, threads: Int) -> ReferenceDetection.Result? {
      let selection = selection(bytes: bytes)
      let rows = reference.maximumDetections * reference.classesPerDetection
      var boxes = [Float](repeating: 9, count: 4 * rows)
      var classes = [Float](repeating: 9, count: rows)
      var found = [Float](repeating: 9, count: rows)
      var count: [Float] = [9]
      // Of 16 bytes each, so that the memory is aligned as tensors are.
      var scratch = [SIMD16<UInt8>](
        repeating: .init(repeating: 77), count: selection.scratchByteCount / 16 + 1)
      let realEncodings = realEncodings
      let realScores = real(scores, Self.scoreQuantization)
      let realAnchors = real(anchors, Self.anchorQuantization)
      let inputs = DetectionSelection.Inputs(
        encodings: bytes ? encodings.span.bytes : realEncodings.span.bytes,
        scores: bytes ? scores.span.bytes : realScores.span.bytes,
        anchors: bytes ? anchors.span.bytes : realAnchors.span.bytes)
      var boxSpan = boxes.mutableSpan
      var classSpan = classes.mutableSpan
      var foundSpan = found.mutableSpan
      var countSpan = count.mutableSpan
      var scratchSpan = scratch.mutableSpan
      var scratchBytes = scratchSpan.mutableBytes
      let inverted = selection.run(
        inputs, boxes: &boxSpan, classes: &classSpan, detectionScores: &foundSpan, count: &countSpan,
        scratch: &scratchBytes, threads: ThreadTeam(count: threads))
      guard inverted == nil else { return nil }
      return .init(boxes: boxes, classes: classes, scores: found, count: count[0])
    }
  }

  @Test("boxes that are not numbers overlap as those of the reference do", arguments: 0..<60)
  func notANumber(seed: Int) {
    var problem = Case(seed: seed)
    problem.hasNaN = true
    let (expected, found) = (problem.expected, problem.answer(bytes: false, threads: 1))
    #expect(found?.classes == expected.classes)
    #expect(found?.scores == expected.scores)
    #expect(found?.count == expected.count)
  }

  @Test("chooses what sorting everything would choose, for every thread count", arguments: 0..<120)
  func matchesReference(seed: Int) {
    let problem = Case(seed: seed)
    let expected = problem.expected
    for threads in 1...3 {
      #expect(problem.answer(bytes: false, threads: threads) == expected)
      #expect(problem.answer(bytes: true, threads: threads) == expected)
    }
  }
}
