// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// `apus watch` with tasks that find landmarks, on a film made by ffmpeg, beside the commands for pictures.
@Suite(
  .enabled(
    if: builtExecutable("apus") != nil && FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg"),
    "apus or ffmpeg is missing"))
struct WatchLandmarkTests {
  // MARK: Models that see the same in every region

  /// A detector that finds one subject.
  private static func detector(_ side: Int32, rows: Int32, columns: Int32) -> [UInt8] {
    var boxes = [Float](repeating: 0, count: Int(rows * columns))
    var logits = [Float](repeating: -9, count: Int(rows))
    let row = Int(rows) / 3
    logits[row] = 3
    for column in 0..<Int(columns) {
      boxes[row * Int(columns) + column] = column < 2 ? 0 : column < 4 ? 60 : Float(column * 13 % 40 - 20)
    }
    return constantModel(side: side, [([1, rows, columns], boxes), ([1, rows, 1], logits)])
  }

  private static func points(_ count: Int, _ low: Float, _ high: Float) -> [Float] {
    (0..<count).map { low + (high - low) * Float($0 * 37 % 101) / 100 }
  }

  private static let palm = detector(192, rows: 2016, columns: 18)
  private static let faces = detector(128, rows: 896, columns: 16)
  private static let person = detector(224, rows: 2254, columns: 12)
  private static let hand = constantModel(
    side: 224,
    [
      ([1, 63], points(63, 0, 224)), ([1, 1], [0.9]), ([1, 1], [0.25]), ([1, 63], points(63, -0.1, 0.1)),
    ])
  private static let mesh = constantModel(
    side: 192, [([1, 1, 1, 1404], points(1404, 0, 192)), ([1, 1, 1, 1], [4])])
  private static let handRegion = constantModel(side: 256, [([1, 4], [60, 70, 190, 180])])
  private static let body = constantModel(
    side: 256,
    [
      ([1, 195], points(195, 20, 236)), ([1, 1], [0.9]), ([1, 16, 16, 1], points(256, -4, 4)),
      ([1, 2, 2, 39], points(156, -6, 0)), ([1, 117], points(117, -1, 1)),
    ])

  struct Kind: Sendable, CustomTestStringConvertible {
    let task: String
    /// Where the command for pictures has what it found.
    let key: String
    let label: String
    /// The files of the models: their names in a bundle, their options, their bytes.
    let models: [(name: String, option: String, bytes: [UInt8])]
    /// How the command for pictures is told that they are frames.
    let frames: String
    /// The options of both commands.
    var options = ""
    var testDescription: String { "\(task) \(options)" }
  }

  static let kinds: [Kind] = [
    Kind(
      task: "hands", key: "hands", label: "hand",
      models: [("hand_detector", "detector", palm), ("hand_landmarks_detector", "landmarks", hand)],
      frames: "--fps 10"),
    Kind(
      task: "face-mesh", key: "faces", label: "face",
      models: [("face_detector", "detector", faces), ("face_landmarks_detector", "landmarks", mesh)],
      frames: "--fps 10"),
    Kind(
      task: "pose", key: "poses", label: "person",
      models: [("pose_detector", "detector", person), ("pose_landmarks_detector", "landmarks", body)],
      frames: "--fps 10"),
    Kind(
      task: "pose", key: "poses", label: "person",
      models: [("pose_detector", "detector", person), ("pose_landmarks_detector", "landmarks", body)],
      frames: "--fps 10", options: "--smooth-regions"),
    Kind(
      task: "holistic", key: "pose", label: "person",
      models: [
        ("pose_detector", "detector", person), ("pose_landmarks_detector", "landmarks", body),
        ("hand_landmarks_detector", "hand", hand), ("hand_roi_refinement", "hand-region", handRegion),
        ("face_detector", "face-detector", faces), ("face_landmarks_detector", "face", mesh),
      ], frames: "--fps 10"),
  ]

