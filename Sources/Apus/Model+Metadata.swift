// SPDX-License-Identifier: Apache-2.0

import ApusFormat

extension Model {
  /// The author's description of a model: the `TFLITE_METADATA` of TensorFlow Lite's tools.
  ///
  /// No run needs it, and everything in it may be missing or wrong.
  public struct Metadata: Hashable, Sendable {
    /// The metadata of one input or output.
    public struct TensorDescription: Hashable, Sendable {
      /// The name, which may differ from the tensor's.
      public let name: String
      /// A description for people.
      public let description: String
      /// The kind of content: `image`, `bounding box`, `audio` or `feature`; empty if unknown.
      public let content: String
      /// The number that is subtracted from pixels, one or one per channel; empty if unknown.
      public let normalizationMean: [Float]
      /// The number that pixels are then divided by, one or one per channel; empty if unknown.
      public let normalizationStandardDeviation: [Float]
      /// The minimum score of a result; nil if unknown.
      public let scoreThreshold: Float?
      /// The name of the appended file with its labels; nil if there is none.
      public let labelFile: String?
    }

    /// The model's name.
    public let name: String
    /// The description of what the model does.
    public let description: String
    /// The model's version.
    public let version: String
    /// The model's author.
    public let author: String
    /// The model's license.
    public let license: String
    /// The inputs of the main subgraph in its order; there may be more or fewer than it has.
    public let inputs: [TensorDescription]
    /// The outputs of the main subgraph in its order; there may be more or fewer than it has.
    public let outputs: [TensorDescription]

    init(_ metadata: ModelMetadata) {
      name = metadata.name
      description = metadata.description
      version = metadata.version
      author = metadata.author
      license = metadata.license
      inputs = metadata.inputs.map(TensorDescription.init)
      outputs = metadata.outputs.map(TensorDescription.init)
    }
  }

  /// The model's metadata; nil if there is none, or none readable.
  ///
  /// Decoded at each access: keep the result.
  public var metadata: Metadata? {
    formatMetadata.map(Metadata.init)
  }

  /// The metadata with all details; nil if there is none, or none readable.
  package var formatMetadata: ModelMetadata? {
    (try? ModelMetadata.read(from: file)) ?? nil
  }

  /// The dictionary that an exporter of YOLO models appended to the file; nil if none can be read.
  ///
  /// Decoded at each access: keep the result.
  package var exportMetadata: ExportMetadata? { ExportMetadata(appendedTo: file.bytes) }

  /// Errors in the metadata and the appended files; usually empty. The model runs all the same.
  public var metadataDamage: [String] {
    var damage: [String] = []
    do { _ = try ModelMetadata.read(from: file) } catch { damage.append(error.message) }
    do {
      guard let archive = try ZipArchive(appendedTo: file.bytes) else { return damage }
      var left = limits.appendedByteCount
      for entry in archive.entries where !entry.name.hasSuffix("/") {
        do throws(FormatError) { left -= try archive.contents(of: entry, maximumSize: left).count } catch {
          damage.append(error.message)
        }
      }
    } catch { damage.append(error.message) }
    return damage
  }

  /// The names of the files that are appended to the model, such as label files.
  public var associatedFiles: [String] {
    guard let archive = try? ZipArchive(appendedTo: file.bytes) else { return [] }
    return archive.entries.map(\.name).filter { !$0.hasSuffix("/") }
  }

  /// The contents of a file that is appended to the model, decompressed.
  ///
  /// - Throws: `malformedLabels` if there is no such file or it is damaged; `resourceLimit` if it is larger than
  ///   ``Limits/appendedByteCount``.
  public func associatedFile(named name: String) throws(ApusError) -> [UInt8] {
    do throws(FormatError) {
      guard let archive = try ZipArchive(appendedTo: file.bytes) else {
        throw FormatError("there is no file \(name): nothing is appended to the model")
      }
      return try archive.contents(of: name, maximumSize: limits.appendedByteCount)
    } catch {
      throw ApusError(error.kind == .limit ? .resourceLimit : .malformedLabels, error.message)
    }
  }

  /// The name of the appended file with the output's labels: the one that the metadata names, or else the only text, or the only file
  /// that is called `labels.txt`, `labelmap.pbtxt`, `labels.json`, `coco.names` or the like. Files that have another purpose in the
  /// metadata, such as calibrations of scores, are none.
  public var labelFile: String? {
    let metadata = formatMetadata
    if let named = metadata?.outputs.lazy.compactMap(\.labelFile).first?.name { return named }
    let files = filesThatMayHaveLabels(metadata)
    let texts = files.filter { $0.lowercased().hasSuffix(".txt") }
    if texts.count == 1 { return texts[0] }
    for candidates in [texts, files.filter { !texts.contains($0) }] {
      let named = candidates.filter(Self.isNamedForLabels)
      if !named.isEmpty { return named.count == 1 ? named[0] : nil }
    }
    return nil
  }

