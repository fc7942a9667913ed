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
  /// Of each buffer whether its data may not have been read yet: large ones of files that are read in parts. Nobody reads
  /// them but their own tensors, after ``FileBytes/require(_:)``. Empty where all is there.
  package private(set) var areUnread: [Bool] = []

  /// Decodes all of a file but its metadata buffers and its appended archive.
  ///
  /// Time and memory are proportional to the file's size, whatever is in it.
  package init(_ bytes: FileBytes, limits: Limits = .default) throws(FormatError) {
    var decoder = ModelDecoder(bytes, limits)
    self = try bytes.withReader { (reader) throws(FormatError) in try decoder.model(reader) }
    if bytes.hasParts { try readAllButLargeBuffers() }
  }

  /// The least bytes of a buffer that is not read with the rest of the file: some blocks.
  private static let leastUnread = 64 << 10

  private mutating func readAllButLargeBuffers() throws(FormatError) {
    areUnread = separateBuffers(leastCount: Self.leastUnread)
    var unread: [Range<Int>] = []
    for (buffer, range) in buffers.enumerated() where areUnread[buffer] { unread.append(range) }
    unread.sort { $0.lowerBound < $1.lowerBound }
    var next = 0
    for range in unread {
      try bytes.require(next..<range.lowerBound)
      next = range.upperBound
    }
    try bytes.require(next..<bytes.count)
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

  /// Of each buffer whether it has at least so many bytes, none of which another buffer has, or a scale, or options: so that
  /// nobody misses them but its own tensors. What else is decoded later makes sure of its bytes.
  private func separateBuffers(leastCount: Int) -> [Bool] {
    var isSeparate = buffers.map { $0.count >= leastCount }
    let large = buffers.indices.filter { isSeparate[$0] }.sorted {
      buffers[$0].lowerBound < buffers[$1].lowerBound
    }
    // Of large ones that overlap each other, none counts, so that looking at the last that begins before an end is enough.
    var end = (place: 0, buffer: -1)
    for buffer in large {
      if buffers[buffer].lowerBound < end.place {
        isSeparate[buffer] = false
        isSeparate[end.buffer] = false
      }
      if buffers[buffer].upperBound > end.place { end = (buffers[buffer].upperBound, buffer) }
    }
    let separate = large.filter { isSeparate[$0] }
    func exclude(_ range: Range<Int>) {
      guard !range.isEmpty else { return }
      var (low, high) = (0, separate.count)
      while low < high {
        let middle = (low + high) / 2
        if buffers[separate[middle]].lowerBound < range.upperBound { low = middle + 1 } else { high = middle }
      }
      guard low > 0, buffers[separate[low - 1]].upperBound > range.lowerBound else { return }
      isSeparate[separate[low - 1]] = false
    }
    guard !separate.isEmpty else { return isSeparate }
    for range in buffers where range.count < leastCount { exclude(range) }
    for subgraph in subgraphs {
      for tensor in subgraph.tensors { tensor.quantization?.ranges.forEach(exclude) }
      for node in subgraph.operators { if let options = node.customOptions { exclude(options) } }
    }
    return isSeparate
  }

  /// Calls `body` with the bytes of a range that this file's values contain, such as ``TensorEntry/data``.
  package func withBytes<R>(
    of range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(FormatError) -> R
  ) throws(FormatError) -> R {
    try bytes.require(range)
    return try bytes.withUnsafeBytes { (raw) throws(FormatError) in
      try body(UnsafeRawBufferPointer(rebasing: raw[range]))
    }
  }
}
