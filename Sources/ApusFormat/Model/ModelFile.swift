/// A `.tflite` file, decoded and checked: every index and every byte range in it can be used as it stands.
///
/// Only the form is checked, not what operators mean by it. Weights stay where they are, as ranges of
/// ``bytes``. Damaged metadata costs the metadata, never the model.
///
/// ```swift
/// let file = try ModelFile(FileBytes(readingFileAt: "detect.tflite"))
/// for node in file.subgraphs[0].operators {
///   let (name, inputs) = (file.operatorCodes[node.operatorCode].name, node.inputs)
///   …
/// }
/// ```
package struct ModelFile: Sendable {
  /// The bytes that all ranges refer to.
  package let bytes: FileBytes
  /// The version of the schema: 3.
  package let schemaVersion: Int
  /// What the converter says about the model.
  package let description: String
  /// The operator codes that operators refer to.
  package let operatorCodes: [OperatorCodeEntry]
  /// The subgraphs, at least one; the first is the model's own.
  package let subgraphs: [SubgraphEntry]
  /// Where each buffer's data is, inside the FlatBuffer or behind it; empty where there is none.
  package let buffers: [Range<Int>]
  /// The named buffers; those that are damaged are left out.
  package let metadata: [MetadataEntry]
  /// The signatures.
  package let signatures: [SignatureEntry]

  /// Decodes all of a file but its metadata buffers and its appended archive.
  ///
  /// Time and memory are proportional to the file's size, whatever is in it.
  package init(_ bytes: FileBytes, limits: Limits = .default) throws(FormatError) {
    var decoder = ModelDecoder(bytes, limits)
    self = try bytes.withUnsafeBytes { (raw) throws(FormatError) in
      try decoder.model(ByteReader(raw))
    }
  }

  init(
    bytes: FileBytes, schemaVersion: Int, description: String, operatorCodes: [OperatorCodeEntry],
    subgraphs: [SubgraphEntry], buffers: [Range<Int>], metadata: [MetadataEntry], signatures: [SignatureEntry]
  ) {
    self.bytes = bytes
    self.schemaVersion = schemaVersion
    self.description = description
    self.operatorCodes = operatorCodes
    self.subgraphs = subgraphs
    self.buffers = buffers
    self.metadata = metadata
    self.signatures = signatures
  }

  /// Calls `body` with the bytes of a range that this file's values contain, such as ``TensorEntry/data``.
  package func withBytes<R, E: Error>(
    of range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try bytes.withUnsafeBytes { (raw) throws(E) in
      try body(UnsafeRawBufferPointer(rebasing: raw[range]))
    }
  }
}
