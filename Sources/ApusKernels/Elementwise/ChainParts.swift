// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

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
