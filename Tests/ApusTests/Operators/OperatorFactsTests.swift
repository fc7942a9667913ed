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
  private static let new = "not yet"

  /// Operators of LiteRT that this build does not run.
  static let absent: [String: String] = [
    "COMPLEX_ABS": new, "EMBEDDING_LOOKUP_SPARSE": new, "FAKE_QUANT": new, "HASHTABLE": tables,
    "HASHTABLE_FIND": tables, "HASHTABLE_IMPORT": tables, "HASHTABLE_LOOKUP": tables,
    "HASHTABLE_SIZE": tables,
    "IMAG": new, "LSH_PROJECTION": new, "MULTINOMIAL": new, "NON_MAX_SUPPRESSION_V4": new,
    "NON_MAX_SUPPRESSION_V5": new, "RANDOM_STANDARD_NORMAL": new, "RANDOM_UNIFORM": new, "REAL": new,
    "REDUCE_WINDOW": new, "RFFT2D": new, "SKIP_GRAM": strings, "STABLEHLO_ADD": new, "STABLEHLO_AND": new,
    "STABLEHLO_CASE": new, "STABLEHLO_GATHER": new, "STABLEHLO_MAXIMUM": new, "STABLEHLO_MINIMUM": new,
    "STABLEHLO_MULTIPLY": new, "STABLEHLO_PAD": new, "STABLEHLO_REDUCE_WINDOW": new,
    "STABLEHLO_RNG_BIT_GENERATOR": new, "STABLEHLO_SCATTER": new, "STABLEHLO_SHIFT_LEFT": new,
  ]

  private static let complex = "arithmetic of complex numbers: not yet"
  private static let moved = "copying needs no arithmetic: there is nothing to refuse"

  /// Types that differ from LiteRT's.
  static let exceptions: [String: Exception] = [
    "CAST": Exception(lacking: [.complex64], reason: complex),
    "DILATE": Exception(further: [.bfloat16, .bool, .complex64, .float16], reason: moved),
    "MUL": Exception(lacking: [.complex64], reason: complex),
    "PACK": Exception(
      further: [.bfloat16, .bool, .complex64, .float16, .float64, .int4, .uint16, .uint64], reason: moved),
    "SPLIT_V": Exception(
      further: [.bfloat16, .bool, .complex64, .float16, .float64, .uint16, .uint32, .uint64], reason: moved),
    "UNPACK": Exception(
      further: [.complex64, .float64, .int64, .uint16, .uint32, .uint64], reason: moved),
  ]
}
