// SPDX-License-Identifier: Apache-2.0

/// The postprocessing of a single-shot detector: decodes boxes from anchors and keeps the best that do not
/// overlap.
///
/// The result equals that of sorting all scores, stably and in descending order, and then suppressing
/// overlaps. But candidates wait in a heap, and only boxes whose turn comes before enough are chosen are
/// decoded.
package struct DetectionSelection: Sendable {
  /// Which classes of a box compete.
  package enum Mode: Hashable, Sendable {
    /// Each box competes with its best class; a chosen box lists this many of its best classes.
    case bestClass(listing: Int)
    /// Each class competes separately, and chooses at most this many boxes.
    case everyClass(perClass: Int)
  }

  /// The divisors of encodings.
  package struct Scaling: Hashable, Sendable {
    let y, x, height, width: Float

    /// Creates a scaling.
    package init(y: Float, x: Float, height: Float, width: Float) {
      self.y = y
      self.x = x
      self.height = height
      self.width = width
    }
  }

  /// How a tensor's elements represent real numbers.
  package enum Elements: Sendable {
    /// Real numbers.
    case float32
    /// `scale · (byte − zeroPoint)` for each of the 256 bytes.
    case uint8([Float])

    /// The elements of a tensor of bytes.
    package static func uint8(scale: Float, zeroPoint: Int32) -> Elements {
      .uint8((0..<256).map { (Float($0) - Float(zeroPoint)) * scale })
    }
  }

  /// The number of boxes.
  let boxCount: Int
  /// The numbers that encode one box; the first four are used.
  let encodingWidth: Int
  /// The number of classes, without the background.
  let classCount: Int
  /// The scores per box; one more than classes if the first is the background's.
  let scoreWidth: Int
  let mode: Mode
  let maximumDetections: Int
  let scoreThreshold: Float
  let overlapThreshold: Float
  let scaling: Scaling
  let encodings: Elements
  let scores: Elements
  let anchors: Elements

  /// Describes a selection. `boxCount · classCount` must fit in 32 bits, `scoreWidth` is `classCount` or one
  /// more, `encodingWidth` at least 4.
  package init(
    boxCount: Int, encodingWidth: Int, classCount: Int, scoreWidth: Int, mode: Mode, maximumDetections: Int,
    scoreThreshold: Float, overlapThreshold: Float, scaling: Scaling, encodings: Elements, scores: Elements,
    anchors: Elements
  ) {
    precondition(scoreWidth == classCount || scoreWidth == classCount + 1)
    precondition(classCount > 0 && encodingWidth >= 4 && boxCount * classCount <= Int(UInt32.max))
    self.boxCount = boxCount
    self.encodingWidth = encodingWidth
    self.classCount = classCount
    self.scoreWidth = scoreWidth
    self.mode = mode
    self.maximumDetections = maximumDetections
    self.scoreThreshold = scoreThreshold
    self.overlapThreshold = overlapThreshold
    self.scaling = scaling
    self.encodings = encodings
    self.scores = scores
    self.anchors = anchors
  }

  // MARK: Memory

  /// The maximum number of candidates per box.
  var candidatesPerBox: Int {
    switch mode {
    case .bestClass: 1
    case .everyClass: classCount
    }
  }

  /// The classes that a chosen box lists.
  var listedCount: Int {
    switch mode {
    case .bestClass(let listing): min(listing, classCount)
    case .everyClass: 1
    }
  }

  /// The boxes per tile, which depend on shapes only.
  var boxesPerTile: Int { max(1, 8_192 / scoreWidth) }

  /// The maximum number of candidates per tile.
  var candidatesPerTile: Int { boxesPerTile * candidatesPerBox }

  var tileCount: Int { (boxCount + boxesPerTile - 1) / boxesPerTile }

  /// The maximum number of detections.
  var capacity: Int { min(maximumDetections, boxCount * candidatesPerBox) }

  /// The bytes of scratch memory that a run needs.
  package var scratchByteCount: Int {
    // Candidates, counts and first candidates of tiles, one row's classes (8 bytes each), chosen boxes, counts of classes (4 each).
    8 * (boxCount * candidatesPerBox + 2 * tileCount + classCount) + 4
      * (ChosenBoxes.elementCount(capacity) + classCount)
  }
}
