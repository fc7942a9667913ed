// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusShapes
import ApusVision
import Foundation
import Synchronization
import TestSupport
import Testing

/// A caller's download.
private typealias Download = @Sendable (ModelDownload) async throws -> Void

private let writeShapes: Download = { download in
  try Data(EmbeddedShapes.modelBytes).write(to: URL(filePath: download.path))
}

@Suite(.timeLimit(.minutes(1))) struct ModelStoreTests {
  /// The embedded model's SHA-256, of `sha256sum`.
  private static let shapesPin = "80137a161af98db8e471139c7eae86ee9afe6bd17a1ec49d8ec621d9ac1e6dde"

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("a model that arrives takes the place of the bundled one, and is there after a restart")
  func installs() async throws {
    try await withFolder { folder in
      let bundled = folder.path + ".tflite"
      try Data(EmbeddedShapes.modelBytes).write(to: URL(filePath: bundled))
      defer { try? FileManager.default.removeItem(atPath: bundled) }
      let store = try ModelStore(folder: folder.path, name: "shapes", bundledFile: bundled)
      var states = store.states.makeAsyncIterator()
      #expect(await states.next() == .bundled)
      #expect(store.latest?.path == bundled && store.latest?.version == nil && store.latest?.sha256 == nil)
      let stored = try await store.update(to: "2.0", sha256: Self.shapesPin.uppercased()) { download in
        download.report(0.5)
        download.report(0.501)
        download.report(0.25)
        try await writeShapes(download)
        download.report(.infinity)
      }
      #expect(stored.version == "2.0" && stored == store.latest)
      for expected: ModelStore.State in [
        .downloading(version: "2.0", fraction: 0), .downloading(version: "2.0", fraction: 0.5),
        .downloading(version: "2.0", fraction: 1), .checking(version: "2.0"), .ready(version: "2.0"),
      ] {
        #expect(await states.next() == expected)
      }
      #expect(try store.model().outputs.count == 4)
      // No parts are left.
      #expect(try names(folder) == ["shapes-\(Self.shapesPin.prefix(16)).tflite", "shapes.current"])
      let restarted = try ModelStore(folder: folder.path, name: "shapes")
      #expect(restarted.latest == stored)
      var after = restarted.states.makeAsyncIterator()
      #expect(await after.next() == .ready(version: "2.0"))
      // A stored version is not downloaded again.
      try await restarted.update(to: "2.0", sha256: Self.shapesPin) { _ in Issue.record("was downloaded") }
    }
  }

  @Test("a new version removes the file of the one before")
  func replaces() async throws {
    try await withFolder { folder in
      let store = try ModelStore(folder: folder.path, name: "m")
      try await store.update(to: "1", sha256: Self.shapesPin, download: writeShapes)
      // The model with a byte appended is another file.
      let (other, pin) = (
        EmbeddedShapes.modelBytes + [0], "346f4d925afd2f31ebe45482ba2f9db578f488cc4e2e7435a2a907da0160fc4d"
      )
      let stored = try await store.update(to: "2", sha256: pin) {
        try Data(other).write(to: URL(filePath: $0.path))
      }
      #expect(try names(folder) == ["m-\(pin.prefix(16)).tflite", "m.current"])
      #expect(store.latest == stored && stored.version == "2")
    }
  }

  @Test("a model that cannot be read now stays for later")
  func keepsWhatPasses() async throws {
    try await withFolder { folder in
      let store = try ModelStore(folder: folder.path, name: "m")
      let stored = try await store.update(to: "1", sha256: Self.shapesPin, download: writeShapes)
      let away = folder.path + ".away"
      defer { try? FileManager.default.removeItem(atPath: away) }
      try FileManager.default.moveItem(atPath: stored.path, toPath: away)
      try FileManager.default.createDirectory(atPath: stored.path, withIntermediateDirectories: false)
      #expect(throws: ApusError.self) { try store.model() }
      try FileManager.default.removeItem(atPath: stored.path)
      try FileManager.default.moveItem(atPath: away, toPath: stored.path)
      #expect(try store.model().outputs.count == 4 && store.latest == stored)
    }
  }

  @Test("what is not the expected file, or no model, or does not arrive, changes nothing")
  func refuses() async throws {
    struct Offline: Error {}
    try await withFolder { folder in
      let store = try ModelStore(folder: folder.path, name: "m")
      try await store.update(to: "1", sha256: Self.shapesPin, download: writeShapes)
      let text = Data("no model".utf8)
      // Of `printf 'no model' | sha256sum`.
      let textPin = "f62c7d17e241fe5c5c0c64d2e32ab6e3bd10547a9c02977cc126acc0fe6e6554"
      let writeText: Download = { try text.write(to: URL(filePath: $0.path)) }
      let fail: Download = { _ in throw Offline() }
      let stop: Download = { _ in throw CancellationError() }
      let forget: Download = { _ in }
      for (code, pin, download) in [
        (.wrongChecksum, textPin, writeShapes), (.malformedModel, textPin, writeText),
        (.unreadableFile, textPin, forget), (.invalidArgument, "12", writeShapes),
        (.invalidArgument, String(repeating: "g", count: 64), writeShapes),
      ] as [(ApusError.Code, String, Download)] {
        let error = await #expect(throws: ApusError.self) {
          try await store.update(to: "2", sha256: pin, download: download)
        }
        #expect(error?.code == code, "\(error?.message ?? "")")
        #expect(store.latest?.version == "1")
        #expect(try names(folder).count == 2)
      }
      // A download's error arrives as it is, and observers see it in an error of the store's.
      var states = store.states.makeAsyncIterator()
      _ = await states.next()
      await #expect(throws: Offline.self) { try await store.update(to: "2", sha256: textPin, download: fail) }
      await #expect(throws: CancellationError.self) {
        try await store.update(to: "2", sha256: textPin, download: stop)
      }
      var codes: [ApusError.Code] = []
      while codes.count < 2 {
        if case .failed(version: "2", let error)? = await states.next() { codes.append(error.code) }
      }
      #expect(codes == [.downloadFailed, .cancelled])
      #expect(try store.latest?.version == "1" && names(folder).count == 2)
      for name in ["", "a/b", "..", ".hidden", String(repeating: "a", count: 65), "a b", "é", "a\n"] {
        #expect(throws: ApusError.self) { try ModelStore(folder: folder.path, name: name) }
        await #expect(throws: ApusError.self) {
          try await store.update(to: name, sha256: Self.shapesPin, download: writeShapes)
        }
      }
      #expect(throws: ApusError.self) { try ModelStore(folder: "/proc/nowhere", name: "m") }
    }
  }

  @Test("a file that is damaged later is forgotten, and the bundled model is used")
  func fallsBack() async throws {
    try await withFolder { folder in
      let bundled = folder.path + ".tflite"
      try Data(EmbeddedShapes.modelBytes).write(to: URL(filePath: bundled))
      defer { try? FileManager.default.removeItem(atPath: bundled) }
      let store = try ModelStore(folder: folder.path, name: "m", bundledFile: bundled)
      let stored = try await store.update(to: "1", sha256: Self.shapesPin, download: writeShapes)
      var bytes = EmbeddedShapes.modelBytes
      bytes[bytes.count / 2] ^= 1
      try Data(bytes).write(to: URL(filePath: stored.path))
      #expect(try store.model().outputs.count == 4)
      #expect(store.latest?.path == bundled && store.latest?.version == nil)
      #expect(try names(folder).isEmpty)
      // Records that are no records are no models either.
      for text in ["", "ApusModel1", "ApusModel1\n1\n../../etc\n", "ApusModel2\n1\n\(Self.shapesPin)\n"] {
        try Data(text.utf8).write(to: folder.appending(path: "m.current"))
        #expect(store.latest?.path == bundled)
      }
      let empty = try ModelStore(folder: folder.path, name: "other")
      #expect(empty.latest == nil)
      #expect(throws: ApusError.self) { try empty.model() }
    }
  }

  @Test("callers who want the same version wait for one download")
  func downloadsOnce() async throws {
    try await withFolder { folder in
      let store = try ModelStore(folder: folder.path, name: "m")
      final class Downloads: Sendable { let count = Mutex(0) }
      let downloads = Downloads()
      try await withThrowingTaskGroup(of: ModelStore.StoredModel.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await store.update(to: "1", sha256: Self.shapesPin) { download in
              downloads.count.withLock { $0 += 1 }
              try await Task.sleep(for: .milliseconds(50))
              try await writeShapes(download)
            }
          }
        }
        for try await stored in group { #expect(stored.version == "1") }
      }
      #expect(downloads.count.withLock { $0 } == 1)
    }
  }

  @Test("cancelling the caller cancels the download")
  func cancels() async throws {
    try await withFolder { folder in
      let store = try ModelStore(folder: folder.path, name: "m")
      let task = Task {
        try await store.update(to: "1", sha256: Self.shapesPin) { _ in try await Task.sleep(for: .seconds(50))
        }
      }
      try await Task.sleep(for: .milliseconds(20))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(store.latest == nil)
    }
  }

  @Test("a caller who is cancelled returns at once, and the others get the model all the same")
  func keepsTheOthersDownload() async throws {
    try await withFolder { folder in
      let store = try ModelStore(folder: folder.path, name: "m")
      let (gate, opening) = AsyncStream<Void>.makeStream()
      let wait: Download = { download in
        for await _ in gate {}
        try Task.checkCancellation()
        try await writeShapes(download)
      }
      let first = Task { try await store.update(to: "1", sha256: Self.shapesPin, download: wait) }
      try await Task.sleep(for: .milliseconds(50))
      let second = Task {
        try await store.update(to: "1", sha256: Self.shapesPin) { _ in Issue.record("was downloaded twice") }
      }
      try await Task.sleep(for: .milliseconds(50))
      first.cancel()
      // The download still waits.
      await #expect(throws: CancellationError.self) { try await first.value }
      opening.finish()
      #expect(try await second.value.version == "1")
      // A caller that was cancelled before gets no download.
      let late = Task {
        while !Task.isCancelled { await Task.yield() }
        try await store.update(to: "2", sha256: Self.shapesPin) { _ in Issue.record("was downloaded") }
      }
      late.cancel()
      await #expect(throws: CancellationError.self) { try await late.value }
      #expect(store.latest?.version == "1")
    }
  }
}
