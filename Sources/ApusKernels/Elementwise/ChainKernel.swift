// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Kernels of several operators, run one after the other on one part of their tensors at a time.
package protocol ChainKernel: Sendable {
  /// The bytes of scratch memory that a run needs.
  func scratchByteCount(threads: Int) -> Int

  /// Whether the result may overwrite a tensor in place.
  func mayOverwrite(_ tensor: Int) -> Bool

  /// The code that runs, as `apus inspect --plan` reports it.
  var implementation: String { get }

  /// How each part of the chain is computed.
  var parts: ChainParts { get }

  /// Computes the result.
  func run(
    _ inputs: ChainInputs, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  )
}

/// How the parts of a chain are computed, as `apus inspect --plan` reports it.
package struct ChainParts: Sendable {
  private let parts: [Part]
  /// The name of the kernel set whose code computes some part, otherwise that of the portable set.
  package let kernelSet: String

  /// One stage, or several that one generated function computes.
  struct Part: Sendable {
    let loopDescription: String
    let stageCount: Int
    let isCode: Bool
    /// How the kernel of the stage was chosen.
    let choice: KernelChoice?
    /// How the generated function of the stage, and of others with it, was chosen.
    let joining: KernelChoice?
  }

  init(_ parts: [Part], using set: KernelSet) {
    self.parts = parts
    let own = parts.contains(where: \.isCode) ? set.name : nil
    let portable = KernelSet.portable.name
    kernelSet = own ?? parts.lazy.compactMap { $0.choice?.set }.first { $0 != portable } ?? portable
  }

  /// The descriptions of the parts, in order.
  var text: String {
    parts.map { part in
      part.isCode && part.stageCount > 1
        ? "generated loop of \(part.stageCount) operators" : part.loopDescription
    }.joined(separator: "; ")
  }

  /// Why parts are computed in plain Swift: the reason of each kernel set that declined.
  package var notes: [String] {
    parts.flatMap { part -> [String] in
      if part.isCode { return [] }
      return (part.choice?.notes(on: part.loopDescription) ?? [])
        + (part.joining?.notes(on: "no generated loop of several operators") ?? [])
    }
  }
}

/// The addresses and sizes of the tensors that a chain reads in a run.
package struct ChainInputs {
  /// The maximum number of tensors that a chain may read.
  package static let maximumTensors = 8

  var addresses = SIMD8<Int>()
  var byteCounts = SIMD8<Int>()
  var count = 0

  /// Creates a list without tensors.
  package init() {}

  /// Adds the next tensor, which must stay where it is until the run is over.
  package mutating func add(_ tensor: borrowing RawSpan) {
    precondition(count < Self.maximumTensors)
    addresses[count] = unsafe tensor.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    byteCounts[count] = tensor.byteCount
    count += 1
  }
}

extension Decline {
  /// Stages of a chain whose sizes, sources or types are not those of one chain: a pass never asks for it.
  static let stagesDiffer = Decline("the operators do not fit each other")
}
