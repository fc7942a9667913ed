// SPDX-License-Identifier: Apache-2.0

/// The operators of this build as a page of Markdown, `Docs/Operators.md`.
package enum OperatorTable {
  /// The page, without a line break at its end.
  package static var markdown: String {
    let operators = Runtime.operators
    return """
      # Operators

      Every operator that this build runs, with its versions and the element types of its data. `apus operators --markdown`
      writes this page; a test compares it with the registry.

      - An operator's data is the input that it computes with, such as `FILL`'s value, or the output if there is no such
        input, as for `READ_VARIABLE`. If the first input is something else (an index, a shape, a condition or a handle), the
        last column has its types.
      - Weights, biases and outputs may have other types: [Quantization](Quantization.md).
      - int4, int2 and uint4 are packed in the file and take a byte each in memory.

      """ + "\n" + table(operators.filter { !$0.isCustom }) + "\n\n## Custom operators\n\n"
        + table(operators.filter(\.isCustom)) + "\n\n" + missing
  }

  private static let missing = """
    ## What is missing

    Apus does not support tensors of strings. So these builtin operators do not run, although LiteRT has kernels for them:
    `HASHTABLE`, `HASHTABLE_FIND`, `HASHTABLE_IMPORT` and `HASHTABLE_SIZE`, which map between integers and strings, and
    `SKIP_GRAM`, which turns strings into strings. For the other missing operators of the schema, such as `CALL`,
    `CONCAT_EMBEDDINGS` and most of StableHLO's, LiteRT has no kernel either.
    """

  /// The columns: types with short names.
  private static let columns: [(type: ElementType, title: String)] = [
    (.float32, "f32"), (.float16, "f16"), (.bfloat16, "bf16"), (.float64, "f64"), (.int8, "i8"),
    (.uint8, "u8"),
    (.int16, "i16"), (.uint16, "u16"), (.int32, "i32"), (.uint32, "u32"), (.int64, "i64"), (.uint64, "u64"),
    (.bool, "bool"), (.int4, "i4"), (.int2, "i2"), (.uint4, "u4"), (.complex64, "c64"),
  ]

  private static func table(_ operators: [Runtime.OperatorDescription]) -> String {
    let used = columns.filter { column in operators.contains { $0.types.contains(column.type) } }
    let titles = ["Operator", "Versions"] + used.map(\.title) + ["others", "first input"]
    var lines = [row(titles), row(["---", "---"] + used.map { _ in ":-:" } + ["---", "---"])]
    for entry in operators {
      let marks = used.map { entry.types.contains($0.type) ? "•" : "" }
      let others = entry.types.filter { type in !columns.contains { $0.type == type } }
      lines.append(
        row(
          ["`\(entry.name)`", versions(entry.versions)] + marks + [
            names(others), names(entry.firstInputTypes),
          ]))
    }
    return lines.joined(separator: "\n")
  }

  private static func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

  private static func names(_ types: [ElementType]) -> String {
    types.map { type in columns.first { $0.type == type }?.title ?? type.rawValue }.joined(separator: " ")
  }

  private static func versions(_ range: ClosedRange<Int>) -> String {
    range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)–\(range.upperBound)"
  }
}
