// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The models of a task in one file, as MediaPipe publishes them: `hand_landmarker.task`, `face_landmarker.task`.
///
/// ```swift
/// let bundle = try TaskBundle(contentsOfFile: "hand_landmarker.task")
/// let detector = try bundle.model(named: "hand_detector.tflite")
/// ```
///
/// A bundle is a zip archive whose entries have different names; another bundle can be one of its entries. Entries are read, and their checksums verified, when they are
/// asked for.
public struct TaskBundle: Sendable {
  private let archive: ZipArchive
  /// The bundle's name in errors.
  private let name: String

  /// The maximum number of bytes of a bundle, and of each entry.
  private static let maximumSize = 1 << 29
  /// The maximum number of bytes of an entry that is compressed: few bytes could become very many.
  private static let maximumInflatedSize = 1 << 26

  /// Opens a file.
  ///
  /// - Throws: `unreadableFile`; `malformedModel` if it is no bundle or has two entries of one name; `resourceLimit` beyond 512 MiB.
  public init(contentsOfFile path: String) throws(ApusError) {
    let bytes: FileBytes
    do throws(FormatError) {
      bytes = try FileBytes(readingFileAt: path, maximumSize: Self.maximumSize)
    } catch {
      throw ApusError(error.kind == .limit ? .resourceLimit : .unreadableFile, error.message)
    }
    try self.init(reading: bytes, name: "the bundle '\(path)'")
  }

  /// Opens the bytes of a bundle.
  ///
  /// - Throws: `malformedModel` if they are no bundle, or one with two entries of one name.
  public init(bytes: [UInt8]) throws(ApusError) {
    try self.init(bytes: bytes, name: "the bundle")
  }

  private init(bytes: [UInt8], name: String) throws(ApusError) {
    try self.init(reading: FileBytes(copying: bytes), name: name)
  }

  private init(reading bytes: FileBytes, name: String) throws(ApusError) {
    do throws(FormatError) { try self.init(bytes, name: name) } catch {
      throw ApusError(error.kind == .limit ? .resourceLimit : .malformedModel, error.message)
    }
  }

  private init(_ bytes: FileBytes, name: String) throws(FormatError) {
    guard !ModelFile.hasIdentifier(bytes) else {
      throw FormatError("\(name) is a single .tflite model: a task needs two of them, or a bundle of both")
    }
    do throws(FormatError) { archive = try ZipArchive(bytes) } catch {
      guard error.kind != .limit, let kind = FileKind(bytes) else { throw error.inside(name) }
      throw FormatError("\(name): \(kind.insteadOfBundle)")
    }
    self.name = name
    if let entry = ZipArchive.repeatedName(in: entryNames) {
      throw FormatError("\(name) has two entries '\(entry)': programs differ in which of them they read")
    }
  }

  /// The paths of the entries, in the order of the bundle's directory.
  public var entryNames: [String] { archive.entries.map(\.name) }

  /// The command of `apus` that takes the bundle as a whole; nil if none does.
  package var command: String? { BundleTask(entryNames: entryNames)?.rawValue }

  /// Warnings about models that a task does not use; usually empty.
  ///
  /// - Parameter used: The entries that the task uses or would use.
  func warnings(using used: String...) -> [String] {
    let others = entryNames.filter { entry in
      let end = entry.lowercased()
      return !used.contains(entry) && (end.hasSuffix(".tflite") || end.hasSuffix(".task"))
    }
    guard !others.isEmpty else { return [] }
    let list = others.prefix(8).map { "'\($0)'" }.joined(separator: ", ") + (others.count > 8 ? ", …" : "")
    let gestures = others.contains { $0.contains("gesture") } ? ": its gestures are not recognized" : ""
    return ["the bundle's \(list) \(others.count == 1 ? "is" : "are") not used\(gestures)"]
  }

  /// Reads a model of the bundle, with its metadata.
  ///
  /// - Parameter entry: The path of its entry.
  /// - Throws: `malformedModel` if there is no such entry, it is damaged or no model; `resourceLimit`.
  public func model(named entry: String) throws(ApusError) -> Model {
    let bytes = try contents(of: entry)
    do throws(ApusError) { return try Model(bytes: bytes) } catch {
      throw ApusError(error.code, "\(name): the model '\(entry)': \(error.message)")
    }
  }

  /// Opens a bundle inside the bundle.
  ///
  /// - Parameter entry: The path of its entry.
  /// - Throws: `malformedModel` if there is no such entry, it is damaged or no bundle; `resourceLimit`.
  public func bundle(named entry: String) throws(ApusError) -> TaskBundle {
    try TaskBundle(bytes: contents(of: entry), name: "\(name): the bundle '\(entry)'")
  }

  /// Reads the shape of a face that the bundle has for ``FaceMesh/matrix``.
  ///
  /// - Parameter entry: The path of its entry.
  /// - Throws: `malformedModel` if there is no such entry, it is damaged or no geometry; `resourceLimit`.
  public func faceGeometry(named entry: String) throws(ApusError) -> FaceGeometry {
    let bytes = try contents(of: entry)
    do throws(ApusError) { return try FaceGeometry(bytes: bytes) } catch {
      throw ApusError(error.code, "\(name): the entry '\(entry)': \(error.message)")
    }
  }

  /// The size of an entry in bytes, as the bundle's directory has it; nil if there is no such entry.
  public func size(of entry: String) -> Int? { archive.entries.first { $0.name == entry }?.size }

  /// The bytes of an entry.
  func contents(of entry: String) throws(ApusError) -> [UInt8] {
    guard entryNames.contains(entry) else {
      let names = entryNames.prefix(16).map { "'\($0)'" }.joined(separator: ", ")
      throw ApusError(
        .malformedModel,
        entryNames.isEmpty
          ? "\(name) is empty: it has no entry '\(entry)'"
          : "\(name) has no entry '\(entry)', only: \(names)\(entryNames.count > 16 ? ", …" : "")"
            + (BundleTask(entryNames: entryNames).map {
              "; it is for apus \($0.rawValue) and \($0.landmarker)"
            }
              ?? ""))
    }
    let isCompressed = archive.entries.first { $0.name == entry }?.method != 0
    let limit = isCompressed ? Self.maximumInflatedSize : Self.maximumSize
    do throws(FormatError) { return try archive.contents(of: entry, maximumSize: limit) } catch {
      throw ApusError(error.kind == .limit ? .resourceLimit : .malformedModel, "\(name): \(error.message)")
    }
  }
}
