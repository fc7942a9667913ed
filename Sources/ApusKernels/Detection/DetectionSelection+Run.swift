// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension DetectionSelection {
  /// The inputs of a run.
  package struct Inputs: ~Escapable {
    let encodings: RawSpan
    let scores: RawSpan
    let anchors: RawSpan

    /// Collects the tensors of encodings, scores and anchors, which have a row per box.
    @_lifetime(copy encodings, copy scores, copy anchors)
    package init(encodings: RawSpan, scores: RawSpan, anchors: RawSpan) {
      self.encodings = encodings
      self.scores = scores
      self.anchors = anchors
    }
  }

  /// Chooses detections and writes them, best first; the rest of the outputs becomes zero.
  ///
  /// - Parameters:
  ///   - boxes: four edges for each element of `classes`: top, left, bottom, right.
  ///   - classes: class indices, without the background.
  ///   - detectionScores: the score of each class.
  ///   - count: one element: the number of boxes chosen.
  /// - Returns: nil, or the index of a box whose edges are on the wrong sides; then nothing is written.
  package func run(
    _ inputs: Inputs, boxes: inout MutableSpan<Float>, classes: inout MutableSpan<Float>,
    detectionScores: inout MutableSpan<Float>, count: inout MutableSpan<Float>, scratch: inout MutableRawSpan,
    threads: ThreadTeam
  ) -> Int? {
    precondition(inputs.encodings.byteCount == boxCount * encodingWidth * encodings.byteCount)
    precondition(inputs.scores.byteCount == boxCount * scoreWidth * scores.byteCount)
    precondition(inputs.anchors.byteCount >= boxCount * 4 * anchors.byteCount)
    precondition(
      classes.count >= maximumDetections * rowsPerDetection && classes.count == detectionScores.count)
    precondition(
      boxes.count == 4 * classes.count && count.count == 1 && scratch.byteCount >= scratchByteCount)
    let outputs = unsafe Outputs(
      boxes: boxes.withUnsafeMutableBufferPointer { unsafe $0 },
      classes: classes.withUnsafeMutableBufferPointer { unsafe $0 },
      scores: detectionScores.withUnsafeMutableBufferPointer { unsafe $0 })
    let memory = unsafe scratch.withUnsafeMutableBytes { $0.baseAddress }
    guard boxCount > 0, let memory = unsafe memory else {
      outputs.clear(from: 0)
      count[0] = 0
      return nil
    }
    var found = 0
    let inverted = unsafe inputs.encodings.withUnsafeBytes { encodingBytes in
      unsafe inputs.scores.withUnsafeBytes { scoreBytes in
        unsafe inputs.anchors.withUnsafeBytes { anchorBytes -> Int? in
          guard let encodingBase = encodingBytes.baseAddress, let scoreBase = scoreBytes.baseAddress,
            let anchorBase = anchorBytes.baseAddress
          else { return nil }
          return unsafe withValues { encodingValues, scoreValues, anchorValues in
            let decoder = unsafe DetectionBoxes(
              encodings: RealElements(encodingBase, values: encodingValues), encodingWidth: encodingWidth,
              anchors: RealElements(anchorBase, values: anchorValues), scaling: scaling)
            if let inverted = decoder.firstInverted(count: boxCount) { return inverted }
            let background = scoreWidth - classCount
            let work = unsafe Memory(memory, self)
            if let scoreValues = unsafe scoreValues {
              let source = unsafe ByteDetectionScores(
                base: scoreBase.assumingMemoryBound(to: UInt8.self) + background, rowStride: scoreWidth,
                classCount: classCount, values: scoreValues, threshold: scoreThreshold)
              found = select(source, decoder, work, outputs, threads)
            } else {
              let source = unsafe FloatDetectionScores(
                base: scoreBase.assumingMemoryBound(to: Float.self) + background, rowStride: scoreWidth,
                classCount: classCount, threshold: scoreThreshold)
              found = select(source, decoder, work, outputs, threads)
            }
            return nil
          }
        }
      }
    }
    if inverted == nil { count[0] = Float(found) }
    return inverted
  }

  /// Rows of the outputs per detection.
  private var rowsPerDetection: Int {
    switch mode {
    case .bestClass(let listing): listing
    case .everyClass: 1
    }
  }

  /// Calls `body` with the floats that the bytes of encodings, scores and anchors represent; nil for float tensors.
  private func withValues(
    _ body: (UnsafePointer<Float>?, UnsafePointer<Float>?, UnsafePointer<Float>?) -> Int?
  ) -> Int? {
    unsafe encodings.withValues { encodings in
      unsafe scores.withValues { scores in
        unsafe anchors.withValues { anchors in unsafe body(encodings, scores, anchors) }
      }
    }
  }

  @safe private struct Outputs {
    let boxes: UnsafeMutableBufferPointer<Float>
    let classes: UnsafeMutableBufferPointer<Float>
    let scores: UnsafeMutableBufferPointer<Float>

    func store(_ box: DetectionBox, class index: Int, score: Float, row: Int) {
      unsafe boxes[4 &* row] = box.top
      unsafe boxes[4 &* row &+ 1] = box.left
      unsafe boxes[4 &* row &+ 2] = box.bottom
      unsafe boxes[4 &* row &+ 3] = box.right
      unsafe classes[row] = Float(index)
      unsafe scores[row] = score
    }

    /// Zeroes one row.
    func clear(row: Int) {
      store(DetectionBox(top: 0, left: 0, bottom: 0, right: 0), class: 0, score: 0, row: row)
    }

    /// Zeroes the rows from `first` on.
    func clear(from first: Int) {
      for row in unsafe first..<max(first, classes.count) { clear(row: row) }
    }
  }

  /// The parts of a run's scratch memory.
  @safe private struct Memory {
    let chosen: ChosenBoxes
    let candidates: UnsafeMutablePointer<UInt64>
    let tileCounts: UnsafeMutablePointer<Int>
    /// The first candidate of each tile that has one.
    let tileKeys: UnsafeMutablePointer<UInt64>
    let classKeys: UnsafeMutablePointer<UInt64>
    let classCounts: UnsafeMutablePointer<Int32>

    init(_ base: UnsafeMutableRawPointer, _ selection: DetectionSelection) {
      var next = unsafe base
      func take<T: BitwiseCopyable>(_ count: Int) -> UnsafeMutablePointer<T> {
        let start = unsafe next.bindMemory(to: T.self, capacity: count)
        unsafe next += count * MemoryLayout<T>.stride
        return unsafe start
      }
      unsafe candidates = take(selection.boxCount * selection.candidatesPerBox)
      unsafe tileCounts = take(selection.tileCount)
      unsafe tileKeys = take(selection.tileCount)
      unsafe classKeys = take(selection.classCount)
      unsafe chosen = ChosenBoxes(take(ChosenBoxes.elementCount(selection.capacity)), selection.capacity)
      unsafe classCounts = take(selection.classCount)
    }
  }

  /// Scans the scores of one tile of boxes, and makes a heap of its candidates.
  private struct Scan: TileWork {
    let source: AnyDetectionScores
    let selection: DetectionSelection
    let memory: Memory

    func run(tile: Int, worker: Int) {
      switch source {
      case .floats(let scores): scan(scores, tile: tile)
      case .bytes(let scores): scan(scores, tile: tile)
      }
    }

    @inline(__always)
    private func scan<Scores: DetectionScores>(_ source: Scores, tile: Int) {
      let first = tile &* selection.boxesPerTile
      let end = min(first &+ selection.boxesPerTile, selection.boxCount)
      let keys = unsafe memory.candidates + tile &* selection.candidatesPerTile
      var count = 0
      if case .bestClass = selection.mode {
        for row in first..<end {
          let score = source.maximum(row: row)
          guard score >= selection.scoreThreshold else { continue }
          unsafe keys[count] = CandidateHeap.key(score: score, number: row)
          count &+= 1
        }
      } else {
        let boxCount = selection.boxCount
        for row in first..<end {
          source.forEachCandidate(row: row) { index, score in
            unsafe keys[count] = CandidateHeap.key(score: score, number: index &* boxCount &+ row)
            count &+= 1
          }
        }
      }
      unsafe memory.tileCounts[tile] = CandidateHeap(keys, count: count).count
    }
  }

  /// The candidates of all tiles: a heap per tile, and a heap of their first ones.
  private struct Candidates {
    let selection: DetectionSelection
    let memory: Memory
    private var heads: CandidateHeap

    init(_ selection: DetectionSelection, _ memory: Memory) {
      self.selection = selection
      self.memory = memory
      var count = 0
      for tile in 0..<selection.tileCount where unsafe memory.tileCounts[tile] > 0 {
        unsafe memory.tileKeys[count] = memory.candidates[tile * selection.candidatesPerTile]
        count += 1
      }
      unsafe heads = CandidateHeap(memory.tileKeys, count: count)
    }

    /// Removes the first candidate and returns its index; nil if none is left.
    mutating func removeFirst() -> Int? {
      guard heads.count > 0 else { return nil }
      let number = CandidateHeap.number(heads.first)
      let tile = number % selection.boxCount / selection.boxesPerTile
      var heap = unsafe CandidateHeap(
        heaped: memory.candidates + tile * selection.candidatesPerTile, count: memory.tileCounts[tile])
      _ = heap.removeFirst()
      unsafe memory.tileCounts[tile] = heap.count
      if heap.count > 0 { heads.replaceFirst(with: heap.first) } else { _ = heads.removeFirst() }
      return number
    }
  }

  private func select<Scores: DetectionScores>(
    _ source: Scores, _ decoder: DetectionBoxes, _ memory: Memory, _ outputs: Outputs, _ threads: ThreadTeam
  ) -> Int {
    threads.run(tiles: tileCount, Scan(source: source.anyScores, selection: self, memory: memory))
    var candidates = Candidates(self, memory)
    let perClass: Int
    switch mode {
    case .bestClass: perClass = .max
    case .everyClass(let limit):
      perClass = limit
      unsafe memory.classCounts.update(repeating: 0, count: classCount)
    }
    memory.chosen.removeAll()
    var chosen = 0
    var poll = StopPoll(threads)
    while chosen < maximumDetections, !poll.mustStop(before: chosen &+ 64),
      let number = candidates.removeFirst()
    {
      let (index, row) = number.quotientAndRemainder(dividingBy: boxCount)
      if perClass < .max, unsafe Int(memory.classCounts[index]) >= perClass { continue }
      let box = decoder.box(row)
      let label = Int32(truncatingIfNeeded: index)
      guard !memory.chosen.hasOverlap(above: overlapThreshold, with: box, label: label, count: chosen) else {
        continue
      }
      memory.chosen.set(chosen, box, label: label)
      if perClass < .max {
        unsafe memory.classCounts[index] &+= 1
        outputs.store(box, class: index, score: source.score(row: row, class: index), row: chosen)
      } else {
        if poll.mustStop(before: 4 &* classCount) { break }
        list(box, row, at: chosen, source, memory, outputs)
      }
      chosen += 1
    }
    outputs.clear(from: chosen * rowsPerDetection)
    return chosen
  }

  /// Writes a box once for each of its best classes; of equal scores, lower classes come first.
  private func list<Scores: DetectionScores>(
    _ box: DetectionBox, _ row: Int, at chosen: Int, _ source: Scores, _ memory: Memory, _ outputs: Outputs
  ) {
    let start = chosen * rowsPerDetection
    if listedCount == 1 {
      let best = source.maximum(row: row)
      var index = 0
      while index < classCount - 1, source.score(row: row, class: index) != best { index += 1 }
      outputs.store(box, class: index, score: source.score(row: row, class: index), row: start)
    } else {
      for index in 0..<classCount {
        unsafe memory.classKeys[index] = CandidateHeap.key(
          score: source.score(row: row, class: index), number: index)
      }
      var heap = unsafe CandidateHeap(memory.classKeys, count: classCount)
      for column in 0..<listedCount {
        let index = heap.removeFirst()
        outputs.store(box, class: index, score: source.score(row: row, class: index), row: start + column)
      }
    }
    for column in listedCount..<max(rowsPerDetection, listedCount) { outputs.clear(row: start + column) }
  }
}

extension DetectionSelection.Elements {
  /// The bytes of one element.
  var byteCount: Int {
    switch self {
    case .float32: 4
    case .uint8: 1
    }
  }

  /// Calls `body` with the floats that bytes represent; nil for a float tensor.
  func withValues<R>(_ body: (UnsafePointer<Float>?) -> R) -> R {
    switch self {
    case .float32: body(nil)
    case .uint8(let values):
      unsafe values.withUnsafeBufferPointer { values in unsafe body(values.baseAddress) }
    }
  }
}
