// SPDX-License-Identifier: Apache-2.0

/// Elementwise kernels and reductions of a matrix done one after the other to a block of rows at a time, which stays in the
/// first-level cache: what normalizes rows by their means is so.
///
/// Stages compute a value for each element or one for each row. The last may fold columns. Those of floats for which there is
/// code are one function of it, sums of rows included. Each computes what its kernel would alone: results are the same to the
/// bit.
@safe package struct RowChain: ChainKernel {
  /// What a stage computes.
  package enum Stage: Sendable {
    /// A value for each element, or for each row.
    case elements(ElementwiseStage)
    /// A float for each row, or, as the last stage, for each column.
    case reduction(ReductionStage)
  }

  /// The most stages.
  package static let mostStages = 16
  /// The elements of a block, unless a row has more.
  private static let blockLength = 2048
  /// The same where code does some of the stages.
  private static let codeBlockLength = 4096
  /// The longest rows whose stages stay in the cache.
  private static let mostDepth = 4096
  /// Rows up to this length that all others meet are copied side by side.
  private static let longestCopy = 256
  /// The shortest rows that are folded.
  private static let leastDepth = 4

  /// How an operand runs along the rows: so many rows, then it begins anew; and the elements that each row has of its own.
  private struct Course: Equatable {
    let rows: Int
    let elements: Int
    var count: Int { rows * elements }
  }

  /// Where a stage reads. A few numbers, so that no run counts references to them.
  private struct Operand: BitwiseCopyable, Sendable {
    /// A tensor by its number; −1 for what lies in a worker's memory.
    let tensor: Int
    let place: Int
    /// After how many rows it begins anew.
    let rows: Int
    /// Bytes from a row to the next.
    let stride: Int
    /// One, or zero where a row has one element for all of the result's.
    let step: Int
    /// Whether one stretch of it serves all rows of a block.
    let isJoined: Bool

    /// The operand of a stage that takes all rows of a block at once.
    var joined: Self {
      Self(tensor: tensor, place: place, rows: rows, stride: stride, step: 1, isJoined: true)
    }
  }

  /// Where a stage reads and writes; numbers alone, as for operands.
  private struct Step {
    let operands: UpToEight<Operand>
    /// Where results are kept, in bytes from a worker's memory on; −1 for those of the chain.
    let place: Int
    /// Elements of a row of the result, and its bytes.
    let length: Int
    let byteCount: Int
    let hasTail: Bool
    /// Whether rows of a block are one stretch.
    let isJoined: Bool
    /// What code divides sums by.
    let divisor: Float
  }

  private struct Tensor {
    let course: Course
    let stride: Int
    /// Where its row is repeated, in bytes from a worker's memory on; nil where it is read as it lies.
    var copy: Int?
    var byteCount: Int { course.count * stride }
  }

  private let rows: Int
  private let depth: Int
  private let blockRows: Int
  private let steps: [Step]
  /// What stages compute, and what is done to the floats of some.
  private let fills: [ElementwiseStage.Fill]
  private let tails: [PostOperation?]
  /// The code of steps that are several stages, or a sum.
  private let codes: [FormulaCode?]
  package let parts: ChainParts
  private let tensors: [Tensor]
  /// The tensors that the last stage reads.
  private let lastTensors: [Int]
  /// The reduction of columns at the end, whose sums of parts come first in the memory of a run.
  private let columns: ReductionStage?
  private let outputByteCount: Int
  private let workerByteCount: Int
  /// Whether the last elementwise stage allows its result where an operand is.
  private let lastMayOverwrite: Bool

  /// Chains stages over `rows` rows of `depth` elements, each of which reads tensors and results of those before it.
  ///
  /// Nil where they do not fit each other, are too many, or do not pay.
  ///
  /// - Parameter set: what may have code for stages of floats that follow each other.
  package init?(
    _ stages: [(stage: Stage, sources: [ElementwiseChain.Source])], tensorCount: Int, rows: Int, depth: Int,
    using set: KernelSet? = nil
  ) {
    guard rows > 0, (1...Self.mostDepth).contains(depth), (2...Self.mostStages).contains(stages.count),
      tensorCount <= ChainInputs.mostTensors
    else { return nil }
    var known = [Tensor?](repeating: nil, count: tensorCount)
    var shapes: [(course: Course, stride: Int)] = []
    var isRead = Array(repeating: false, count: stages.count)
    var columns: ReductionStage?
    var folds = false
    for (index, (stage, sources)) in stages.enumerated() {
      var operands: [(course: Course, stride: Int)] = []
      switch stage {
      case .reduction(let reduction):
        guard reduction.rows == rows, reduction.depth == depth else { return nil }
        operands = [(Course(rows: rows, elements: depth), 4)]
        if case .columns = reduction.direction {
          guard index == stages.count - 1 else { return nil }
          columns = reduction
        } else if depth < Self.leastDepth {
          return nil
        }
        folds = true
        shapes.append((Course(rows: rows, elements: 1), 4))
      case .elements(let stage):
        let length = stage.elementCount == rows * depth ? depth : 1
        guard stage.elementCount == rows * length, stage.stride <= 8 else { return nil }
        for operand in stage.operands {
          guard let course = Self.course(operand, rows: rows, depth: depth, length: length) else {
            return nil
          }
          operands.append((course, operand.stride))
        }
        shapes.append((Course(rows: rows, elements: length), stage.stride))
      }
      guard sources.count == operands.count, (1...2).contains(sources.count) else { return nil }
      for (source, operand) in zip(sources, operands) {
        switch source {
        case .tensor(let number):
          guard known.indices.contains(number) else { return nil }
          if let before = known[number] {
            guard before.course == operand.course, before.stride == operand.stride else { return nil }
          }
          known[number] = Tensor(course: operand.course, stride: operand.stride)
        case .stage(let number):
          guard number < index, shapes[number] == operand else { return nil }
          isRead[number] = true
        }
      }
    }
    guard folds, isRead.dropLast().allSatisfy({ $0 }) else { return nil }
    self.rows = rows
    self.depth = depth
    self.columns = columns
    let grouped = stages.map { stage in
      switch stage.stage {
      case .elements(let own):
        GroupedStage(
          formula: own.formula, sources: stage.sources, level: own.elementCount == rows * depth ? depth : 1)
      case .reduction(let own):
        GroupedStage(
          formula: own.isSum && columns == nil ? FloatFormula(inputCount: 1).summed() : nil,
          sources: stage.sources, level: depth)
      }
    }
    let groups = StageGroups.groups(of: grouped) { formula, last, sources in
      let courses = sources.map { source in
        switch source {
        case .tensor(let number): known[number]?.course ?? Course(rows: 0, elements: 0)
        case .stage(let number): shapes[number].course
        }
      }
      let length = grouped[last].level
      guard
        let repeats = Self.repeats(of: courses, rows: rows, length: length, isJoined: length < depth),
        length < depth ? formula.steps.count > 1 : depth.isMultiple(of: FormulaCode.unit)
      else { return nil }
      return formula.repeating(repeats).flatMap { try? set?.elementwise?.formula($0) }
    }
    parts = ChainParts(
      groups.map { group in
        let isCode = group.code != nil
        switch stages[group.last].stage {
        case .elements(let stage):
          return ChainParts.Part(
            way: stage.way, stageCount: group.stageCount, isCode: isCode, choice: stage.choice)
        case .reduction(let stage):
          return ChainParts.Part(
            way: isCode ? "generated sums of rows" : stage.way, stageCount: group.stageCount, isCode: isCode,
            choice: nil)
        }
      }, using: set)
    let hasCode = groups.contains { $0.code != nil }
    let blockRows = max(1, min((hasCode ? Self.codeBlockLength : Self.blockLength) / depth, rows))
    self.blockRows = blockRows
    let groupShapes = groups.map { shapes[$0.last] }
    let stride = groupShapes.map(\.stride).max() ?? 8
    // A line more, so that results do not follow each other by whole pages, which the processor takes for one place.
    var (places, end) = StageGroups.places(
      of: groups,
      byteCounts: groupShapes.map { roundedUp(blockRows * $0.course.elements * stride, to: 64) + 64 })
    // What code reads lies where it does.
    var isCopied = Array(repeating: false, count: tensorCount)
    for group in groups where group.code == nil {
      for case .tensor(let number) in group.sources { isCopied[number] = true }
    }
    for group in groups where group.code != nil {
      for case .tensor(let number) in group.sources { isCopied[number] = false }
    }
    var tensors: [Tensor] = []
    for (number, tensor) in known.enumerated() {
      guard var tensor else { return nil }
      if isCopied[number], tensor.course == Course(rows: 1, elements: depth), depth > 1, blockRows > 1,
        depth <= Self.longestCopy
      {
        tensor.copy = end
        end += roundedUp(blockRows * depth * tensor.stride, to: 64)
      }
      tensors.append(tensor)
    }
    self.tensors = tensors
    workerByteCount = roundedUp(end, to: 64)
    steps = groups.enumerated().map { index, group in
      let length = groupShapes[index].course.elements
      let code = group.code
      // The elements that a row of operands has, of sums more than one of the result.
      let operandLength = grouped[group.last].level
      func operand(_ source: ElementwiseChain.Source) -> Operand {
        switch source {
        case .stage(let number):
          let (course, stride) = groupShapes[number]
          let isOwn = course.elements == operandLength
          return Operand(
            tensor: -1, place: places[number], rows: rows, stride: course.elements * stride,
            step: isOwn ? 1 : 0,
            isJoined: isOwn)
        case .tensor(let number):
          let (course, stride) = (tensors[number].course, tensors[number].stride)
          if let copy = tensors[number].copy {
            return Operand(
              tensor: -1, place: copy, rows: rows, stride: depth * stride, step: 1, isJoined: true)
          }
          let stays = course.count == 1
          return Operand(
            tensor: number, place: 0, rows: course.rows, stride: course.elements * stride,
            step: stays || course.elements != operandLength ? 0 : 1,
            isJoined: stays || course == Course(rows: rows, elements: operandLength))
        }
      }
      let operands = group.sources.map(operand)
      switch stages[group.last].stage {
      case .elements(let kernel):
        return Step(
          operands: UpToEight(operands), place: places[index], length: length,
          byteCount: length * kernel.stride, hasTail: code == nil && kernel.tail != nil,
          isJoined: code == nil ? operands.allSatisfy(\.isJoined) : length < depth, divisor: 1)
      case .reduction(let reduction):
        // All rows of a block are folded at once.
        return Step(
          operands: UpToEight(code == nil ? operands.map(\.joined) : operands), place: places[index],
          length: 1,
          byteCount: 4, hasTail: false, isJoined: code == nil, divisor: reduction.divisor ?? 1)
      }
    }
    codes = groups.map(\.code)
    unsafe fills = groups.map { group in
      switch stages[group.last].stage {
      case .elements(let kernel): unsafe kernel.fill
      case .reduction(let reduction): unsafe reduction.fill
      }
    }
    tails = groups.map { if case .elements(let kernel) = stages[$0.last].stage { kernel.tail } else { nil } }
    let last = stages[stages.count - 1]
    lastTensors = groups[groups.count - 1].sources.compactMap {
      if case .tensor(let number) = $0 { number } else { nil }
    }
    outputByteCount = columns == nil ? rows * steps[steps.count - 1].byteCount : depth * 4
    if case .elements(let stage) = last.stage {
      lastMayOverwrite = stage.mayOverwrite
    } else {
      lastMayOverwrite = false
    }
  }

  /// Which operands have one float for a row, if code can read them all: each has an element or a row for each of the result, or
  /// one for all rows.
  private static func repeats(of courses: [Course], rows: Int, length: Int, isJoined: Bool) -> [Bool]? {
    var repeats: [Bool] = []
    for course in courses {
      guard course.rows == rows || course.rows == 1, course.elements == length || course.elements == 1 else {
        return nil
      }
      if isJoined {
        guard course.count == 1 || course.rows == rows else { return nil }
        repeats.append(course.count == 1)
      } else {
        repeats.append(course.elements == 1)
      }
    }
    return repeats
  }

  /// How an operand of a stage runs along the rows, of which the stage's results have `length` elements; nil if in no way
  /// that is known here.
  private static func course(_ operand: ElementwiseStage.Operand, rows: Int, depth: Int, length: Int)
    -> Course?
  {
    let (period, repeats) = (operand.period, operand.repeats)
    if period == 1, repeats == 1 { return Course(rows: 1, elements: 1) }
    if length == 1 { return period == rows && repeats == 1 ? Course(rows: rows, elements: 1) : nil }
    if repeats == 1 {
      return period.isMultiple(of: depth) ? Course(rows: period / depth, elements: depth) : nil
    }
    return repeats == depth && period == rows ? Course(rows: rows, elements: 1) : nil
  }

  /// The sums of the parts of columns.
  private var sumByteCount: Int { columnParts > 0 ? roundedUp(columnParts * depth * 4, to: 64) : 0 }
  private var columnParts: Int { if case .columns(let parts) = columns?.direction { parts } else { 0 } }

  package func scratchByteCount(threads: Int) -> Int { 64 + sumByteCount + threads * workerByteCount }

  package func mayOverwrite(_ tensor: Int) -> Bool {
    guard columns == nil, let last = steps.last else { return false }
    let own = tensors[tensor]
    guard own.course.rows == rows, own.course.elements * own.stride == last.byteCount, own.copy == nil,
      own.course.elements == last.length
    else { return false }
    return lastMayOverwrite || !lastTensors.contains(tensor)
  }

  package var implementation: String {
    "in blocks of \(blockRows) rows of \(depth): \(parts.text)"
  }

  // MARK: Running

  package func run(
    _ inputs: ChainInputs, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(inputs.count == tensors.count && output.byteCount >= outputByteCount)
    precondition(scratch.byteCount >= scratchByteCount(threads: threads.count))
    for (index, tensor) in tensors.enumerated() {
      precondition(inputs.byteCounts[index] >= tensor.byteCount)
    }
    unsafe output.withUnsafeMutableBytes { output in
      unsafe scratch.withUnsafeMutableBytes { scratch in
        guard let output = output.baseAddress, let scratch = scratch.baseAddress else { return }
        let memory = unsafe scratch.alignedUp(toMultipleOf: 64)
        let length = threads.tileLength(rows &* depth, least: 1 << 12, most: 1 << 15)
        let work = unsafe Work(
          chain: self, inputs: inputs.addresses, output: output, sums: memory, scratch: memory + sumByteCount,
          rows: roundedUp(max(1, length / depth), to: blockRows))
        guard columnParts == 0 else {
          threads.run(tiles: columnParts, work)
          return unsafe join(
            memory.assumingMemoryBound(to: Float.self), output.assumingMemoryBound(to: Float.self))
        }
        threads.run(tiles: ceilingQuotient(rows, work.rows), work)
      }
    }
  }

  /// Adds the sums of the parts, in their order.
  private func join(_ sums: UnsafeMutablePointer<Float>, _ output: UnsafeMutablePointer<Float>) {
    for column in 0..<depth {
      var sum = unsafe sums[column]
      for part in 1..<max(columnParts, 1) {
        sum = unsafe SumOfFloats.join(sum, sums[part &* depth &+ column])
      }
      unsafe output[column] = columns?.divisor.map { sum / $0 } ?? sum
    }
  }

  @safe private struct Work: TileWork {
    let chain: RowChain
    let inputs: SIMD8<Int>
    let output: UnsafeMutableRawPointer
    let sums: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer
    /// Rows of a tile.
    let rows: Int

    func run(tile: Int, worker: Int) {
      let memory = unsafe scratch + worker &* chain.workerByteCount
      unsafe chain.repeatRows(inputs, memory)
      guard chain.columnParts > 0 else {
        let first = tile &* rows
        return unsafe chain.run(first..<min(first &+ rows, chain.rows), inputs, output, memory)
      }
      let sums = unsafe sums + tile &* chain.depth &* 4
      for column in 0..<chain.depth {
        unsafe sums.storeBytes(of: 0, toByteOffset: 4 &* column, as: Float.self)
      }
      unsafe chain.run(share(of: chain.rows, tile: tile, of: chain.columnParts), inputs, sums, memory)
    }
  }

  /// Copies rows that all others meet side by side, as many as a block has.
  private func repeatRows(_ inputs: SIMD8<Int>, _ memory: UnsafeMutableRawPointer) {
    for (index, tensor) in tensors.enumerated() {
      guard let copy = tensor.copy, let source = unsafe UnsafeRawPointer(bitPattern: inputs[index]) else {
        continue
      }
      for row in 0..<blockRows {
        unsafe (memory + (copy &+ row &* tensor.byteCount)).copyMemory(
          from: source, byteCount: tensor.byteCount)
      }
    }
  }

  /// Does a range of rows, a block at a time.
  private func run(
    _ range: Range<Int>, _ inputs: SIMD8<Int>, _ output: UnsafeMutableRawPointer,
    _ memory: UnsafeMutableRawPointer
  ) {
    var first = range.lowerBound
    while first < range.upperBound {
      let end = min(first &+ blockRows, range.upperBound)
      for index in 0..<steps.count {
        if columnParts > 0, index == steps.count &- 1 {
          unsafe addColumns(
            of: steps[index].operands[0], inputs, from: first, count: end &- first, memory, to: output)
        } else {
          unsafe run(index, inputs, first..<end, memory, output)
        }
      }
      first = end
    }
  }

  /// Does a stage of a block of rows.
  private func run(
    _ index: Int, _ inputs: SIMD8<Int>, _ rows: Range<Int>, _ memory: UnsafeMutableRawPointer,
    _ output: UnsafeMutableRawPointer
  ) {
    let step = steps[index]
    if let code = codes[index] { return unsafe run(code, step, inputs, rows, memory, output) }
    let fill = unsafe fills[index]
    let first = rows.lowerBound
    let (left, right) = (step.operands[0], step.operands[step.operands.count &- 1])
    let result = unsafe step.place < 0 ? output + first &* step.byteCount : memory + step.place
    if step.isJoined {
      unsafe fill(
        result, rows.count &* step.length, address(of: left, inputs, first, 0, memory), left.step,
        address(of: right, inputs, first, 0, memory), right.step)
    } else {
      for row in 0..<rows.count {
        unsafe fill(
          result + row &* step.byteCount, step.length, address(of: left, inputs, first, row, memory),
          left.step, address(of: right, inputs, first, row, memory), right.step)
      }
    }
    guard step.hasTail, let tail = tails[index] else { return }
    let total = rows.count &* step.length
    var done = 0
    while done < total {
      let part = min(total &- done, PostOperation.stretch)
      unsafe tail.apply(
        to: result.assumingMemoryBound(to: Float.self) + done, position: first &* step.length &+ done,
        count: part)
      done &+= part
    }
  }

  /// Does stages of a block of rows by code.
  private func run(
    _ code: FormulaCode, _ step: Step, _ inputs: SIMD8<Int>, _ rows: Range<Int>,
    _ memory: UnsafeMutableRawPointer, _ output: UnsafeMutableRawPointer
  ) {
    let first = rows.lowerBound
    let result = unsafe step.place < 0 ? output + first &* step.byteCount : memory + step.place
    var call = FormulaCode.Rows(output: Int(bitPattern: result), inputs: SIMD8<Int>())
    for index in 0..<step.operands.count {
      let operand = step.operands[index]
      call.inputs[index] = unsafe Int(bitPattern: address(of: operand, inputs, first, 0, memory))
      call.strides[index] = operand.rows == 1 ? 0 : operand.stride
    }
    guard !step.isJoined else { return code.run(call, depth: rows.count) }
    call.count = rows.count
    call.outputStride = step.byteCount
    call.divisor = step.divisor
    code.run(call, depth: depth)
  }

  /// Where a row of an operand begins: so many rows after the first one of a block.
  @inline(__always)
  private func address(
    of operand: Operand, _ inputs: SIMD8<Int>, _ first: Int, _ row: Int, _ memory: UnsafeMutableRawPointer
  ) -> UnsafeRawPointer {
    guard operand.tensor >= 0 else {
      return unsafe UnsafeRawPointer(memory + (operand.place &+ row &* operand.stride))
    }
    // Tensors with elements have an address.
    let source = unsafe UnsafeRawPointer(bitPattern: inputs[operand.tensor]) ?? UnsafeRawPointer(memory)
    let place = first &+ row
    let own = operand.rows == rows ? place : operand.rows == 1 ? 0 : place % operand.rows
    return unsafe source + own &* operand.stride
  }

  /// Adds a block of rows to the sums of their columns.
  private func addColumns(
    of operand: Operand, _ inputs: SIMD8<Int>, from first: Int, count: Int, _ memory: UnsafeMutableRawPointer,
    to sums: UnsafeMutableRawPointer
  ) {
    let source = unsafe address(of: operand, inputs, first, 0, memory)
    unsafe SumOfFloats.combineColumns(
      sums.assumingMemoryBound(to: Float.self), source.assumingMemoryBound(to: Float.self), stride: depth,
      rows: count, columns: depth)
  }
}
