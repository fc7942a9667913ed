// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Elementwise kernels applied one after the other to a stretch of elements at a time. A stage's results are still in the
/// first-level cache when the next stage reads them, and need no tensor. Stages of floats that a kernel set has code for become
/// one generated function.
///
/// Each stage computes what its kernel computes alone: results are bit-identical.
package struct ElementwiseChain: ChainKernel {
  /// An operand of a stage: a tensor or the result of an earlier stage.
  package enum Source: Hashable, Sendable {
    /// A tensor, by its index among those that the chain reads.
    case tensor(Int)
    /// The result of an earlier stage.
    case stage(Int)
  }

  /// The maximum number of stages.
  package static let maximumStages = 12
  /// The maximum number of tensors that a chain may read.
  package static let maximumTensors = ChainInputs.maximumTensors
  /// The bytes of a stretch in the tensor with the widest elements.
  private static let stretchByteCount = 4096
  /// The widest element that a stage may compute, in bytes.
  private static let maximumByteCount = 8
  /// The longest period, in elements, of an operand that is copied side by side. An operand with a longer one is read in place,
  /// and a stretch ends where it starts over.
  private static let longestCopy = 1024
  /// The fewest repetitions of each element for which spreading an operand out is worth its time.
  private static let minimumRepeats = 64

  private struct Step {
    /// The stage, or the last of the stages that `code` computes.
    let stage: ElementwiseStage
    let code: FormulaCode?
    let operands: UpToEight<Operand>
    /// The offset of the results in a worker's memory, in bytes; −1 for the chain's result.
    let place: Int
    let stride: Int
    let hasTail: Bool
  }

  /// Where a stage reads: from a tensor, by its index, or from an offset in a worker's memory. It holds numbers alone, so that
  /// a run does not count references.
  private struct Operand: BitwiseCopyable, Sendable {
    let tensor: Int
    let place: Int
    /// One, or zero for a scalar that is broadcast.
    let step: Int
  }

  /// A tensor that the chain reads.
  private struct Tensor {
    let period: Int
    let stride: Int
    /// The number of consecutive elements of the result that read each element.
    let repeats: Int
    /// The offset of the expanded copy in a worker's memory, in bytes; nil if the tensor is read in place.
    var copy: Int?

    var stays: Bool { period == 1 && repeats == 1 }
  }

  private let steps: [Step]
  private let tensors: [Tensor]
  /// The tensors that the last stage reads.
  private let lastTensors: [Int]
  private let elementCount: Int
  private let workerByteCount: Int
  /// The number of elements computed at a time; all of them if `isWhole`.
  private let stretch: Int
  private let isWhole: Bool
  package let parts: ChainParts

  /// Chains stages, each of which reads tensors and results of earlier stages. Only the last result is kept.
  ///
  /// - Parameter set: the kernel set that may have code for groups of float stages.
  /// - Throws: `Decline` if the stages do not fit each other or exceed the limits.
  package init(
    _ stages: [(stage: ElementwiseStage, sources: [Source])], tensorCount: Int,
    using set: KernelSet = .portable
  ) throws(Decline) {
    guard let last = stages.last?.stage else { throw Decline("there are no operators") }
    try Decline.require(stages.count, atMost: Self.maximumStages, "the number of operators")
    try Decline.require(tensorCount, atMost: Self.maximumTensors, "the number of tensors")
    elementCount = last.elementCount
    var tensors = [Tensor?](repeating: nil, count: tensorCount)
    var isRead = Array(repeating: false, count: stages.count)
    for (index, (stage, sources)) in stages.enumerated() {
      guard stage.elementCount == last.elementCount, stage.operands.count == sources.count else {
        throw Decline.stagesDiffer
      }
      try Decline.require(stage.stride, atMost: Self.maximumByteCount, "the bytes of an element")
      for (operand, source) in zip(stage.operands, sources) {
        switch source {
        case .tensor(let number):
          guard tensors.indices.contains(number) else { throw Decline.stagesDiffer }
          if let known = tensors[number] {
            guard known.period == operand.period, known.stride == operand.stride,
              known.repeats == operand.repeats
            else { throw Decline("a tensor is broadcast in two ways") }
          }
          guard operand.repeats == 1 || operand.repeats >= Self.minimumRepeats else {
            throw Decline(
              "each element of an operand is repeated \(operand.repeats) times, fewer than \(Self.minimumRepeats)"
            )
          }
          tensors[number] = Tensor(
            period: operand.period, stride: operand.stride, repeats: operand.repeats)
        case .stage(let number):
          guard number < index, operand.period == elementCount, operand.repeats == 1,
            operand.stride == stages[number].stage.stride
          else { throw Decline.stagesDiffer }
          isRead[number] = true
        }
      }
    }
    guard isRead.dropLast().allSatisfy({ $0 }), tensors.allSatisfy({ $0 != nil }) else {
      throw Decline.stagesDiffer
    }
    let widest = stages.reduce(1) { max($0, $1.stage.stride) }
    let stretch = Self.stretchByteCount / tensors.reduce(widest) { max($0, $1?.stride ?? 0) }
    let grouped = stages.map { GroupedStage(formula: $0.stage.formula, sources: $0.sources, level: 0) }
    let groups = StageGroups.groups(of: grouped) { formula, _, sources in
      guard formula.steps.count > 1 else { return nil }
      let repeats = sources.map { source in
        if case .tensor(let number) = source { tensors[number]?.stays == true } else { false }
      }
      return set.choose(otherwise: nil) { set throws(Decline) in try set.code(of: formula, repeats) }
    }
    parts = ChainParts(
      groups.map { group in
        let stage = stages[group.last].stage
        return ChainParts.Part(
          loopDescription: stage.loopDescription, stageCount: group.stageCount, isCode: group.code != nil,
          choice: stage.choice,
          joining: group.choice)
      }, using: set)
    var (places, end) = StageGroups.places(
      of: groups, byteCounts: groups.map { _ in Self.stretchByteCount })
    var known: [Tensor] = []
    for var tensor in tensors.compactMap({ $0 }) {
      if tensor.repeats > 1 {
        tensor.copy = end
        end += roundedUp(stretch * tensor.stride, to: 64) + 64
      } else if tensor.period > 1, tensor.period < elementCount, tensor.period <= Self.longestCopy {
        tensor.copy = end
        end += (stretch + tensor.period) * tensor.stride + 64
        end = roundedUp(end, to: 64)
      }
      known.append(tensor)
    }
    self.tensors = known
    workerByteCount = end
    isWhole = groups.count == 1 && groups[0].code != nil && known.allSatisfy { $0.copy == nil }
    self.stretch = isWhole ? elementCount : stretch
    steps = groups.enumerated().map { index, group in
      let stage = stages[group.last].stage
      let operands = group.sources.map { source in
        switch source {
        case .stage(let number): Operand(tensor: -1, place: places[number], step: 1)
        case .tensor(let number): Operand(tensor: number, place: 0, step: known[number].stays ? 0 : 1)
        }
      }
      return Step(
        stage: stage, code: group.code, operands: UpToEight(operands), place: places[index],
        stride: stage.stride, hasTail: group.code == nil && stage.tail != nil)
    }
    lastTensors = groups[groups.count - 1].sources.compactMap { source in
      if case .tensor(let number) = source { number } else { nil }
    }
  }

  /// The bytes of scratch memory that a run needs.
  package func scratchByteCount(threads: Int) -> Int { 64 + threads * workerByteCount }

  /// Whether the result may overwrite a tensor in place.
  package func mayOverwrite(_ tensor: Int) -> Bool {
    guard let last = steps.last, tensors[tensor].period == elementCount,
      tensors[tensor].stride == last.stage.stride
    else { return false }
    return last.stage.mayOverwrite || !lastTensors.contains(tensor)
  }

  /// The code that runs, as `apus inspect --plan` reports it.
  package var implementation: String {
    isWhole ? parts.text : "in stretches of \(stretch) elements: \(parts.text)"
  }

  // MARK: Running

  /// Computes the result.
  package func run(
    _ inputs: ChainInputs, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    guard elementCount > 0 else { return }
    precondition(
      inputs.count == tensors.count && output.byteCount >= elementCount * steps[steps.count - 1].stage.stride)
    precondition(scratch.byteCount >= scratchByteCount(threads: threads.count))
    for index in tensors.indices {
      precondition(inputs.byteCounts[index] >= tensors[index].period * tensors[index].stride)
    }
    unsafe output.withUnsafeMutableBytes { output in
      unsafe scratch.withUnsafeMutableBytes { scratch in
        guard let output = output.baseAddress, let scratch = scratch.baseAddress else { return }
        let length = roundedUp(
          threads.tileLength(elementCount, least: 1 << 12, most: 1 << 15), to: isWhole ? 1024 : stretch)
        let work = unsafe Work(
          chain: self, inputs: inputs.addresses, output: output,
          scratch: scratch.alignedUp(toMultipleOf: 64), length: length)
        threads.run(tiles: ceilingQuotient(elementCount, length), work)
      }
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let chain: ElementwiseChain
    let inputs: SIMD8<Int>
    let output: UnsafeMutableRawPointer
    let scratch: UnsafeMutableRawPointer
    let length: Int

    func run(tile: Int, worker: Int) {
      let first = tile &* length
      unsafe chain.run(
        first..<min(first &+ length, chain.elementCount), inputs, output,
        scratch + worker &* chain.workerByteCount)
    }
  }

  private func run(
    _ range: Range<Int>, _ inputs: SIMD8<Int>, _ output: UnsafeMutableRawPointer,
    _ memory: UnsafeMutableRawPointer
  ) {
    for (index, tensor) in tensors.enumerated() where tensor.repeats == 1 {
      unsafe repeatElements(of: tensor, at: inputs[index], memory)
    }
    var position = range.lowerBound
    while position < range.upperBound {
      var count = min(stretch, range.upperBound &- position)
      for tensor in tensors where tensor.copy == nil && !tensor.stays {
        count = min(count, tensor.period &- position % tensor.period)
      }
      for (index, tensor) in tensors.enumerated() where tensor.repeats > 1 {
        unsafe spreadElements(of: tensor, at: inputs[index], position, count, memory)
      }
      unsafe steps.withUnsafeBufferPointer { steps in
        for index in steps.indices {
          let (place, stride) = unsafe (steps[index].place, steps[index].stride)
          let result = unsafe place < 0 ? output + position &* stride : memory + place
          let operands = unsafe steps[index].operands
          if let code = unsafe steps[index].code {
            var addresses = SIMD8<Int>()
            for operand in 0..<operands.count {
              addresses[operand] = unsafe Int(
                bitPattern: address(of: operands[operand], inputs, position: position, memory))
            }
            code.run(.init(output: Int(bitPattern: result), inputs: addresses), depth: count)
            continue
          }
          let (first, second) = (operands[0], operands[operands.count &- 1])
          unsafe steps[index].stage.fill(
            result, count, address(of: first, inputs, position: position, memory), first.step,
            address(of: second, inputs, position: position, memory), second.step)
          if unsafe steps[index].hasTail {
            unsafe steps[index].stage.tail?.apply(
              to: result.assumingMemoryBound(to: Float.self), position: position, count: count)
          }
        }
      }
      position &+= count
    }
  }

  /// Copies a short row side by side, so that a stretch is contiguous from any element on.
  private func repeatElements(of tensor: Tensor, at address: Int, _ memory: UnsafeMutableRawPointer) {
    guard let copy = tensor.copy, let source = unsafe UnsafeRawPointer(bitPattern: address) else { return }
    let row = tensor.period &* tensor.stride
    let needed = (stretch &+ tensor.period) &* tensor.stride
    let target = unsafe memory + copy
    unsafe target.copyMemory(from: source, byteCount: row)
    var done = row
    while done < needed {
      let part = min(done, needed &- done)
      unsafe (target + done).copyMemory(from: target, byteCount: part)
      done &+= part
    }
  }

  /// Spreads out a stretch of a tensor: writes each element once for each of its repetitions.
  private func spreadElements(
    of tensor: Tensor, at address: Int, _ position: Int, _ count: Int, _ memory: UnsafeMutableRawPointer
  ) {
    guard let copy = tensor.copy, let source = unsafe UnsafeRawPointer(bitPattern: address) else { return }
    let target = unsafe memory + copy
    switch tensor.stride {
    case 1: spread(UInt8.self)
    case 2: spread(UInt16.self)
    case 4: spread(UInt32.self)
    default: spread(UInt64.self)
    }

    @inline(__always)
    func spread<T: BitwiseCopyable>(_ type: T.Type) {
      let (from, to) = unsafe (source.assumingMemoryBound(to: T.self), target.assumingMemoryBound(to: T.self))
      var (element, before) = position.quotientAndRemainder(dividingBy: tensor.repeats)
      element %= tensor.period
      var done = 0
      while done < count {
        let part = min(count &- done, tensor.repeats &- before)
        unsafe (to + done).update(repeating: from[element], count: part)
        done &+= part
        before = 0
        element = element &+ 1 == tensor.period ? 0 : element &+ 1
      }
    }
  }

  /// The address of an operand's stretch.
  @inline(__always)
  private func address(
    of operand: Operand, _ inputs: SIMD8<Int>, position: Int, _ memory: UnsafeMutableRawPointer
  ) -> UnsafeRawPointer {
    operand.tensor < 0
      ? unsafe UnsafeRawPointer(memory + operand.place)
      : unsafe address(of: tensors[operand.tensor], at: inputs[operand.tensor], position: position, memory)
  }

  /// The address of a tensor's stretch.
  private func address(
    of tensor: Tensor, at address: Int, position: Int, _ memory: UnsafeMutableRawPointer
  ) -> UnsafeRawPointer {
    if let copy = tensor.copy, tensor.repeats > 1 { return unsafe UnsafeRawPointer(memory + copy) }
    let place = tensor.period == elementCount ? position : position % tensor.period
    if let copy = tensor.copy { return unsafe UnsafeRawPointer(memory + copy + place &* tensor.stride) }
    // Tensors with elements have an address.
    let source = unsafe UnsafeRawPointer(bitPattern: address) ?? UnsafeRawPointer(memory)
    return unsafe source + place &* tensor.stride
  }
}
