// SPDX-License-Identifier: Apache-2.0
import Apus
import Foundation
import Synchronization

/// The models that a server knows, by name and version: those that were named, and those of a folder.
public final class ModelRepository: Sendable {
  /// A model that the server knows.
  public struct Entry: Sendable {
    /// Where it comes from.
    public let source: ModelSource
    /// The model, while it is loaded.
    public let model: ServedModel?
    /// Why it is not loaded.
    public let reason: String
    /// Whether it was to be loaded and could not be.
    public let hasFailed: Bool

    init(source: ModelSource, model: ServedModel? = nil, reason: String, hasFailed: Bool = false) {
      self.source = source
      self.model = model
      self.reason = reason
      self.hasFailed = hasFailed
    }

    /// A model that could not be loaded; the reason is the first line of the error.
    init(_ source: ModelSource, failedBy message: String) {
      let line = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? message
      self.init(source: source, reason: line, hasFailed: true)
    }
  }

  private struct State {
    var entries: [String: [String: Entry]] = [:]
  }

  private let state = Mutex(State())
  /// One load or unload at a time; requests go on meanwhile.
  private let change = NSLock()
  private let folders: [String]
  private let named: [ModelSource]
  private let scheduler: Scheduler
  private let maximumBatch: Int

  /// Makes a repository of nothing; ``loadAll()`` fills it.
  ///
  /// - Parameters:
  ///   - files: Paths of models to serve by their stems.
  ///   - folders: Folders of models, whose names differ.
  public init(files: [String], folders: [String], maximumBatch: Int, scheduler: Scheduler) {
    self.folders = folders
    self.maximumBatch = maximumBatch
    self.scheduler = scheduler
    named = files.map { ModelFolder.source(ofFile: $0) }
  }

  // MARK: Looking up

  /// The model of a name, of the highest version where none is given.
  ///
  /// - Throws: `notFound` for a name or version that does not exist, `notReady` where it is not loaded.
  public func model(named name: String, version: String? = nil) throws(ServingError) -> ServedModel {
    let entry = try entry(named: name, version: version)
    guard let model = entry.model else {
      throw ServingError(
        .notReady, "the model '\(name)' version \(entry.source.version) is not ready: \(entry.reason)")
    }
    return model
  }

  /// The loaded versions of a name, the lowest first, or the one that is given.
  ///
  /// - Throws: as ``model(named:version:)``.
  public func models(named name: String, version: String?) throws(ServingError) -> [ServedModel] {
    let model = try model(named: name, version: version)
    if let version, !version.isEmpty { return [model] }
    return entries.filter { $0.source.name == name }.compactMap(\.model)
  }

  /// The entry of a name; among versions the highest that is loaded, or else the highest.
  public func entry(named name: String, version: String? = nil) throws(ServingError) -> Entry {
    let versions = state.withLock { $0.entries[name] }
    guard let versions else {
      throw ServingError(.notFound, "Request for unknown model: '\(name)' is not found")
    }
    if let version, !version.isEmpty {
      guard let entry = versions[version] else {
        // Triton's clients look for its words about what is no version at all.
        let hint =
          UInt64(version) != nil
          ? "" : ": failed to get model version from specified version string '\(version)'"
        throw ServingError(
          .notFound, "Request for unknown model: '\(name)' version \(version) is not found\(hint)")
      }
      return entry
    }
    let entries = versions.values.sorted(by: Self.precedes)
    guard let entry = entries.last(where: { $0.model != nil }) ?? entries.last else {
      throw ServingError(.notFound, "Request for unknown model: '\(name)' is not found")
    }
    return entry
  }

  /// The loaded models in the order of their names, each in the version that ``model(named:version:)`` has where none is given.
  public var models: [ServedModel] {
    state.withLock { $0.entries.keys.sorted() }.compactMap { try? model(named: $0) }
  }

  /// Every model that the server knows, by name and version.
  public var entries: [Entry] {
    state.withLock { $0.entries.values.flatMap(\.values) }.sorted {
      $0.source.name == $1.source.name ? Self.precedes($0, $1) : $0.source.name < $1.source.name
    }
  }

  /// The loaded versions of a name.
  public func versions(of name: String) -> [String] {
    entries.filter { $0.source.name == name && $0.model != nil }.map(\.source.version)
  }

  private static func precedes(_ first: Entry, _ second: Entry) -> Bool {
    (UInt64(first.source.version) ?? 0) < (UInt64(second.source.version) ?? 0)
  }

  // MARK: Loading

  private static let notAskedFor = "it was not asked for yet"

  /// Whether a model was to be loaded and could not be. One that was unloaded since does not count.
  public var hasFailedModels: Bool {
    state.withLock { $0.entries.values.contains { $0.values.contains(where: \.hasFailed) } }
  }

  /// Notes for the log on entries of the folders that are not served as expected.
  public var notes: [FolderNote] { folders.flatMap(ModelFolder.notes) }

  /// The models of all folders.
  private func sourcesOfFolders() throws(ApusError) -> [ModelSource] {
    var sources: [ModelSource] = []
    for folder in folders { sources += try ModelFolder.sources(in: folder) }
    return sources
  }

  /// Lists models that came into the folders since the start, or since the last time: a client may ask for them.
  ///
  /// Blocks: call it from a thread that may wait.
  public func lookForMore() {
    guard let sources = try? sourcesOfFolders(), (try? ModelFolder.check(sources)) != nil else { return }
    state.withLock { state in
      for source in sources where state.entries[source.name]?[source.version] == nil {
        state.entries[source.name, default: [:]][source.version] = Entry(
          source: source, reason: Self.notAskedFor)
      }
    }
  }

