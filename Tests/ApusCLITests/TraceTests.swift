// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `--trace` and `--node-data`: files that other programs read.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct TraceTests {
  /// A complete event as `JSONSerialization` reads it.
  private struct Event {
    let name: String
    let category: String
    let thread: Int
    let start: Double
    let end: Double
  }

  private struct Golden: Decodable {
    let name: String
    let model: Data
  }

  private func write(_ model: String, to folder: URL) throws {
    let goldens: [Golden] = TestSupport.goldens("tensors")
    try #require(goldens.first { $0.name == model }).model.write(
      to: folder.appending(path: "model.tflite"))
  }

  /// The events of a file, which are complete, and the number of lost ones.
  private func events(_ file: URL) throws -> (events: [Event], lost: Int) {
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    let list = try #require(document["traceEvents"] as? [[String: Any]])
    let events = try list.compactMap { entry -> Event? in
      let phase = try #require(entry["ph"] as? String)
      if phase == "M" { return nil }
      #expect(phase == "X" && entry["pid"] is Int)
      let start = try #require(entry["ts"] as? Double)
      let duration = try #require(entry["dur"] as? Double)
      #expect(start >= 0 && duration >= 0)
      return Event(
        name: try #require(entry["name"] as? String), category: try #require(entry["cat"] as? String),
        thread: try #require(entry["tid"] as? Int), start: start, end: start + duration)
    }
    let other = try #require(document["otherData"] as? [String: Any])
    return (events, try #require(other["lost_events"] as? Int))
  }

  /// Whether `inner` lies in `outer`, up to the rounding of this test's floats.
  private func lies(_ inner: Event, in outer: Event) -> Bool {
    inner.thread == outer.thread && inner.start >= outer.start - 1e-3 && inner.end <= outer.end + 1e-3
  }

  /// The verdict of the format's checker; nil where there is no Python.
  private func verdict(_ file: URL) throws -> (status: Int32, text: String)? {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let python = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    guard let python else { return nil }
    let process = Process()
    process.executableURL = URL(filePath: python)
    process.arguments = [root.appending(path: "Tools/check_trace.py").path, file.path]
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  @Test("the steps of a run are in its trace, within the run")
  func run() throws {
    try withTemporaryFolder { folder in
      try write("convolutions", to: folder)
      let run = try apus("run model.tflite --runs 3 --trace trace.json", in: folder)
      #expect(run.status == 0 && run.errors.isEmpty)
      let file = folder.appending(path: "trace.json")
      let (events, lost) = try events(file)
      #expect(lost == 0)
      let runs = events.filter { $0.name == "invoke" }
      let steps = events.filter { $0.category == "step" }
      #expect(runs.count == 3 && steps.contains { $0.name.contains("CONV_2D") })
      #expect(steps.count.isMultiple(of: 3))
      for step in steps { #expect(runs.contains { lies(step, in: $0) }) }
      #expect(events.contains { $0.name == "load" } && events.contains { $0.name == "prepare" })
      if let verdict = try verdict(file) { #expect(verdict.status == 0, "\(verdict.text)") }
    }
  }

  @Test("a picture's trace goes from its file to its answer, with tiles and waits")
  func picture() throws {
    try withTemporaryFolder { folder in
      let found = try apus("detect --threads 2 --trace trace.json --quiet", in: folder)
      #expect(found.status == 0 && found.errors.isEmpty)
      let file = folder.appending(path: "trace.json")
      let (events, _) = try events(file)
      let picture = try #require(events.first { $0.name == "embedded picture" })
      var last = -Double.infinity
      for stage in ["read", "decode", "preprocess", "invoke", "postprocess", "annotate"] {
        let event = try #require(events.first { $0.name == stage }, "\(stage)")
        #expect(lies(event, in: picture) && event.start >= last, "\(stage)")
        last = event.end - 1e-3
      }
      let steps = events.filter { $0.category == "step" }
      let tiles = events.filter { $0.category == "tile" }
      #expect(!tiles.isEmpty && events.contains { $0.name == "wait for other threads" })
      for tile in tiles where tile.thread == picture.thread {
        #expect(
          steps.contains { lies(tile, in: $0) }
            || !events.contains { $0.name == "invoke" && lies(tile, in: $0) })
      }
      if let verdict = try verdict(file) { #expect(verdict.status == 0, "\(verdict.text)") }
    }
  }

  @Test("a trace is written even if a picture fails, and a place that cannot be written to is an error")
  func failures() throws {
    try withTemporaryFolder { folder in
      try Data("no picture".utf8).write(to: folder.appending(path: "a.png"))
      let failed = try apus("detect a.png --trace trace.json", in: folder)
      #expect(failed.status == 2)
      #expect(try events(folder.appending(path: "trace.json")).events.contains { $0.name == "a.png" })
      let refused = try apus("detect --trace missing/trace.json", in: folder)
      #expect(refused.status == 1 && refused.errors == "error: cannot write 'missing/trace.json'\n")
    }
  }

  @Test("a trace does not replace what the command has written, and follows what goes to the same stream")
  func twoResults() throws {
    try withTemporaryFolder { folder in
      for command in ["detect --annotate a.png --trace a.png", "detect --annotate a.png --trace ./a.png"] {
        let refused = try apus(command, in: folder)
        #expect(refused.status == 1 && refused.errors.contains("has another result by now"), "\(refused)")
        let picture = folder.appending(path: "a.png")
        #expect(try Data(contentsOf: picture).starts(with: [0x89, 0x50]))
        try FileManager.default.removeItem(at: picture)
      }
      let both = try shell("\"$APUS\" detect --json --trace /dev/stdout > both.txt", in: folder)
      #expect(both.status == 0, "\(both)")
      let text = try String(contentsOf: folder.appending(path: "both.txt"), encoding: .utf8)
      #expect(text.hasPrefix("{") && text.contains("\"detections\"") && text.contains("\"traceEvents\""))
    }
  }

  @Test(
    "the benchmark's trace keeps the newest events, and says how many are lost",
    .enabled(if: builtExecutable("apus-benchmark") != nil, "apus-benchmark is missing"))
  func overflow() throws {
    try withTemporaryFolder { folder in
      try write("convolutions", to: folder)
      let run = try benchmark(
        "model.tflite --runs 40000 --warmup 0 --trace trace.json --node-data nodes.json", in: folder)
      #expect(run.status == 0)
      #expect(run.errors.contains("warning: the trace lacks its "))
      let file = folder.appending(path: "trace.json")
      let (events, lost) = try events(file)
      #expect(lost > 0 && events.count >= 65_536)
      #expect(!events.contains { $0.name == "load" } && events.contains { $0.category == "step" })
      if let verdict = try verdict(file) { #expect(verdict.status == 0, "\(verdict.text)") }

      let nodes = try #require(
        try JSONSerialization.jsonObject(with: Data(contentsOf: folder.appending(path: "nodes.json")))
          as? [String: [String: Any]])
      let graph = try #require(nodes.first?.value)
      let results = try #require(graph["results"] as? [String: [String: Double]])
      #expect(!results.isEmpty && results.allSatisfy { Int($0.key) != nil && ($0.value["value"] ?? -1) >= 0 })
      let gradient = try #require(graph["gradient"] as? [[String: Any]])
      #expect(gradient.compactMap { $0["stop"] as? Double } == [0, 1])
      #expect(gradient.allSatisfy { ($0["bgColor"] as? String)?.hasPrefix("#") == true })
    }
  }

  private func benchmark(
    _ arguments: String, in folder: URL
  ) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    let program: URL = try #require(builtExecutable("apus-benchmark"))
    process.executableURL = program
    process.arguments = arguments.split(separator: " ").map(String.init)
    process.currentDirectoryURL = folder
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let texts = [output, errors].map {
      String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    process.waitUntilExit()
    return (process.terminationStatus, texts[0], texts[1])
  }
}
