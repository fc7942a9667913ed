// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The end of a detector by the book: decode everything, sort everything, suppress pair by pair.
package struct ReferenceDetection {
  /// The parameters, as the operator's options name them.
  package var boxCount = 0
  package var encodingWidth = 4
  package var classCount = 1
  package var hasBackground = false
  package var usesRegularSuppression = false
  package var maximumDetections = 10
  package var classesPerDetection = 1
  package var detectionsPerClass = 100
  package var scoreThreshold: Float = 0
  package var overlapThreshold: Float = 0.5
  package var scales: [Float] = [10, 10, 5, 5]

  /// The outputs.
  package struct Result: Equatable {
    /// Four edges for each row.
    package var boxes: [Float]
    /// The class of each row.
    package var classes: [Float]
    /// The score of each row.
    package var scores: [Float]
    /// The number of boxes.
    package var count: Float

    /// Collects the outputs.
    package init(boxes: [Float], classes: [Float], scores: [Float], count: Float) {
      self.boxes = boxes
      self.classes = classes
      self.scores = scores
      self.count = count
    }
  }

  /// Makes the default parameters.
  package init() {}

  private func decode(_ encoding: [Float], _ anchor: [Float]) -> [Float] {
    let (height, width) = (Double(anchor[2]), Double(anchor[3]))
    let y = Float(Double(encoding[0]) / Double(scales[0]) * height + Double(anchor[0]))
    let x = Float(Double(encoding[1]) / Double(scales[1]) * width + Double(anchor[1]))
    let halfHeight = Float(0.5 * exp(Double(encoding[2]) / Double(scales[2])) * height)
    let halfWidth = Float(0.5 * exp(Double(encoding[3]) / Double(scales[3])) * width)
    return [y - halfHeight, x - halfWidth, y + halfHeight, x + halfWidth]
  }

  private func overlap(_ a: [Float], _ b: [Float]) -> Float {
    let areaA = (a[2] - a[0]) * (a[3] - a[1])
    let areaB = (b[2] - b[0]) * (b[3] - b[1])
    if areaA <= 0 || areaB <= 0 { return 0 }
    // As `std::max` and `std::min`: the first value where one is not a number.
    func most(_ lhs: Float, _ rhs: Float) -> Float { lhs < rhs ? rhs : lhs }
    func least(_ lhs: Float, _ rhs: Float) -> Float { rhs < lhs ? rhs : lhs }
    let height = most(least(a[2], b[2]) - most(a[0], b[0]), 0)
    let width = most(least(a[3], b[3]) - most(a[1], b[1]), 0)
    return height * width / (areaA + areaB - height * width)
  }

  /// The boxes kept for one list of scores, best first.
  private func select(_ scores: [Float], _ boxes: [[Float]], limit: Int) -> [Int] {
    let sorted = scores.indices.filter { scores[$0] >= scoreThreshold }
      .sorted { (-scores[$0], $0) < (-scores[$1], $1) }
    var selected: [Int] = []
    for candidate in sorted where selected.count < limit {
      let isFree = selected.allSatisfy { !(overlap(boxes[$0], boxes[candidate]) > overlapThreshold) }
      if isFree { selected.append(candidate) }
    }
    return selected
  }

  /// All outputs; unused slots are zero.
  package func run(encodings: [Float], scores: [Float], anchors: [Float]) -> Result {
    let rowCount = maximumDetections * classesPerDetection
    var result = Result(
      boxes: Array(repeating: 0, count: 4 * rowCount), classes: Array(repeating: 0, count: rowCount),
      scores: Array(repeating: 0, count: rowCount), count: 0)
    let width = classCount + (hasBackground ? 1 : 0)
    let boxes = (0..<boxCount).map { box in
      decode(
        Array(encodings[box * encodingWidth..<box * encodingWidth + 4]), Array(anchors[4 * box..<4 * box + 4])
      )
    }
    func score(_ box: Int, _ index: Int) -> Float { scores[box * width + width - classCount + index] }
    func store(_ row: Int, _ box: Int, _ index: Int) {
      result.boxes.replaceSubrange(4 * row..<4 * row + 4, with: boxes[box])
      result.classes[row] = Float(index)
      result.scores[row] = score(box, index)
    }
    if usesRegularSuppression {
      var merged: [(box: Int, index: Int)] = []
      for index in 0..<classCount {
        let ofClass = (0..<boxCount).map { score($0, index) }
        let selected = select(ofClass, boxes, limit: min(detectionsPerClass, maximumDetections))
        merged += selected.map { ($0, index) }
        merged = merged.enumerated()
          .sorted {
            (-score($0.element.box, $0.element.index), $0.offset) < (
              -score($1.element.box, $1.element.index), $1.offset
            )
          }
          .map(\.element)
        merged = Array(merged.prefix(maximumDetections))
      }
      for (row, entry) in merged.enumerated() { store(row, entry.box, entry.index) }
      result.count = Float(merged.count)
    } else {
      let best = (0..<boxCount).map { box in (0..<classCount).map { score(box, $0) }.max() ?? 0 }
      let selected = select(best, boxes, limit: maximumDetections)
      for (position, box) in selected.enumerated() {
        let order = (0..<classCount).sorted { (-score(box, $0), $0) < (-score(box, $1), $1) }
        for (column, index) in order.prefix(classesPerDetection).enumerated() {
          store(position * classesPerDetection + column, box, index)
        }
      }
      result.count = Float(selected.count)
    }
    return result
  }
}
