// SPDX-License-Identifier: Apache-2.0

// Nothing but this import, as in an app: Foundation comes with it.
import TensorFlowLite

/// A class as apps have it around an interpreter: it is made of two files, takes frames, and returns boxes.
final class FrameHandler: NSObject {
  struct Inference {
    let confidence: Float
    let className: String
    let rect: CGRect
  }

  private let threshold: Float = 0.5
  private let inputWidth = 160, inputHeight = 160, inputChannels = 3, batchSize = 1
  private var interpreter: Interpreter
  private var labels: [String] = []

  init?(modelPath: String, labelsPath: String, threadCount: Int = 1) {
    var options = Interpreter.Options()
    options.threadCount = threadCount
    do {
      interpreter = try Interpreter(modelPath: modelPath, options: options)
      try interpreter.allocateTensors()
    } catch {
      return nil
    }
    super.init()
    guard let text = try? String(contentsOf: URL(fileURLWithPath: labelsPath), encoding: .utf8) else {
      return nil
    }
    labels = text.components(separatedBy: .newlines)
  }

  /// Finds objects in RGBA pixels of the model's size, and places them in a picture of any size.
  func run(onFrame pixels: [UInt8], width: Int, height: Int) -> (
    milliseconds: Double, inferences: [Inference]
  )? {
    do {
      let input = try interpreter.input(at: 0)
      guard
        let rgb = rgbData(
          pixels, byteCount: batchSize * inputWidth * inputHeight * inputChannels,
          isModelQuantized: input.dataType == .uInt8)
      else { return nil }
      try interpreter.copy(rgb, toInputAt: 0)
      let start = Date()
      try interpreter.invoke()
      let interval = Date().timeIntervalSince(start) * 1000
      let boxes = try interpreter.output(at: 0)
      let classes = try interpreter.output(at: 1)
      let scores = try interpreter.output(at: 2)
      let count = try interpreter.output(at: 3)
      return (
        interval,
        inferences(
          boxes: [Float](unsafeData: boxes.data) ?? [], classes: [Float](unsafeData: classes.data) ?? [],
          scores: [Float](unsafeData: scores.data) ?? [],
          count: Int(([Float](unsafeData: count.data) ?? [0])[0]), width: CGFloat(width),
          height: CGFloat(height))
      )
    } catch {
      return nil
    }
  }

  private func inferences(
    boxes: [Float], classes: [Float], scores: [Float], count: Int, width: CGFloat, height: CGFloat
  ) -> [Inference] {
    (0..<count).filter { scores[$0] >= threshold }.map { index in
      let edges = boxes[4 * index..<4 * index + 4].map { CGFloat($0) }
      return Inference(
        confidence: scores[index], className: labels[Int(classes[index]) + 1],
        rect: CGRect(
          x: edges[1] * width, y: edges[0] * height, width: (edges[3] - edges[1]) * width,
          height: (edges[2] - edges[0]) * height))
    }.sorted { $0.confidence > $1.confidence }
  }

  private func rgbData(_ pixels: [UInt8], byteCount: Int, isModelQuantized: Bool) -> Data? {
    let rgb = pixels.enumerated().filter { $0.offset % 4 < 3 }.map(\.element)
    guard rgb.count == byteCount else { return nil }
    return isModelQuantized ? Data(rgb) : Data(copyingBufferOf: rgb.map { Float($0) / 255 })
  }
}

extension Data {
  fileprivate init<T>(copyingBufferOf array: [T]) {
    self = array.withUnsafeBufferPointer(Data.init)
  }
}

extension Array {
  fileprivate init?(unsafeData: Data) {
    guard unsafeData.count % MemoryLayout<Element>.stride == 0 else { return nil }
    self = unsafeData.withUnsafeBytes { .init($0.bindMemory(to: Element.self)) }
  }
}