  /// A folder with a film of five frames, the models' files and their bundle.
  private func withFilm(_ kind: Kind, _ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let made = try shell(
        "/usr/bin/ffmpeg -hide_banner -nostdin -loglevel error -f lavfi -i testsrc2=size=320x240:rate=10:duration=0.5 -y film.mp4",
        in: folder)
      #expect(made.status == 0, "\(made.errors)")
      for model in kind.models {
        try Data(model.bytes).write(to: folder.appending(path: "\(model.name).tflite"))
      }
      try Data(storedArchive(kind.models.map { ("\($0.name).tflite", $0.bytes) })).write(
        to: folder.appending(path: "models.task"))
      try body(folder)
    }
  }

  private func documents(_ file: String, in folder: URL) throws -> [[String: Any]] {
    try String(contentsOf: folder.appending(path: file), encoding: .utf8).split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  @Test(
    "frames have what the command for pictures finds in them, tracked from one to the next", arguments: kinds)
  func findsWhatPicturesHave(kind: Kind) throws {
    try withFilm(kind) { folder in
      let answer = try shell(
        """
        $APUS watch film.mp4 --task \(kind.task) \(kind.options) --model models.task --track sort --minimum-hits 1 --annotate found.mp4 \
        --save-frames frames --json > lines.json && $APUS \(kind.task) frames/0.png frames/1.png frames/2.png frames/3.png \
        frames/4.png --model models.task \(kind.frames) \(kind.options) --json > pictures.json && $APUS watch found.mp4 --frames 1 > annotated.txt
        """, in: folder)
      #expect(answer.status == 0, "\(answer.errors)")
      let lines = try documents("lines.json", in: folder)
      let pictures = try documents("pictures.json", in: folder)
      try #require(lines.count == 6 && pictures.count == 5)
      for (index, (line, picture)) in zip(lines, pictures).enumerated() {
        #expect(line["frame"] as? Int == index && line["milliseconds"] != nil)
        let found = try #require(line[kind.key] as? NSObject)
        #expect(found == picture[kind.key] as? NSObject, "frame \(index)")
        let objects = try #require(line["detections"] as? [[String: Any]])
        #expect(!objects.isEmpty && objects.allSatisfy { $0["label"] as? String == kind.label })
      }
      // A body that has the same points in every region leaps from frame to frame; hands and faces stay.
      let tracked = lines.flatMap { $0["detections"] as? [[String: Any]] ?? [] }.compactMap {
        $0["track"] as? Int
      }
      #expect(!tracked.isEmpty || kind.label == "person")
      #expect((lines.last?["summary"] as? [String: Any])?["answered"] as? Int == 5)
    }
  }

  @Test("a frame that cannot be read takes its time", arguments: kinds)
  func countsDamagedFrames(kind: Kind) throws {
    try withFilm(kind) { folder in
      let command = "$APUS \(kind.task) --model models.task \(kind.options) --json"
      let answer = try shell(
        """
        $APUS watch film.mp4 --task \(kind.task) \(kind.options) --model models.task --save-frames frames > /dev/null
        echo damaged > frames/1.png
        \(command) frames/0.png frames/1.png frames/2.png --fps 10 > damaged.json
        test $? = 2 && \(command) frames/0.png frames/2.png --fps 5 > whole.json && \(command) frames/0.png frames/2.png --fps 10 > fast.json
        """, in: folder)
      #expect(answer.status == 0, "\(answer.errors)")
      let last = try ["damaged", "whole", "fast"].map {
        try #require(documents("\($0).json", in: folder).last?[kind.key] as? NSObject)
      }
      #expect(last[0] == last[1])
      // Smoothing depends on the time between frames.
      if kind.label != "person" { #expect(last[0] != last[2]) }
    }
  }

  @Test("a bundle and its models one by one give the same", arguments: kinds)
  func takesModelsOneByOne(kind: Kind) throws {
    try withFilm(kind) { folder in
      let options = kind.models.map { "--\($0.option) \($0.name).tflite" }.joined(separator: " ")
      let rest = #"sed -E 's/"milliseconds":[{][^}]*[}]//; s/"fps":[^,]*//'"#
      let answer = try shell(
        """
        $APUS watch film.mp4 --task \(kind.task) --model models.task --json | \(rest) > one.json
        $APUS watch film.mp4 --task \(kind.task) \(options) --json --threads 2 | \(rest) > other.json
        cmp one.json other.json && test $(wc -l < one.json) = 6
        """, in: folder)
      #expect(answer.status == 0, "\(answer.errors)")
    }
  }

  @Test(
    "refuses with one line",
    arguments: [
      ("--task hands", "the models are missing"), ("--task pose --detector d", "the models are missing"),
      ("--task hands --model b.task --detector d --landmarks l", "--model excludes"),
      ("--task holistic --detector d --landmarks l", "models are missing: --model, or"),
      ("--task holistic --model b.task --face f", "--model excludes --hand"),
      ("--task face-mesh --model b.task --blendshapes x", "it excludes --blendshapes"),
      ("--task hands --model b.task --blendshapes x", "--blendshapes is for --task face-mesh"),
      ("--task pose --model b.task --gallery g", "--gallery is for --task hands"),
      ("--task hands --model b.task --distance 1", "--gallery is missing"),
      ("--task detect --no-smoothing", "--no-smoothing is for --task hands"),
      ("--task holistic --model b.task --smooth-regions", "--smooth-regions is for --task pose"),
      ("--task pose --model b.task --smooth-regions --no-smoothing", "--no-smoothing excludes"),
      ("--task holistic --model b.task --tracking-threshold 1", "--tracking-threshold is for --task"),
      ("--task holistic --model b.task --max-results 2", "--max-results is for --task detect"),
      (
        "--task pose --model b.task --iou-threshold 0.2",
        "--iou-threshold is for --task detect, faces, keypoints, face-mesh"
      ),
      (
        "--task hands --model b.task --fit stretch",
        "--fit is for --task detect, classify, faces, segment, keypoints"
      ),
      ("--task hands --model b.task --scores raw", "--scores is for --task detect"),
      ("--task hands --model b.task --keypoints 21x3", "--keypoints is for --task keypoints"),
      (
        "--task hands --model b.task --labels l",
        "--labels is for --task detect, classify, segment, not for hands"
      ),
      ("--task hands --model none.task", "none.task"),
    ])
  func refuses(options: String, message: String) throws {
    try withTemporaryFolder { folder in
      let answer = try shell("timeout 60 $APUS watch test:testsrc2 \(options)", in: folder)
      #expect((1...64).contains(answer.status) && !answer.signal, "\(answer)")
      #expect(
        answer.errors.contains(message) && answer.errors.split(separator: "\n").count == 1,
        "\(answer.errors)")
    }
  }
}
