// SPDX-License-Identifier: Apache-2.0
import Apus

/// Holds answers against the reading of their model: what the reading cannot have is never reported.
struct AnswerCheck {
  /// How the model is read; asked only for messages.
  let readings: () -> [Assumption]

  /// Holds answers against readings.
  init(_ readings: @escaping @autoclosure () -> [Assumption]) { self.readings = readings }

  /// The minimum score of an object that speaks against a reading: models learn no places for what is hardly there.
  private static let minimumTelling: Float = 0.05
  /// The error that rounding may add to a number.
  private static let tolerance: Float = 0.01
  /// How far the whole of a box may lie outside the input, in sides of it, and a class from a whole number.
  private static let margin: Float = 0.1
  /// How far a box may reach beyond the input, in sides of it.
  private static let reach: Float = 2

  /// A score of 0 to 1, without what rounding added.
  func score(_ score: Float) throws(ApusError) -> Float {
    if score >= 0, score <= 1 { return score }
    guard score >= -Self.tolerance, score <= 1 + Self.tolerance else {
      throw refusal("an answer has a score of \(score), not 0 to 1", "scores", "layout")
    }
    return score < 0 ? 0 : 1
  }

  /// A box in fractions of the input, without a size that rounding made negative.
  ///
  /// - Throws: `invalidData` for a box whose edges are no numbers, of negative size, or far outside.
  func checked(_ box: BoundingBox) throws(ApusError) -> BoundingBox {
    try checkEdges(box.minX, box.minY, box.maxX, box.maxY)
    guard box.maxX - box.minX >= -Self.tolerance, box.maxY - box.minY >= -Self.tolerance else {
      throw refusal(
        "an answer has a box of \(box.maxX - box.minX) × \(box.maxY - box.minY) of the input", "box units",
        "layout")
    }
    for edge in [box.minX, box.minY, box.maxX, box.maxY] { try check(position: edge) }
    guard box.maxX >= -Self.margin, box.maxY >= -Self.margin, box.minX <= 1 + Self.margin,
      box.minY <= 1 + Self.margin
    else {
      throw refusal(
        "an answer has a box outside the input, from (\(box.minX), \(box.minY)) to (\(box.maxX), \(box.maxY)) of its sides",
        "box units", "layout")
    }
    return BoundingBox(
      minX: box.minX, minY: box.minY, maxX: max(box.maxX, box.minX), maxY: max(box.maxY, box.minY))
  }

  /// The objects that the reading can have. One that it cannot have is left out if it has hardly any score.
  ///
  /// - Parameters:
  ///   - score: The score of an object, as a probability.
  ///   - checked: The object without what rounding added; throws if the reading cannot have it.
  /// - Throws: What `checked` throws for an object with a score, or for all objects of the answer.
  func possible<Object>(
    _ objects: [Object], score: (Object) -> Float, _ checked: (Object) throws(ApusError) -> Object
  ) throws(ApusError) -> [Object] {
    var possible: [Object] = []
    var refusal: ApusError?
    for object in objects {
      do throws(ApusError) { possible.append(try checked(object)) } catch {
        guard score(object) < Self.minimumTelling else { throw error }
        refusal = refusal ?? error
      }
    }
    if possible.isEmpty, let refusal { throw refusal }
    return possible
  }

  /// Refuses edges of a box that counts which are no numbers.
  func checkEdges(_ edges: Float...) throws(ApusError) {
    guard let odd = edges.first(where: { !$0.isFinite }) else { return }
    throw refusal("an answer has a box with an edge at \(odd)", "layout")
  }

  /// Refuses a class of an answer that is no whole number from 0 on.
  ///
  /// - Parameter isExact: Whether the output holds floats; integers of an output with coarse steps may be rounded.
  func check(class number: Float, isExact: Bool) throws(ApusError) {
    guard
      !number.isFinite || number.rounded() < 0
        || isExact && abs(number - number.rounded()) > Self.margin
    else { return }
    throw refusal("an answer has a class of \(number), not a whole number from 0 on", "layout")
  }