  /// Looks for models and loads them.
  ///
  /// - Parameter wanted: The names of the folders' models to load; others are listed until a client asks for them. Empty for all.
  /// - Throws: two models of one name, an unreadable folder, a wanted name that is not there, or what stops a named model.
  /// - Returns: The models of the folder that cannot be served, with the reason.
  public func loadAll(_ wanted: Set<String> = []) throws(ApusError) -> [Entry] {
    var sources = named
    sources += try sourcesOfFolders()
    if sources.isEmpty, folders.isEmpty { sources = [.embedded] }
    try ModelFolder.check(sources)
    if let missing = wanted.subtracting(sources.map(\.name)).min() {
      throw ApusError(.invalidArgument, "there is no model '\(missing)' to load")
    }
    var failed: [Entry] = []
    for source in sources {
      let entry: Entry
      if !wanted.isEmpty, !wanted.contains(source.name), !named.contains(source) {
        entry = Entry(source: source, reason: Self.notAskedFor)
      } else {
        do { entry = try load(source) } catch {
          if named.contains(source) { throw error }
          entry = Entry(source, failedBy: error.message)
          failed.append(entry)
        }
      }
      let known = entry
      state.withLock { $0.entries[source.name, default: [:]][source.version] = known }
    }
    return failed
  }

  private func load(_ source: ModelSource, _ settings: LoadSettings = LoadSettings()) throws(ApusError)
    -> Entry
  {
    let model = try ServedModel(source, maximumBatch: settings.maximumBatch ?? maximumBatch)
    try settings.check(model)
    try scheduler.prepare(model)
    return Entry(source: source, model: model, reason: "")
  }

  /// Loads a model of the repository, or loads it again from its file. Requests to the old one are answered.
  ///
  /// Blocks: call it from a thread that may wait.
  public func load(named name: String, _ settings: LoadSettings = LoadSettings()) throws(ServingError) {
    try Self.check(name)
    change.lock()
    defer { change.unlock() }
    var sources = state.withLock { $0.entries[name]?.values.map(\.source) ?? [] }
    if !folders.isEmpty, !named.contains(where: { $0.name == name }) {
      // The name is compared with what the folder holds and never becomes part of a path.
      do {
        let found = try sourcesOfFolders().filter { $0.name == name }
        try ModelFolder.check(found)
        if !found.isEmpty { sources = found }
      } catch { throw ServingError(.internalFailure, error.message) }
    }
    guard !sources.isEmpty else {
      throw ServingError(
        .notFound, "failed to load '\(name)', failed to poll from model repository: there is no such model")
    }
    try replace(name, by: sources, settings)
  }

  /// Serves a model that a client sent, in place of one with its name. It ends with the server.
  ///
  /// Blocks: call it from a thread that may wait.
  public func add(_ bytes: [UInt8], named name: String) throws(ServingError) {
    try Self.check(name)
    change.lock()
    defer { change.unlock() }
    try replace(
      name, by: [ModelSource(name: name, path: nil, bytes: bytes, problem: nil)], LoadSettings())
  }

  /// Loads all versions of a model, and then lets the old ones go.
  private func replace(
    _ name: String, by sources: [ModelSource], _ settings: LoadSettings
  ) throws(ServingError) {
    var loaded: [String: Entry] = [:]
    for source in sources {
      do { loaded[source.version] = try load(source, settings) } catch {
        for entry in loaded.values { entry.model.map(scheduler.retire) }
        // A wrong configuration is the client's mistake and no failure of the model.
        if settings.maximumBatch == nil { noteFailure(of: name, sources, at: source, error.message) }
        throw ServingError(.badRequest, "failed to load '\(name)': \(error.message)")
      }
    }
    let fresh = loaded
    let old = state.withLock { state in
      let old = state.entries[name] ?? [:]
      state.entries[name] = fresh
      return old
    }
    for entry in old.values { entry.model.map(scheduler.retire) }
  }

  /// Lists what could not be loaded with the reason, unless the model that was loaded before goes on.
  private func noteFailure(
    of name: String, _ sources: [ModelSource], at failing: ModelSource, _ message: String
  ) {
    // A model that a client sent is not listed.
    guard failing.bytes == nil else { return }
    let entries = sources.map { source in
      source == failing
        ? Entry(source, failedBy: message)
        : Entry(source: source, reason: "version \(failing.version) of the model could not be loaded")
    }
    state.withLock { state in
      guard state.entries[name]?.values.allSatisfy({ $0.model == nil }) ?? true else { return }
      state.entries[name] = Dictionary(entries.map { ($0.source.version, $0) }) { first, _ in first }
    }
  }

  /// Refuses what is no name of a model: nothing, and what looks like a path.
  private static func check(_ name: String) throws(ServingError) {
    let trimmed = name.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !trimmed.isEmpty else {
      throw .bad("failed to load '\(name)': Model name cannot be empty. Please enter a valid name to deploy.")
    }
    guard trimmed != "..", trimmed != ".", !trimmed.contains("/") else {
      throw .bad("failed to load '\(name)': model name must not contain path traversal characters")
    }
  }

  /// Unloads all versions of a model; requests that were accepted are answered.
  public func unload(named name: String) throws(ServingError) {
    change.lock()
    defer { change.unlock() }
    let old = state.withLock { state -> [String: Entry]? in
      guard let versions = state.entries[name] else { return nil }
      state.entries[name] = versions.mapValues { Entry(source: $0.source, reason: "unloaded") }
      return versions
    }
    guard let old else {
      throw ServingError(.notFound, "failed to unload '\(name)': there is no such model in the repository")
    }
    for entry in old.values { entry.model.map(scheduler.retire) }
  }
}
