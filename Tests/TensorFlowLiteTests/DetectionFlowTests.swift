// SPDX-License-Identifier: Apache-2.0

import ApusShapes
import TensorFlowLite
import TestSupport
import Testing

/// Whole programs in the API of TensorFlowLiteSwift: a class of an app that detects objects in frames, and the steps
/// of a guide for models of AutoML Vision Edge.
///
/// The model is the embedded detector. The expected boxes are those of LiteRT 2.3.0 with `BUILTIN_REF` for the same
/// pixels, to the digits given.
struct DetectionFlowTests {
  /// A model's side.
  static let side = 160

  /// A red disk and a blue rectangle on white, as RGBA.
  static let frame: [UInt8] = (0..<side * side).flatMap { index -> [UInt8] in
    let (x, y) = (index % side, index / side)
    let isInDisk = (x - 50) * (x - 50) + (y - 50) * (y - 50) <= 28 * 28
    if isInDisk { return [170, 30, 40, 255] }
    if (90..<140).contains(x), (80..<135).contains(y) { return [30, 60, 160, 255] }
    return [235, 235, 235, 255]
  }

  /// Calls `body` with the files that an app would have in its bundle.
  private func withFiles<R>(labels: String, _ body: (_ model: String, _ labels: String) throws -> R) throws
    -> R
  {
    try withTemporaryFolder { folder in
      let (model, names) = (folder.appending(path: "detect.tflite"), folder.appending(path: "labels.txt"))
      try Data(EmbeddedShapes.modelBytes).write(to: model)
      try labels.write(to: names, atomically: true, encoding: .utf8)
      return try body(model.path, names.path)
    }
  }

  @Test("a handler of frames finds both shapes, most confident first, in pixels", arguments: [1, 2])
  func detectsInFrames(threadCount: Int) throws {
    let labels = "???\ntriangle\nrectangle\npentagon\ncircle"
    try withFiles(labels: labels) { model, labels in
      let handler = try #require(FrameHandler(modelPath: model, labelsPath: labels, threadCount: threadCount))
      for _ in 0..<3 {
        let found = try #require(handler.run(onFrame: Self.frame, width: 640, height: 480))
        #expect(found.inferences.map(\.className) == ["circle", "rectangle"])
        #expect(found.inferences.map(\.confidence) == [0.9921875, 0.9609375])
        let circle = found.inferences[0].rect
        #expect(abs(circle.minX - 0.13071512 * 640) < 1e-3 && abs(circle.minY - 0.14621927 * 480) < 1e-3)
        #expect(abs(circle.maxX - 0.49016273 * 640) < 1e-3 && abs(circle.maxY - 0.48114806 * 480) < 1e-3)
        #expect(found.milliseconds > 0)
      }
      #expect(handler.run(onFrame: [1, 2, 3], width: 1, height: 1) == nil)
      #expect(FrameHandler(modelPath: labels, labelsPath: labels) == nil)
    }
  }

  @Test("the steps of the guide print both shapes")
  func followsTheGuide() throws {
    try withFiles(labels: "triangle\nrectangle\npentagon\ncircle") { model, labels in
      let lines = try detectedObjects(modelPath: model, labelPath: labels, frame: Self.frame)
      #expect(
        lines == ["circle 0.9921875 (0.14621927, 0.13071512)", "rectangle 0.9609375 (0.49713382, 0.5598949)"])
    }
  }
}