  /// Whether a file is called `labels` or the like, or has the ending of lists of names.
  private static func isNamedForLabels(_ file: String) -> Bool {
    guard let (stem, ending) = parts(of: file) else { return false }
    return labelNames.contains(stem) || ending == ".names"
  }

  /// The name of a file in small letters, before its last dot and from there on; nil without a dot.
  private static func parts(of file: String) -> (stem: String, ending: String)? {
    let name = (file.split(separator: "/").last.map(String.init) ?? file).lowercased()
    return name.lastIndex(of: ".").map { (String(name[..<$0]), String(name[$0...])) }
  }

  /// The appended files whose names are those of lists or texts, but for an exporter's dictionary, a licence, a description, and files that
  /// have another purpose in the metadata.
  package var filesThatMayHaveLabels: [String] { filesThatMayHaveLabels(formatMetadata) }

  private func filesThatMayHaveLabels(_ metadata: ModelMetadata?) -> [String] {
    let described = metadata.map { metadata in
      metadata.associatedFiles + (metadata.inputs + metadata.outputs).flatMap(\.associatedFiles)
    }
    let labels: Set<AssociatedFile.Kind> = [.unknown, .tensorAxisLabels, .tensorValueLabels]
    let others = Set((described ?? []).filter { !labels.contains($0.type) }.map(\.name))
    return associatedFiles.filter { file in
      guard !others.contains(file), !ExportMetadata.fileNames.contains(file),
        let (stem, ending) = Self.parts(of: file)
      else { return false }
      return Self.labelForms.contains(ending) && !Self.otherTexts.contains(stem)
    }
  }

  /// Names of files with labels, so that one is taken among other texts; the endings that such files have; and texts that have none.
  private static let labelNames: Set<String> = [
    "labels", "label", "labelmap", "label_map", "classes", "dict",
  ]
  private static let labelForms: Set<String> = [".txt", ".pbtxt", ".names", ".csv", ".json", ".yaml", ".yml"]
  private static let otherTexts: Set<String> = [
    "readme", "license", "licence", "copying", "notice", "changelog", "metadata", "config", "args",
  ]

  /// More lines are no labels.
  private static let maximumLabels = 1 << 20

  /// The lines of ``labelFile``, where it is a plain list of names; empty if there is none, or it has another form, such as JSON, protocol
  /// buffer text or numbered lines. `LabelMap(of:)` of ApusVision reads all forms, and is what tasks use.
  ///
  /// Decoded at each access: keep the result.
  public var labels: [String] {
    guard let name = labelFile, let contents = try? associatedFile(named: name) else { return [] }
    var bytes = contents[...]
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    if bytes.last == UInt8(ascii: "\n") { bytes = bytes.dropLast() }
    if bytes.isEmpty { return [] }
    let lines = bytes.split(
      separator: UInt8(ascii: "\n"), maxSplits: Self.maximumLabels, omittingEmptySubsequences: false)
    guard lines.count <= Self.maximumLabels else { return [] }
    let names = lines.map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }
    return Self.isPlain(names, file: name) ? names : []
  }

  /// Whether the lines of a label file are names alone, not numbers with names, or parts of a text with another form.
  private static func isPlain(_ lines: [String], file: String) -> Bool {
    if let ending = parts(of: file)?.ending, [".pbtxt", ".csv", ".json", ".yaml", ".yml"].contains(ending) {
      return false
    }
    let first = lines.first { line in line.contains { !$0.isWhitespace } }?.drop(while: \.isWhitespace) ?? ""
    if first == "[" || ["{", "[\"", "['", "item {", "item{", "\""].contains(where: first.hasPrefix) {
      return false
    }
    // A name may begin with a number, but not every one does.
    return !lines.lazy.filter { $0.contains { !$0.isWhitespace } }.allSatisfy { line in
      let rest = line.drop(while: \.isWholeNumber)
      return rest.count < line.count && rest.first.map { !$0.isLetter } ?? false
    }
  }
}

extension Model.Metadata.TensorDescription {
  init(_ metadata: TensorMetadata) {
    name = metadata.name
    description = metadata.description
    content =
      switch metadata.content {
      case .unknown: ""
      case .feature: "feature"
      case .image: "image"
      case .boundingBox: "bounding box"
      case .audio: "audio"
      }
    normalizationMean = metadata.normalization?.mean ?? []
    normalizationStandardDeviation = metadata.normalization?.std ?? []
    scoreThreshold = metadata.scoreThreshold
    labelFile = metadata.labelFile?.name
  }
}
