// SPDX-License-Identifier: Apache-2.0

/// The author's description of a model's inputs and outputs (the `TFLITE_METADATA` buffer).
///
/// No run needs it, and everything in it may be missing or wrong.
///
/// ```swift
/// let metadata = try ModelMetadata.read(from: file)
/// let labels = metadata?.outputs.lazy.compactMap(\.labelFile).first
/// let text = try labels.map { try ZipArchive(file.bytes).contents(of: $0.name) }
/// ```
package struct ModelMetadata: Hashable, Sendable {
  /// The name of the metadata buffer.
  package static let entryName = "TFLITE_METADATA"

  /// The model's name.
  package let name: String
  /// The description of what the model does.
  package let description: String
  /// The model's version.
  package let version: String
  /// The model's author.
  package let author: String
  /// The model's license.
  package let license: String
  /// The oldest parser that understands all of the metadata.
  package let minimumParserVersion: String
  /// The inputs of the first subgraph in its order; there may be more or fewer than it has.
  package let inputs: [TensorMetadata]
  /// The outputs of the first subgraph in its order; there may be more or fewer than it has.
  package let outputs: [TensorMetadata]
  /// The files that belong to the whole model or to its first subgraph.
  package let associatedFiles: [AssociatedFile]
  /// The data that tools store with the first subgraph, under names of their own.
  package let custom: [String: [UInt8]]

  /// Reads a model's metadata; nil if it has none. Throws if it is damaged.
  package static func read(from file: ModelFile) throws(FormatError) -> ModelMetadata? {
    guard let entry = file.metadata.first(where: { $0.name == entryName }) else { return nil }
    let range = file.buffers[entry.buffer]
    do throws(FormatError) {
      return try file.bytes.withReader { (reader) throws(FormatError) in
        var decoder = MetadataDecoder(size: range.count)
        return try decoder.model(reader.slice(range))
      }
    } catch {
      throw error.inside("metadata")
    }
  }

  /// Reads metadata from a FlatBuffer of its own. Throws if it is damaged.
  package init(_ bytes: [UInt8]) throws(FormatError) {
    do throws(FormatError) {
      self = try FileBytes(copying: bytes).withReader { (reader) throws(FormatError) in
        var decoder = MetadataDecoder(size: reader.count)
        return try decoder.model(reader)
      }
    } catch {
      throw error.inside("metadata")
    }
  }

  init(
    name: String, description: String, version: String, author: String, license: String,
    minimumParserVersion: String, inputs: [TensorMetadata], outputs: [TensorMetadata],
    associatedFiles: [AssociatedFile], custom: [String: [UInt8]]
  ) {
    self.name = name
    self.description = description
    self.version = version
    self.author = author
    self.license = license
    self.minimumParserVersion = minimumParserVersion
    self.inputs = inputs
    self.outputs = outputs
    self.associatedFiles = associatedFiles
    self.custom = custom
  }
}
