// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Kernels of several operators, done one after the other to parts of their tensors.
package protocol ChainKernel: Sendable {
  /// The bytes that a run works in.
  func scratchByteCount(threads: Int) -> Int

  /// Whether the result may lie where a tensor does.
  func mayOverwrite(_ tensor: Int) -> Bool

  /// What does the work, for people to read.
  var implementation: String { get }

  /// What does each part of it.
  var parts: ChainParts { get }

  /// Computes the result.
  func run(
    _ inputs: ChainInputs, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  )
}

/// What does the parts of a chain, for people to read.
package struct ChainParts: Sendable {
  private let parts: [Part]
  /// The name of the set whose code does some of it, or of plain Swift.
  package let kernelSet: String

  /// One stage, or several that are one function in generated code.
  struct Part: Sendable {
    let way: String
    let stageCount: Int
    let isCode: Bool
    let choice: KernelChoice?
  }

  init(_ parts: [Part], using set: KernelSet?) {
    self.parts = parts
    let own = parts.contains(where: \.isCode) ? set?.name : nil
    let portable = KernelSet.portable.name
    kernelSet = own ?? parts.lazy.compactMap { $0.choice?.set }.first { $0 != portable } ?? portable
  }

  /// What does them, in their order.
  var text: String {
    parts.map { part in
      part.isCode && part.stageCount > 1 ? "generated loop of \(part.stageCount) operators" : part.way
    }.joined(separator: "; ")
  }

  /// Why some are in plain Swift.
  package var notes: [String] {
    parts.flatMap { part in
      part.isCode
        ? [] : (part.choice?.declined ?? []).map { "\(part.way), as \($0.set) declined: \($0.reason)" }
    }
  }
}

/// Where the tensors of a chain's run lie.
package struct ChainInputs {
  /// The most tensors that a chain may read.
  package static let mostTensors = 8

  var addresses = SIMD8<Int>()
  var byteCounts = SIMD8<Int>()
  var count = 0

  /// No tensors yet.
  package init() {}

  /// Adds the next tensor, which must stay where it is until the run is over.
  package mutating func add(_ tensor: borrowing RawSpan) {
    precondition(count < Self.mostTensors)
    addresses[count] = unsafe tensor.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    byteCounts[count] = tensor.byteCount
    count += 1
  }
}
