// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// `apus track`: what it reads, writes and refuses. Which numbers objects get is tested with the library.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct TrackCommandTests {
  /// A box that moves for ten frames, is away for ten, and comes back, in a file `det.txt`.
  private func withDetections(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let lines = (Array(1...10) + Array(21...30)).map { "\($0),-1,\(10 * $0),50,40,80,0.9,-1,-1,-1\n" }
      try Data(lines.joined().utf8).write(to: folder.appending(path: "det.txt"))
      try body(folder)
    }
  }

  @Test("numbers objects and counts them", arguments: ["sort", "bytetrack"])
  func numbersObjects(method: String) throws {
    try withDetections { folder in
      let command = "$APUS track det.txt --method \(method) --output tracks.txt --json > counts.json"
      let answer = try shell(command, in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
      let tracks = try String(contentsOf: folder.appending(path: "tracks.txt"), encoding: .utf8).split(
        separator: "\n")
      let first = method == "sort" ? 3 : 2
      #expect(tracks.count == 20 - first + 1)
      #expect(tracks.allSatisfy { $0.split(separator: ",")[1] == "1" })
      #expect(tracks.first?.hasPrefix("\(first),1,") == true && tracks.last?.hasPrefix("30,1,") == true)
      let counts = try String(contentsOf: folder.appending(path: "counts.json"), encoding: .utf8)
      #expect(
        counts == "{\"boxes\":\(20 - first + 1),\"detections\":20,\"frames\":30,\"most\":1,\"tracks\":1}\n")
    }
  }

  @Test func aTrackEndsAfterTheTimeForLostObjects() throws {
    try withDetections { folder in
      let answer = try shell("cat det.txt | $APUS track - --lost-time 0.2 | grep -q '2 tracks'", in: folder)
      #expect(answer.status == 0)
    }
  }

  @Test(
    "says that no score of a file starts a track", arguments: [("-1", true), ("0.6", true), ("0.7", false)])
  func warnsOfScores(score: String, isLow: Bool) throws {
    try withTemporaryFolder { folder in
      let lines = (1...3).map { "\($0),-1,10,10,20,20,\(score)\n" }.joined()
      try Data(lines.utf8).write(to: folder.appending(path: "det.txt"))
      let answer = try shell("$APUS track det.txt", in: folder)
      #expect(answer.status == 0)
      #expect(answer.errors.contains("and --activation-score is 0.7") == isLow, "\(answer.errors)")
    }
  }

  @Test("a gap of a billion frames ends at the time limit")
  func obeysTheTimeLimit() throws {
    try withTemporaryFolder { folder in
      let lines = [1, 2, 3, 1_000_000_000].map { "\($0),-1,10,10,20,20,0.9\n" }.joined()
      try Data(lines.utf8).write(to: folder.appending(path: "det.txt"))
      let command = "$APUS track det.txt --lost-time 86400 --frame-rate 10000 --time-limit 1"
      let answer = try shell(command, in: folder)
      #expect(
        answer.status == 1 && answer.errors.contains("longer than the limit of 1.0 seconds"), "\(answer)")
    }
  }

  @Test(
    "refuses with one line",
    arguments: [
      ("track none.txt", "none.txt"), ("track bad.txt", "bad.txt: line 1"),
      ("track det.txt --method deep", "deep"),
      ("track det.txt --frame-rate 0", "--frame-rate is 0.0"),
      ("track det.txt --minimum-overlap nan", "--minimum-overlap is nan"),
      ("track det.txt --minimum-hits 0", "--minimum-hits is 0"),
      ("track det.txt --lost-time=-1", "--lost-time is -1"),
      ("track det.txt --activation-score inf", "--activation-score is inf"),
      ("track det.txt --method sort --high-score 0.5", "--high-score is for bytetrack"),
      ("track det.txt --output none/t.txt", "none/t.txt"),
      ("track det.txt --output -", "--output - is no file"),
    ])
  func refuses(arguments: String, message: String) throws {
    try withDetections { folder in
      try Data("1,-1,nan,2,3,4\n".utf8).write(to: folder.appending(path: "bad.txt"))
      let answer = try shell("$APUS \(arguments)", in: folder)
      #expect((1...64).contains(answer.status) && !answer.signal)
      #expect(
        answer.errors.contains(message) && answer.errors.split(separator: "\n").count == 1, "\(answer.errors)"
      )
    }
  }
}
