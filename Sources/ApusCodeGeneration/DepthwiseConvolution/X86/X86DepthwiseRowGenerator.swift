// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates depthwise convolutions of floats: a few columns of a line times a block of channels, one vector
/// of channels after the other.
///
/// The weights of a filter row stay in registers, and each input pixel is loaded once for all sums that use
/// it. Products are added in the order of the taps. If an input read in place ends in a partial vector of
/// channels, that vector is narrower, and masked if necessary. With a depth multiplier, channels are loaded
/// with a mask (`k3`, or `k4` for the last ones) and permuted to their lanes; a single channel is broadcast.
struct X86DepthwiseRowGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let epilogue: X86EpilogueGenerator.Outputs
  let shape: DepthwiseRowShape

  private typealias General = X86Assembler.General
  private typealias A = ConvolutionArguments
  private static let bases: [General] = [.rax, .rbx, .rbp, .rcx]
  /// The register with the input channel of each lane, for depth multipliers.
  private static let channels = 30

  /// The maximum number of columns in a block; 0 if there is no such code.
  static func maximumColumns(columnStep: Int, tapStep: Int, tapColumns: Int) -> Int {
    guard tapColumns <= 7 else { return 0 }
    let pixels = 6 * bases.count
    let reach = (tapColumns - 1) * tapStep + 1
    let most = reach > pixels ? 0 : min(6, (pixels - reach) / columnStep + 1)
    return most < 3 ? 0 : most
  }

  private var width: X86Assembler.Width { target.width }
  private var columnCount: Int { shape.columnCount }
  private var columnStep: Int { shape.columnStep }
  private var tapColumns: Int { shape.tapColumns }
  private var inPlace: DepthwiseRowShape.InPlaceInput? { shape.inPlace }
  private var tapByteCount: Int {
    inPlace == nil ? target.depthwiseVectors(.floats) * width.byteCount : width.byteCount
  }

  private func end(vector: Int) -> X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: target, outputs: epilogue, rowCount: columnCount, vectorCount: 1,
      columnCount: min(target.lanes, shape.channelCount - vector * target.lanes))
  }

  /// The epilogue of the channels after the last whole vector, for an input read in place.
  private var tail: X86EpilogueGenerator? {
    guard let count = inPlace?.tailCount, count > 0 else { return nil }
    var end = X86EpilogueGenerator(
      target: target, outputs: epilogue, rowCount: columnCount, vectorCount: 1, columnCount: count)
    end.narrowWidth = Self.tailWidth(count)
    return end
  }

  /// The narrowest vector with room for `count` channels.
  static func tailWidth(_ count: Int) -> X86Assembler.Width { count <= 4 ? .xmm : count <= 8 ? .ymm : .zmm }

  /// The code of `void f(Arguments *)`; `rowStride` is the distance of input pixels, and `tapCount` the
  /// number of filter rows. nil only if the generator has a bug.
  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.enter()
    let vectors = (shape.channelCount + target.lanes - 1) / target.lanes
    let last = tail ?? end(vector: vectors - 1)
    last.loadMasks(&a)
    if repeats > 1, repeats < target.lanes { loadChannels(&a) }

    let nextBlock = a.loopHead(alignment: 16)
    if inPlace == nil {
      for vector in 0..<vectors { self.vector(&a, vector, end(vector: vector)) }
    } else {
      vectorsInPlace(&a)
    }

    last.loadStride(&a, A.offset(\.outputStride))
    move(&a, last, .r14, A.offset(\.output), by: columnCount)
    last.loadStride(&a, A.offset(\.rowStride))
    move(&a, last, .r8, A.offset(\.rows), by: columnCount * columnStep)
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)

    a.leave()
    return a.finish()
  }

  private var repeats: Int { inPlace?.repeats ?? 1 }

  /// Loads the input channel of each lane, and the masks of the channels that a vector and the last vector
  /// need.
  private func loadChannels(_ a: inout X86Assembler) {
    var words: [UInt64] = [0, 0]
    for lane in 0..<target.lanes { words[lane / 8] |= UInt64(lane / repeats) << UInt64(8 * (lane % 8)) }
    for word in words.reversed() {
      a.moveWide(.rax, Int(bitPattern: UInt(word)))
      a.push(.rax)
    }
    a.vector(.vpmovzxbd, width, Self.channels, 0, .init(.rsp))
    for _ in words { a.pop(.rax) }
    for (mask, count) in [(3, target.lanes), (4, inPlace?.tailCount ?? 0)] {
      a.move(.rax, (1 << ((count + repeats - 1) / repeats)) - 1)
      a.moveMask(mask, .rax)
    }
  }

  /// Computes the whole vectors, as many as an argument says, then the rest.
  private func vectorsInPlace(_ a: inout X86Assembler) {
    copy(&a, from: A.offset(\.firstWeights), to: A.offset(\.weights))
    copy(&a, from: A.offset(\.firstOffsets), to: A.offset(\.offsets))
    copy(&a, from: A.offset(\.vectors), to: A.offset(\.left))
    let rest = a.makeLabel()
    if tail != nil {
      a.test(.rax)
      a.jump(.equal, rest)
    }
    let nextVector = a.loopHead(alignment: 16)
    vector(&a, 0, end(vector: 0))
    advance(&a, nextVector)
    a.place(rest)
    if let tail { vector(&a, 0, tail) }
  }

  private func copy(_ a: inout X86Assembler, from source: Int, to destination: Int) {
    a.load(.rax, .init(.rdi, source))
    a.store(.init(.rdi, destination), .rax)
  }

  /// Advances a register by `count` strides from the start of the block, which is in an argument if there are
  /// several vectors.
  private func move(
    _ a: inout X86Assembler, _ end: X86EpilogueGenerator, _ register: General, _ field: Int, by count: Int
  ) {
    if inPlace != nil { a.load(register, .init(.rdi, field)) }
    for _ in 0..<count / 6 { end.nextBase(&a, register, from: register) }
    if count % 6 > 0 { a.address(register, end.place(register, count % 6)) }
    if inPlace != nil { a.store(.init(.rdi, field), register) }
  }

  /// Advances to the next vector of channels.
  private func advance(_ a: inout X86Assembler, _ nextVector: X86Assembler.Label) {
    for (field, bytes) in [
      (A.offset(\.weights), shape.tapRows * tapColumns * width.byteCount),
      (A.offset(\.offsets), width.byteCount),
    ] {
      a.load(.rax, .init(.rdi, field))
      a.add(.rax, bytes)
      a.store(.init(.rdi, field), .rax)
    }
    if inPlace?.hasOneChannel != true { a.add(.r8, width.byteCount / repeats) }
    a.add(.r14, width.byteCount)
    a.load(.rax, .init(.rdi, A.offset(\.left)))
    a.decrement(.rax)
    a.store(.init(.rdi, A.offset(\.left)), .rax)
    a.jump(.notEqual, nextVector)
  }

  /// Computes all columns of a block for one vector of channels.
  private func vector(_ a: inout X86Assembler, _ vector: Int, _ end: X86EpilogueGenerator) {
    end.begin(&a)
    end.loadStride(&a, A.offset(\.rowStride))
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    let nextRow = a.loopHead(alignment: 16)
    row(&a, vector, end)
    a.decrement(.r13)
    a.jump(.notEqual, nextRow)

    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    if vector > 0 { a.add(.rsi, vector * width.byteCount) }
    a.address(.rax, .init(.r14, vector * width.byteCount))
    end.loadStride(&a, A.offset(\.outputStride))
    end.store(&a, [.rax])
  }

  /// Multiplies one row of the filter.
  private func row(_ a: inout X86Assembler, _ vector: Int, _ end: X86EpilogueGenerator) {
    let pixelCount = (columnCount - 1) * columnStep + (tapColumns - 1) * shape.tapStep + 1
    let used = Array(Self.bases.prefix((pixelCount + 5) / 6))
    a.load(.rax, .init(.r12))
    a.add(.r12, 8 * tapColumns)
    a.add(.rax, .r8)
    end.advance(&a, used)
    for tap in 0..<tapColumns {
      a.vector(
        .vmovdqu, end.width, end.free(tap), 0,
        .init(.rsi, tap * tapByteCount + vector * width.byteCount))
    }
    a.add(.rsi, tapColumns * tapByteCount)
    let isMasked = end.isMasked
    var turn = 0
    let first = inPlace?.missingFirst ?? 0
    for pixel in first..<max(first, pixelCount - (inPlace?.missingLast ?? 0)) {
      // The sums that use the pixel, each with its tap's weight.
      let uses = (0..<columnCount).compactMap { column -> (sum: Int, weight: Int)? in
        let distance = pixel - column * columnStep
        guard distance >= 0, distance % shape.tapStep == 0, distance / shape.tapStep < tapColumns else {
          return nil
        }
        return (end.sum(column, 0), end.free(distance / shape.tapStep))
      }
      let memory = end.place(used, pixel, vector * width.byteCount)
      if repeats > 1 {
        guard !uses.isEmpty else { continue }
        let value = end.free(tapColumns + turn % 2)
        turn += 1
        if repeats == target.lanes {
          a.vector(.vbroadcastss, end.width, value, 0, memory)
        } else {
          // There is no such permutation of 128 bits.
          let wide = end.width == .xmm ? .ymm : end.width
          let isTail = end.columnCount < target.lanes
          a.vector(.vmovups, wide, value, 0, memory, mask: .init(isTail ? 4 : 3, zeroes: true))
          a.vector(.vpermd, wide, value, Self.channels, value)
        }
        for use in uses { a.vector(.vfmadd231ps, end.width, use.sum, use.weight, value) }
      } else if uses.count == 1 {
        a.vector(
          .vfmadd231ps, end.width, uses[0].sum, uses[0].weight, memory, mask: isMasked ? .init(2) : nil)
      } else if uses.count > 1 {
        let value = end.free(tapColumns + turn % 2)
        turn += 1
        a.vector(.vmovups, end.width, value, 0, memory, mask: isMasked ? .init(2, zeroes: true) : nil)
        for use in uses { a.vector(.vfmadd231ps, end.width, use.sum, use.weight, value) }
      }
    }
  }
}
