// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Testing

/// The registry accepts the versions and types that LiteRT's kernels accept; differences are listed with their reason.
@Suite struct OperatorFactsTests {
  /// A difference that is meant.
  struct Exception {
    var lacking: Set<ElementType> = []
    var further: Set<ElementType> = []
    let reason: String
  }

  @Test("each operator takes the versions and types that LiteRT takes", arguments: ReferenceOperator.all)
  func agreesWithTheReference(fact: ReferenceOperator) throws {
    let absence = Self.absent[fact.name]
    guard let known = Runtime.operators.first(where: { $0.name == fact.name && !$0.isCustom }) else {
      #expect(absence != nil, "\(fact.name) is not registered")
      return
    }
    #expect(absence == nil, "\(fact.name) is registered: take it off the list of absent operators")
    #expect(known.versions == fact.versions, "\(fact.name)")
    guard let types = fact.types else { return }
    let exception = Self.exceptions[fact.name]
    #expect(
      types.subtracting(known.types) == exception?.lacking ?? [],
      "\(fact.name) lacks these, beside what is listed")
    #expect(
      Set(known.types).subtracting(types) == exception?.further ?? [],
      "\(fact.name) takes these, beside what is listed")
  }

  @Test("every operator of the schema that is registered is one of LiteRT's")
  func knowsNoOthers() {
    let names = Set(ReferenceOperator.all.map(\.name))
    #expect(names.count == ReferenceOperator.all.count)
    #expect(Runtime.operators.filter { !$0.isCustom && !names.contains($0.name) }.map(\.name) == [])
    #expect(Set(Self.exceptions.keys).union(Self.absent.keys).subtracting(names) == [])
  }

  @Test("Docs/Operators.md is what the registry says")
  func pageIsUpToDate() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Docs/Operators.md").standardized
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(
      text == OperatorTable.markdown + "\n", "write it anew: apus operators --markdown > Docs/Operators.md")
  }

  private static let tables = "hash tables: of strings in the models that have them"
  private static let strings = "strings, which tensors here do not hold"

  /// Operators of LiteRT that this build does not run.
  static let absent: [String: String] = [
    "HASHTABLE": tables, "HASHTABLE_FIND": tables, "HASHTABLE_IMPORT": tables, "HASHTABLE_SIZE": tables,
    "SKIP_GRAM": strings,
  ]

  private static let moved = "copying needs no arithmetic: there is nothing to refuse"

  /// Types that differ from LiteRT's.
  static let exceptions: [String: Exception] = [
    "DILATE": Exception(further: [.bfloat16, .bool, .complex64, .float16], reason: moved),
    "EMBEDDING_LOOKUP": Exception(
      further: [.int2], reason: "rows that become floats, as LiteRT's kernel has it"),
    "EXPAND_DIMS": Exception(further: [.complex128, .int2, .uint4], reason: moved),
    "RANK": Exception(further: [.complex128, .int2, .uint4], reason: moved),
    "RESHAPE": Exception(further: [.complex128, .int2, .uint4], reason: moved),
    "SHAPE": Exception(further: [.complex128, .int2, .uint4], reason: moved),
    "SQUEEZE": Exception(further: [.complex128, .int2, .uint4], reason: moved),
    "TRANSPOSE": Exception(further: [.uint4], reason: moved),
  ]
}
