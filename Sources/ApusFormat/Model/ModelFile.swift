// SPDX-License-Identifier: Apache-2.0

/// A `.tflite` file, decoded and checked: every index and every byte range in it can be used as it stands.
///
/// Only the form is checked, not its meaning for operators. Weights stay in the file, as ranges of
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
  /// The converter's description of the model.
  package let description: String
  /// The operator codes that operators refer to.
  package let operatorCodes: [OperatorCodeEntry]
  /// The subgraphs, at least one; the first is the model's own.
  package private(set) var subgraphs: [SubgraphEntry]
  /// The range of each buffer's data, inside the FlatBuffer or behind it; empty if there is none.
  package let buffers: [Range<Int>]
  /// The named buffers; those that are damaged are left out.
  package let metadata: [MetadataEntry]
  /// The signatures.
  package let signatures: [SignatureEntry]
  /// For each buffer: whether its data may not have been read yet, as large ones of files that are read in parts. Readers
  /// call ``FileBytes/require(_:)`` first. Empty if everything is in memory.
  package private(set) var areUnread: [Bool] = []

  /// Decodes a file, except for its metadata buffers and its appended archive.
  ///
  /// Time and memory are proportional to the file's size, whatever is in it.
  package init(_ bytes: FileBytes, limits: Limits = .default) throws(FormatError) {
    var decoder = ModelDecoder(bytes, limits)
    self = try bytes.withReader { (reader) throws(FormatError) in try decoder.model(reader) }
    if bytes.hasParts { try readAllButLargeBuffers() }
  }

  /// Gives a tensor another quantization than the file does: that of another tensor.
  package mutating func requantize(tensor: Int, ofSubgraph index: Int, as quantization: QuantizationEntry?) {
    subgraphs[index].requantize(tensor, as: quantization)
  }

  /// Whether the bytes have the identifier of a `.tflite` file.
  package static func hasIdentifier(_ bytes: FileBytes) -> Bool {
    let found = try? bytes.withReader { (reader) throws(FormatError) in
      try reader.integers(UInt8.self, at: 4, count: 4)
    }
    return found?.elementsEqual(identifier.description.utf8) == true
  }

  /// The four characters behind the first four bytes of a file.
  static let identifier: StaticString = "TFL3"

  /// The minimum size of a buffer that is read separately: some blocks.
  private static let minimumUnread = 64 << 10

  private mutating func readAllButLargeBuffers() throws(FormatError) {
    areUnread = buffers.map { $0.count >= Self.minimumUnread }
    var next = 0
    let large = buffers.filter { $0.count >= Self.minimumUnread }
    for range in large.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if next < range.lowerBound { try bytes.require(next..<range.lowerBound) }
      next = max(next, range.upperBound)
    }
    try bytes.require(next..<bytes.count)
    // Others may lie within large ones.
    for range in buffers where range.count < Self.minimumUnread { try bytes.require(range) }
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
  package func withBytes<R>(
    of range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(FormatError) -> R
  ) throws(FormatError) -> R {
    try bytes.require(range)
    return try unsafe bytes.withUnsafeBytes { (raw) throws(FormatError) in
      try unsafe body(UnsafeRawBufferPointer(rebasing: raw[range]))
    }
  }
}
