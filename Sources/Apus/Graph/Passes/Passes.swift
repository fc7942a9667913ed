// SPDX-License-Identifier: Apache-2.0

/// The passes of a plan, in order: those without which there is no plan, and any of the others.
package struct Passes: Equatable, Sendable {
  private let list: [Pass]
  /// The functions of the passes over operators.
  let ofOperators: [Pass.OfOperator]
  /// The functions of the passes over segments.
  let ofSegments: [Pass.OfSegment]

  private init(where isWanted: (Pass) -> Bool) {
    list = Pass.all.filter { !$0.isOptional || isWanted($0) }
    ofOperators = list.compactMap { if case .operators(let function) = $0.action { function } else { nil } }
    ofSegments = list.compactMap { if case .segment(let function) = $0.action { function } else { nil } }
  }

  /// Every pass.
  package static let all = Passes { _ in true }
  /// The passes without which there is no plan.
  package static let none = Passes { _ in false }

  /// Every optional pass, in order.
  package static var optional: [Pass] { Pass.all.filter(\.isOptional) }

  /// Whether a pass is among them.
  package func contains(_ pass: Pass) -> Bool { list.contains { $0 === pass } }

  /// The passes but for some optional ones.
  package func without(_ others: [Pass]) -> Passes {
    Passes { pass in contains(pass) && !others.contains { $0 === pass } }
  }

  /// Whether both are the same.
  package static func == (lhs: Passes, rhs: Passes) -> Bool { lhs.list.elementsEqual(rhs.list) { $0 === $1 } }

  /// The passes after which every tensor of the file is readable.
  var preservingTensors: Passes { Passes { contains($0) && $0.preservesTensors } }
}
