// SPDX-License-Identifier: Apache-2.0
import Apus
import Synchronization

/// Keeps a model that arrives later than the program, and a bundled one until then.
///
/// ```swift
/// let store = try ModelStore(folder: "models", name: "signs", bundledFile: "signs-1.tflite")
/// var detector = try ObjectDetector(model: store.model())
/// try await store.update(to: "2", sha256: pinned) { download in
///   try await fetch(address, to: download.path) { download.report($0) }
/// }
/// detector = try ObjectDetector(model: store.model())
/// ```
///
/// The caller does the download; there is no networking here. A file is accepted only if it has the SHA-256 that the caller
/// expects and is a readable model. Then it replaces the previous one, at once and completely: if the program ends in the
/// middle, it finds either the old or the new model on its next start. Several processes may share a folder.
public final class ModelStore: Sendable {
  /// A model's file.
  public struct StoredModel: Hashable, Sendable {
    /// The file's path.
    public let path: String
    /// The version; nil for the bundled model.
    public let version: String?
    /// The file's SHA-256 in hexadecimal digits; nil for the bundled model.
    public let sha256: String?
  }

  /// The state of the store.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum State: Hashable, Sendable {
    /// There is no model.
    case empty
    /// There is only the bundled model.
    case bundled
    /// A version is arriving; how much of it is there, from 0 to 1.
    case downloading(version: String, fraction: Double)
    /// A version has arrived and is being checked.
    case checking(version: String)
    /// A version can be used.
    case ready(version: String)
    /// A version could not be obtained; the previous model stays.
    case failed(version: String, ApusError)
  }

  /// The maximum size of a model's file, in bytes.
  public static let maximumFileSize = 4 << 30

  private let files: ModelFolder
  private let bundledFile: String?
  private let observers: StateObservers
  private let downloads = SharedWork<StoredModel>()
  private let installing = Mutex(())

  /// Opens a store, and makes its folder if there is none.
  ///
  /// - Parameters:
  ///   - folder: The folder for models and their records.
  ///   - name: The model's name, which keeps the files of several stores apart: letters, digits, `.`, `_`, `-`.
  ///   - bundledFile: The model to use until another one has arrived; nil for none.
  /// - Throws: `invalidArgument` for an empty name or other characters, or `unwritableFile`.
  public init(folder: String, name: String, bundledFile: String? = nil) throws(ApusError) {
    try Self.check(name, "name")
    files = try ModelFolder(path: folder, name: name)
    self.bundledFile = bundledFile
    let current = files.current()
    observers = StateObservers(
      current.flatMap(\.version).map { .ready(version: $0) } ?? (bundledFile == nil ? .empty : .bundled))
  }

  private static func check(_ text: String, _ role: String) throws(ApusError) {
    let letters = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard letters, (1...64).contains(text.utf8.count), !text.hasPrefix(".") else {
      throw ApusError(
        .invalidArgument,
        "the \(role) '\(text.prefix(80))' is not 1 to 64 letters, digits, '.', '_' and '-', or begins with '.'"
      )
    }
  }

  // MARK: What there is

  /// The newest model: the one that arrived, or else the bundled one; nil if there is neither.
  public var latest: StoredModel? {
    files.current() ?? bundledFile.map { StoredModel(path: $0, version: nil, sha256: nil) }
  }

  /// Reads the newest model. One that arrived is checked against its SHA-256; if it is damaged, it is removed, and the
  /// bundled one is read.
  ///
  /// - Throws: `unreadableFile` if there is no model, or one that arrived cannot be read now; errors of `Apus.Model`.
  public func model() throws(ApusError) -> Model {
    var attempts = 0
    while let current = files.current(), let version = current.version {
      do throws(ApusError) {
        try files.check(current.path, against: current.sha256 ?? "")
        return try Model(contentsOfFile: current.path)
      } catch {
        // Another process may have installed a newer one, and removed this one.
        attempts += 1
        if attempts < 8, files.current() != current { continue }
        // A passing error, such as too many open files, says nothing about the file.
        guard [.wrongChecksum, .malformedModel].contains(error.code) else { throw error }
        files.forget(current)
        observers.send(.failed(version: version, error))
        guard bundledFile != nil else { throw error }
        break
      }
    }
    guard let bundledFile else {
      throw ApusError(.unreadableFile, "the store has no model: none has arrived, and none is bundled")
    }
    return try Model(contentsOfFile: bundledFile)
  }

  /// The current state and all later ones. Each call makes a sequence of its own.
  public var states: AsyncStream<State> { observers.stream() }

  // MARK: Updates

  /// Gets a version, unless it is there already. Concurrent callers for the same version wait for one download.
  ///
  /// - Parameters:
  ///   - version: The version's name: letters, digits, `.`, `_`, `-`.
  ///   - sha256: The file's checksum, in 64 hexadecimal digits.
  ///   - download: Writes the file to the path it is given, and may report progress. Its task is cancelled when no caller waits for it any more.
  /// - Throws: What `download` throws; `CancellationError` at once if the caller's task is cancelled; `invalidArgument`; `wrongChecksum`;
  ///   `malformedModel` for a file that is not a model; `unwritableFile`. The previous model stays.
  @discardableResult
  public func update(
    to version: String, sha256: String, download: @escaping @Sendable (ModelDownload) async throws -> Void
  ) async throws -> StoredModel {
    try Self.check(version, "version")
    let pin = sha256.lowercased()
    guard pin.utf8.count == 64, pin.allSatisfy(\.isHexDigit) else {
      throw ApusError(.invalidArgument, "'\(sha256.prefix(80))' is not a SHA-256 of 64 hexadecimal digits")
    }
    return try await downloads.value(for: "\(version) \(pin)") {
      try await self.fetch(version, pin, download)
    }
  }

  private func fetch(
    _ version: String, _ pin: String, _ download: @Sendable (ModelDownload) async throws -> Void
  ) async throws -> StoredModel {
    let files = files
    let isThere = try await cancellable { _ throws(ApusError) -> StoredModel? in
      guard let current = files.current(), current.version == version, current.sha256 == pin,
        (try? files.check(current.path, against: pin)) != nil
      else { return nil }
      return current
    }
    if let isThere { return isThere }
    let part = files.temporaryPath()
    defer { files.remove(part) }
    do {
      let observers = observers
      observers.send(.downloading(version: version, fraction: 0))
      try await download(
        ModelDownload(path: part) { observers.send(.downloading(version: version, fraction: $0)) })
      try Task.checkCancellation()
      observers.send(.checking(version: version))
      let stored = try await cancellable { cancellation throws(ApusError) in
        try files.check(part, against: pin)
        _ = try Model(contentsOfFile: part)
        guard !cancellation.isCancelled else {
          throw ApusError(.cancelled, "the download of version \(version) was cancelled")
        }
        return try self.installing.withLock { _ throws(ApusError) in
          try files.install(part, version: version, sha256: pin)
        }
      }
      observers.send(.ready(version: version))
      return stored
    } catch {
      observers.send(.failed(version: version, Self.reason(error, version)))
      throw error
    }
  }

  /// The error that observers see.
  private static func reason(_ error: any Error, _ version: String) -> ApusError {
    if let error = error as? ApusError { return error }
    if error is CancellationError {
      return ApusError(.cancelled, "the download of version \(version) was cancelled")
    }
    return ApusError(.downloadFailed, "version \(version) could not be downloaded: \(error)")
  }
}

extension ApusError.Code {
  /// The bytes of a file are not those that were expected.
  public static let wrongChecksum = ApusError.Code(rawValue: "wrongChecksum")
  /// A file did not arrive: an observer of ``ModelStore/states`` sees it with what the download threw.
  public static let downloadFailed = ApusError.Code(rawValue: "downloadFailed")
  /// A file could not be created or written.
  public static let unwritableFile = ApusError.Code(rawValue: "unwritableFile")
}