  /// Refuses scores that are not numbers: whether their rows count cannot be told.
  ///
  /// - Parameters:
  ///   - first: Where the score of the first row and the first class is.
  ///   - rows: How many rows there are, and how far apart.
  ///   - columns: How many classes each row has a score for, and how far apart.
  func refuseNaN(
    in values: Span<Float>, from first: Int, rows: (count: Int, step: Int), columns: (count: Int, step: Int)
  ) throws(ApusError) {
    let (outer, inner) = rows.step < columns.step ? (columns, rows) : (rows, columns)
    for line in 0..<outer.count {
      guard !values.hasNaN(from: first + line * outer.step, count: inner.count, step: inner.step) else {
        throw refusal("an answer has a score that is not a number", "layout")
      }
    }
  }

  /// Refuses scores that are not numbers.
  func refuseNaN(in values: [Float]) throws(ApusError) {
    try refuseNaN(in: values.span, from: 0, rows: (1, 1), columns: (values.count, 1))
  }

  /// Refuses a position, in fractions of the input, that is far outside.
  func check(position: Float) throws(ApusError) {
    guard position >= -Self.reach, position <= 1 + Self.reach else {
      throw refusal(
        "an answer has a position of \(position) times the input's side", "box units", "layout")
    }
  }

  /// The point of a pose, without what rounding added to its score.
  ///
  /// - Parameters:
  ///   - threshold: The score from which on a point has a place.
  ///   - areRaw: Whether scores may be any numbers.
  /// - Throws: `invalidData` for numbers that no point has.
  func checked(_ point: ModelKeypoint, threshold: Float, areRaw: Bool) throws(ApusError) -> ModelKeypoint {
    var point = point
    guard point.x.isFinite, point.y.isFinite else {
      throw refusal("an answer has a point at (\(point.x), \(point.y))", "layout")
    }
    if let score = point.score {
      if !areRaw {
        point.score = try self.score(score)
      } else if score.isNaN {
        throw refusal("an answer has a point whose score is not a number", "scores", "layout")
      }
    }
    if (point.score ?? 1) >= threshold {
      try check(position: point.x)
      try check(position: point.y)
    }
    return point
  }

  /// Refuses classes whose score is the same in every row of an output, which no model gives, unless it is 0: bytes round small
  /// scores to that.
  ///
  /// - Parameters:
  ///   - classes: Those that the answer has.
  ///   - value: The number of a row and a class.
  func refuseConstant(_ classes: Set<Int>, rows: Int, _ value: (Int, Int) -> Float) throws(ApusError) {
    guard rows >= Self.minimumConstant else { return }
    for index in classes.sorted() {
      let first = value(0, index)
      if first != 0, (1..<rows).allSatisfy({ value($0, index) == first }) {
        throw refusal(
          "class \(index) has the score \(first) in each of the \(rows) candidates", "layout", "scores")
      }
    }
  }

  /// How many rows must agree.
  private static let minimumConstant = 16

  /// An error that names the readings which an answer contradicts, and the options that decide them.
  func refusal(_ what: String, _ subjects: String...) -> ApusError {
    let doubtful = readings().filter { subjects.contains($0.subject) }.map(\.text)
    return ApusError(
      .invalidData, "\(what), which the reading of the model cannot have: \(doubtful.joined(separator: "; "))"
    )
  }
}

extension Span<Float> {
  /// Whether one of the numbers at `first`, `first + step` and so on is NaN.
  fileprivate func hasNaN(from first: Int, count: Int, step: Int) -> Bool {
    // NaN has the largest bits. A maximum of integers needs no order, so the loop is one of vectors.
    var greatest: UInt32 = 0
    if step == 1 {
      let part = extracting(first..<first + count)
      for index in 0..<part.count { greatest = Swift.max(greatest, part[index].bitPattern & 0x7FFF_FFFF) }
    } else {
      for index in 0..<count {
        greatest = Swift.max(greatest, self[first + index * step].bitPattern & 0x7FFF_FFFF)
      }
    }
    return greatest > Float.infinity.bitPattern
  }
}
