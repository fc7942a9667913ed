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
      types.subtracting(known.types) == exception?.lacking ?? [], "\(fact.name) lacks these, beside what is listed")
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
    #expect(text == OperatorTable.markdown + "\n", "write it anew: apus operators --markdown > Docs/Operators.md")
  }

  private static let strings = "works on strings, which no tensor of ours holds"
  private static let tables = "works on hash tables, of strings in all models that we know"
  private static let random = "random numbers"

  static let absent: [String: String] = [:]

  static let exceptions: [String: Exception] = [:]
}
