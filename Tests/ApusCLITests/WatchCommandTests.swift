// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// `apus watch` on a film of a rectangle that walks to and fro, made by ffmpeg.
@Suite(
  .enabled(
    if: builtExecutable("apus") != nil && FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg"),
    "apus or ffmpeg is missing"), .serialized)
struct WatchCommandTests {
  private struct Line: Decodable {
    struct Object: Decodable {
      let label: String
      let track: Int?
    }

    struct Counts: Decodable {
      let `in`: Int
      let out: Int
    }

    struct Zone: Decodable {
      let entries: Int
      let exits: Int
    }

    struct Summary: Decodable {
      let frames: Int
      let answered: Int
      let dropped: Int
      let damaged: Int
      let lines: [String: Counts]
      let zones: [String: Zone]
    }

    let frame: Int?
    let time: Double?
    let detections: [Object]?
    let event: String?
    let direction: String?
    let summary: Summary?
  }

  /// A folder with `film.mp4`: six seconds in which a blue square moves from left to right and back.
  private func withFilm(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let film = """
        /usr/bin/ffmpeg -hide_banner -nostdin -loglevel error -f lavfi -i color=c=white:size=320x240:rate=10:duration=6 \
        -f lavfi -i color=c=blue:size=80x80:rate=10:duration=6 \
        -filter_complex "overlay=x='120-120*cos(t*PI/3)':y=80" -y film.mp4
        """
      let made = try shell(film, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      try body(folder)
    }
  }

  private func lines(_ arguments: String, in folder: URL, warning: String = "") throws -> [Line] {
    let answer = try shell("$APUS watch \(arguments) --json > lines.json", in: folder)
    #expect(answer.status == 0 && answer.errors.contains(warning) == !warning.isEmpty, "\(answer.errors)")
    #expect(!warning.isEmpty || answer.errors.isEmpty, "\(answer.errors)")
    return try String(contentsOf: folder.appending(path: "lines.json"), encoding: .utf8).split(
      separator: "\n"
    ).map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  @Test func followsAndCountsWhatCrosses() throws {
    try withFilm { folder in
      let found = try lines(
        "film.mp4 --line gate:0.5,0,0.5,1 --zone right:0.6,0,1,0,1,1,0.6,1 --annotate found.mp4 --snapshots shots",
        in: folder)
      let summary = try #require(found.last?.summary)
      #expect(summary.frames == 60 && summary.answered == 60 && summary.dropped == 0)
      #expect(found.filter { $0.event == "crossed" }.map(\.direction) == ["in", "out"])
      #expect(summary.lines["gate"]?.in == 1 && summary.lines["gate"]?.out == 1)
      #expect(summary.zones["right"]?.entries == 1 && summary.zones["right"]?.exits == 1)
      let frames = found.filter { $0.frame != nil }
      #expect(frames.compactMap(\.frame) == Array(0..<60))
      #expect(Set(frames.flatMap { $0.detections ?? [] }.compactMap(\.track)) == [1])
      let shots = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "shots").path)
      #expect(shots.count == 4)
      // The annotated film is a film, as long as the first one, with as many frames.
      let annotated = try lines("found.mp4 --every 10", in: folder)
      #expect(annotated.last?.summary?.frames == 60)
    }
  }

  @Test(
    "an annotated film has a frame for each that was looked at, at its time",
    arguments: [
      (60, "", 120), (24, "", 48), (300, "", 600), (60, "--every 2", 60), (60, "--fps 20", 40),
      (10, "--every 20", 1),
    ])
  func keepsFrames(rate: Int, options: String, expected: Int) throws {
    try withTemporaryFolder { folder in
      let film = """
        /usr/bin/ffmpeg -hide_banner -nostdin -loglevel error -f lavfi \
        -i color=c=white:size=64x48:rate=\(rate):duration=2 -y film.mp4
        """
      #expect(try shell(film, in: folder).status == 0)
      let found = try lines("film.mp4 --annotate found.mp4 \(options)", in: folder)
      let times = found.compactMap(\.time)
      #expect(times.count == expected)
      let annotated = try lines("found.mp4", in: folder)
      #expect(annotated.compactMap(\.frame).count == expected)
      for (time, found) in zip(times, annotated.compactMap(\.time)) { #expect(abs(time - found) < 0.01) }
    }
  }

  @Test(
    "a limit above a live source's rate is not the rate of its film",
    arguments: ["", "--fps 300", "--fps 15"])
  func keepsTheRateOfLiveSources(options: String) throws {
    try withTemporaryFolder { folder in
      let found = try lines(
        "test:testsrc2:64x48:1.5 --live --real-time --annotate found.mp4 \(options)", in: folder)
      let answered = try #require(found.last?.summary?.answered)
      let length = (found.compactMap(\.time).last ?? 0) * (options == "--fps 15" ? 15 : 30)
      let annotated = try #require(try lines("found.mp4", in: folder).last?.summary?.frames)
      #expect(abs(Double(annotated) - length - 1) <= 1, "\(annotated) frames of \(answered)")
    }
  }

  @Test("an annotated film has its source's proportions, and says what its colors are")
  func keepsProportions() throws {
    try withTemporaryFolder { folder in
      let film = """
        /usr/bin/ffmpeg -hide_banner -nostdin -loglevel error -f lavfi \
        -i color=c=0xB020C8:size=320x720:rate=10:duration=0.5,setsar=4/1 -y film.mp4
        """
      #expect(try shell(film, in: folder).status == 0)
      _ = try lines("film.mp4 --annotate found.mkv", in: folder)
      let line = """
        test "$(ffprobe -v error -select_streams v -show_entries stream=sample_aspect_ratio,color_space,color_range \
          -of default=nokey=1:noprint_wrappers=1 found.mkv | sort | tr '\\n' ' ')" = "4:1 smpte170m tv "
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0, "\(answer)")
    }
  }

  @Test("objects of any score are followed and counted, unless a threshold for tracks is given")
  func countsDoubtfulObjects() throws {
    try withTemporaryFolder { folder in
      #expect(try apus("detect --annotate picture.png", in: folder).status == 0)
      try TaskModel.write("faces", "short range, 64x64", to: folder.appending(path: "faces.tflite"))
      let film =
        "/usr/bin/ffmpeg -hide_banner -nostdin -loglevel error -loop 1 -framerate 10 -i picture.png -t 1 -y film.mkv"
      #expect(try shell(film, in: folder).status == 0)
      let watch = """
        film.mkv --task faces --model faces.tflite --score-threshold 0.1 --max-results 3 --zone all:0,0,1,0,1,1,0,1
        """
      let found = try lines(watch, in: folder)
      let last = try #require(found.last { $0.frame != nil }?.detections)
      #expect(last.count == 3 && last.allSatisfy { $0.track != nil })
      #expect(found.last?.summary?.zones["all"]?.entries == 3)
      let none = try lines(
        watch + " --activation-score 0.999", in: folder,
        warning: "none of the 30 objects found was followed: a track begins with a score of 0.999")
      #expect(none.last?.summary?.zones["all"]?.entries == 0)
      let beside = try lines(
        watch + " --region 0,0,100,100 --line far:0.9,0.9,1,1", in: folder,
        warning: "warning: 'far' lies outside of --region")
      #expect(beside.last?.summary?.lines["far"]?.in == 0)
    }
  }

  @Test(
    "--lost-time is in seconds of the film",
    arguments: [
      (10, 2.0..<4.5, 7, "--lost-time 1", 2), (10, 2.0..<4.5, 7, "--lost-time 3", 1),
      (60, 1.0..<1.42, 3, "--lost-time 0.7", 1), (60, 1.0..<1.42, 3, "--lost-time 0.3", 2),
      (60, 1.0..<1.42, 3, "--lost-time 0.7 --fps 20", 1), (60, 1.0..<1.42, 3, "--lost-time 0.3 --every 3", 2),
    ] as [(Int, Range<Double>, Int, String, Int)])
  func keepsLostTracks(rate: Int, hidden: Range<Double>, seconds: Int, options: String, expected: Int) throws
  {
    try withTemporaryFolder { folder in
      let film = """
        /usr/bin/ffmpeg -hide_banner -nostdin -loglevel error \
        -f lavfi -i color=c=white:size=320x240:rate=\(rate):duration=\(seconds) \
        -f lavfi -i color=c=blue:size=80x80:rate=\(rate):duration=\(seconds) \
        -filter_complex "overlay=x=120:y=80:enable='lt(t,\(hidden.lowerBound))+gte(t,\(hidden.upperBound))'" -y film.mp4
        """
      let made = try shell(film, in: folder)
      #expect(made.status == 0, "\(made.errors)")
      let found = try lines("film.mp4 --zone all:0,0,1,0,1,1,0,1 \(options)", in: folder)
      let tracks = Set(found.flatMap { $0.detections ?? [] }.compactMap(\.track))
      #expect(tracks == Set(1...expected))
      #expect(found.last?.summary?.zones["all"]?.entries == expected)
    }
  }

  @Test("a reader that wants no more, such as head, leaves a complete film")
  func completesTheFilmForAShortReader() throws {
    try withTemporaryFolder { folder in
      let answer = try shell(
        "$APUS watch test:testsrc2:64x48:20 --real-time --json --annotate out.mp4 | head -n 20 > lines.json; test ${PIPESTATUS[0]} = 141",
        in: folder)
      #expect(answer.status == 0, "\(answer)")
      let annotated = try lines("out.mp4", in: folder)
      #expect(annotated.last?.summary?.frames ?? 0 >= 20)
    }
  }

  @Test(
    "looks at fewer frames if asked",
    arguments: [
      ("--every 7", Array(stride(from: 0, to: 60, by: 7))),
      ("--fps 2", Array(stride(from: 0, to: 60, by: 5))),
      ("--frames 3", [0, 1, 2]), ("--seconds 0.25", [0, 1, 2]),
    ])
  func looksAtFewerFrames(options: String, expected: [Int]) throws {
    try withFilm { folder in
      let found = try lines("film.mp4 \(options)", in: folder)
      #expect(found.compactMap(\.frame) == expected)
    }
  }

  @Test("a signal to end completes the film", arguments: ["INT", "TERM", "HUP"])
  func endsProperlyOnAnInterrupt(signal: String) throws {
    try withTemporaryFolder { folder in
      let answer = try shell(
        "timeout --preserve-status -s \(signal) 5 $APUS watch test:testsrc2:64x48 --real-time --annotate out.mp4 --json > lines.json",
        in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
      let last = try String(contentsOf: folder.appending(path: "lines.json"), encoding: .utf8).split(
        separator: "\n"
      ).last
      #expect(last?.contains("\"summary\"") == true)
      let annotated = try lines("out.mp4 --every 100", in: folder)
      #expect(annotated.last?.summary?.frames ?? 0 > 0)
    }
  }

  @Test("a command that was started with nohup outlives its terminal")
  func ignoresAnIgnoredSignal() throws {
    try withTemporaryFolder { folder in
      let line = """
        (trap '' HUP; exec $APUS watch test:testsrc2:64x48:2 --real-time --json > lines.json) & process=$!
        sleep 1; kill -HUP $process; wait $process
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer)")
      let text = try String(contentsOf: folder.appending(path: "lines.json"), encoding: .utf8)
      #expect(text.split(separator: "\n").count == 61)
    }
  }

  @Test("a damaged film is said to be so")
  func reportsDamage() throws {
    try withFilm { folder in
      let line = """
        /usr/bin/ffmpeg -nostdin -loglevel error -i film.mp4 -c:v mpeg4 -g 1 -y film.avi && \
          head -c $(($(stat -c %s film.avi) / 2)) film.avi > half.avi
        $APUS watch half.avi --json > lines.json
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0, "\(answer)")
      #expect(
        answer.errors.hasPrefix(
          "warning: 'half.avi' is damaged: at least 1 frame is broken or missing; ffmpeg says first: "),
        "\(answer.errors)")
      let text = try String(contentsOf: folder.appending(path: "lines.json"), encoding: .utf8)
      let last = try JSONDecoder().decode(
        Line.self, from: Data(#require(text.split(separator: "\n").last).utf8))
      #expect(last.summary?.damaged == 1)
      #expect(try lines("film.avi", in: folder).last?.summary?.damaged == 0)
    }
  }

  @Test("frames that find no place in an annotated film are counted")
  func reportsFramesThatAreLeftOut() throws {
    try withTemporaryFolder { folder in
      let line = """
        /usr/bin/ffmpeg -nostdin -loglevel error -f lavfi -i color=c=white:size=64x48:rate=10:duration=1 \
          -vf "settb=1/1000,setpts='100*N-90*mod(N,2)'" -fps_mode passthrough -enc_time_base 1/1000 -c:v ffv1 -y film.mkv && \
        $APUS watch film.mkv --annotate found.mp4
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0)
      #expect(
        answer.errors.contains("frames are not in found.mp4: they are closer together than its "),
        "\(answer.errors)")
    }
  }

  @Test func speedAndThreadsDoNotChangeTheAnswers() throws {
    try withFilm { folder in
      let watch = "$APUS watch film.mp4 --line gate:0.5,0,0.5,1 --json"
      // The times that were measured are taken out.
      let rest = #"sed -E 's/"milliseconds":[{][^}]*[}]//; s/"fps":[^,]*//'"#
      let line = """
        \(watch) --threads 1 | \(rest) > 1.json && \(watch) --threads 2 --real-time | \(rest) > 2.json && cmp 1.json 2.json \
        && test $(wc -l < 1.json) = 63
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0, "\(answer.errors)")
    }
  }

  @Test("those who are in a zone at the end leave it with a picture")
  func savesPicturesOfTheEnd() throws {
    try withFilm { folder in
      let found = try lines("film.mp4 --frames 5 --zone all:0,0,1,0,1,1,0,1 --snapshots shots", in: folder)
      #expect(found.filter { $0.frame == nil }.compactMap(\.event) == ["entered", "left"])
      let shots = try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "shots").path)
      #expect(shots.count == 2 && shots.contains("4-left-all-1.jpg"), "\(shots)")
    }
  }

  @Test("a film that breaks off keeps its counts")
  func keepsCountsOfAFilmThatBreaksOff() throws {
    try withFilm { folder in
      let line = """
        /usr/bin/ffmpeg -nostdin -loglevel error -i film.mp4 -g 5 -y film.mkv && head -c $(($(stat -c %s film.mkv) / 2)) film.mkv > half.mkv
        $APUS watch half.mkv --json --zone all:0,0,1,0,1,1,0,1 --annotate found.mp4 > lines.json
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 1 && answer.errors.contains("half.mkv' breaks off"), "\(answer)")
      let found = try String(contentsOf: folder.appending(path: "lines.json"), encoding: .utf8).split(
        separator: "\n"
      ).map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
      let summary = try #require(found.last?.summary)
      #expect((1..<60).contains(summary.answered))
      #expect(summary.zones["all"]?.entries == 1 && summary.zones["all"]?.exits == 1)
      #expect(found.filter { $0.frame == nil }.compactMap(\.event) == ["entered", "left"])
      let annotated = try lines("found.mp4", in: folder)
      // Of a frame that is cut in two, there is time, but no picture.
      #expect((summary.answered...60).contains(annotated.last?.summary?.frames ?? 0))
    }
  }

  @Test func saysWhatToInstallWithoutFFmpeg() throws {
    try withTemporaryFolder { folder in
      let answer = try shell("PATH=/none $APUS watch test:testsrc2", in: folder)
      #expect(answer.status == 1 && answer.errors.contains("apt-get install ffmpeg"), "\(answer.errors)")
    }
  }

  @Test func ffmpegEndsWithAKilledCommand() throws {
    try withTemporaryFolder { folder in
      let line = """
        $APUS watch test:testsrc2:64x48 --real-time > lines.txt & parent=$!
        for i in 1 2 3 4 5 6 7 8 9 10; do child=$(pgrep -P $parent -x ffmpeg) && break; sleep 0.5; done
        kill -9 $parent
        test -n "$child" || exit 3
        # One that nobody waits for is a zombie.
        ended() { ! grep -s '^State:' /proc/$child/status | grep -qv Z; }
        for i in 1 2 3 4 5 6 7 8 9 10; do ended && exit 0; sleep 0.5; done
        exit 4
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0, "\(answer)")
    }
  }

  @Test("a film that is taken as live ends at its end")
  func endsALiveFilm() throws {
    try withTemporaryFolder { folder in
      let answer = try shell(
        "timeout 60 $APUS watch test:testsrc2:64x48:0.2 --live --json > lines.json", in: folder)
      #expect(answer.status == 0, "\(answer)")
    }
  }

  private static let data = ProcessInfo.processInfo.environment["APUS_TEST_DATA"]

  @Test(.enabled(if: data != nil, "APUS_TEST_DATA is not set")) func classifiesFrames() throws {
    let data = try #require(Self.data)
    try withTemporaryFolder { folder in
      let line = """
        $APUS watch '\(data)/images/burger.jpg' --task classify --model '\(data)/models/mobilenet_v2_1.0_224_quant.tflite' \
        --labels '\(data)/labels/imagenet_labels.txt' --max-results 1 --json --save-frames frames > lines.json
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0, "\(answer.errors)")
      let printed = try String(contentsOf: folder.appending(path: "lines.json"), encoding: .utf8)
      let frame = try #require(printed.split(separator: "\n").first)
      #expect(
        frame.contains("\"classes\":[{") && frame.contains("cheeseburger") && !frame.contains("detections"))
      #expect(frame.contains("\"milliseconds\""))
      #expect(FileManager.default.fileExists(atPath: folder.appending(path: "frames/0.png").path))
    }
  }

  @Test("watched faces obey --iou-threshold")
  func mergesFaces() throws {
    try withTemporaryFolder { folder in
      #expect(try apus("detect --annotate picture.png", in: folder).status == 0)
      try TaskModel.write("faces", "short range, 64x64", to: folder.appending(path: "faces.tflite"))
      let counts = try ["--iou-threshold 0", "", "--iou-threshold 1"].map { threshold in
        let found = try lines(
          "picture.png --task faces --model faces.tflite --score-threshold 0.1 \(threshold)", in: folder)
        return try #require(found.first?.detections).count
      }
      #expect(counts[0] < counts[1] && counts[1] < counts[2], "\(counts)")
    }
  }

  @Test(
    "refuses with one line",
    arguments: [
      ("none.mp4", "none.mp4"), ("test:nothing", "test:nothing"), ("text.mp4", "text.mp4"),
      ("ftp://a/b", "ftp"), ("- < text.mp4", "standard input"), ("/dev/stdin < text.mp4", "standard input"),
      ("/dev/video97", "/dev/video97"), ("test:testsrc2 --line gate:1,2,3", "--line"),
      ("test:testsrc2 --line g:1,1,1,1", "--line"),
      ("test:testsrc2 --line gate:0,50,100,50", "lies outside of the picture"),
      ("test:testsrc2 --zone z:0,2,1,2,1,3", "lies outside of the picture"),
      ("test:testsrc2 --line g:2,0,0,2.5", "lies outside of the picture"),
      ("test:testsrc2 --size 16384x16384", "--size 16384x16384 has more pixels than the limit"),
      ("file:///films/a.mp4", "name the file, /films/a.mp4"),
      ("test:testsrc2 --zone z:0,0,1,0,0.5,0", "without an area"),
      ("0.png --save-frames .", "is the folder of the source"),
      ("text.mp4 --annotate ./text.mp4", "is the source"), ("text.mp4 --annotate link.mp4", "is the source"),
      ("test:testsrc2 --zone z:1,1,2,2", "--zone"), ("test:testsrc2 --zone /:0,0,1,0,1,1", "--zone"),
      ("test:testsrc2 --line a:0,0,1,1 --zone a:0,0,1,0,1,1", "'a'"), ("test:testsrc2 --size 4x4", "--size"),
      ("test:testsrc2 --task faces", "--model"), ("test:testsrc2 --task dance", "dance"),
      ("test:testsrc2 --task classify", "--task classify needs a --model"),
      ("test:testsrc2 --task segment --model none.tflite --line a:0,0,1,1", "finds no objects"),
      ("test:testsrc2 --task keypoints --model none.tflite", "none.tflite"),
      ("test:testsrc2 --control zoom=1", "for a camera"), ("/dev/video97 --control zoom", "NAME=VALUE"),
      ("film.mp4 --camera-format YUYV", "for a camera"), ("/dev/video97 --camera-rate 0", "--camera-rate"),
      ("test:testsrc2 --fps 0", "--fps"), ("test:testsrc2 --every 0", "--every"),
      ("test:testsrc2:64x48:1 --annotate a.gif", "a.gif"),
      ("test:testsrc2 --activation-score 0.5", "--activation-score is for tracks"),
      ("test:testsrc2 --lost-time 2", "--lost-time is for tracks"),
      ("test:testsrc2 --track sort --high-score 0.5", "--high-score is for bytetrack"),
      ("test:testsrc2 --track sort --minimum-hits 0", "--minimum-hits is 0"),
      ("http://127.0.0.1:9/film.mp4 --real-time", "--real-time is for files and test patterns"),
      ("/dev/video97 --real-time", "--real-time is for files and test patterns"),
      ("test:testsrc2 --crossing-frames 2", "--crossing-frames is for lines"),
      ("test:testsrc2 --track sort --snapshots s", "--snapshots is for crossings"),
      ("test:testsrc2 --reduced", "--reduced is for JPEG"),
      ("test:testsrc2 --task faces --model m.tflite --layout yolo8", "--layout is for --task detect"),
      ("test:testsrc2 --task faces --model m.tflite --allow face", "--allow is for --task detect"),
      ("test:testsrc2 --keypoints 21x3", "--keypoints is for --task keypoints, not for detect"),
      (
        "test:testsrc2 --task classify --model m.tflite --iou-threshold 0.5",
        "--iou-threshold is for --task detect"
      ),
      ("test:testsrc2 --task classify --model m.tflite --multi-label", "--multi-label is for --task detect"),
      (
        "test:testsrc2 --task classify --model m.tflite --box-units pixel", "--box-units is for --task detect"
      ),
      (
        "test:testsrc2 --task segment --model m.tflite --score-threshold 0.5",
        "--score-threshold is for --task"
      ),
      ("test:testsrc2 --task segment --model m.tflite --max-results 3", "--max-results is for --task"),
      ("test:testsrc2 --task segment --model m.tflite --deny sky", "--deny is for --task detect, classify"),
      ("test:testsrc2 --task segment --model m.tflite --label-offset 1", "--label-offset is for --task"),
      (
        "test:testsrc2 --task segment --model m.tflite --locale de", "--locale is for --task detect, classify"
      ),
      ("test:testsrc2 --task keypoints --model m.tflite --labels no.txt", "--labels is for --task detect"),
      ("test:testsrc2 --task keypoints --model m.tflite --class-agnostic", "--class-agnostic is for --task"),
      ("test:testsrc2 --task keypoints --model m.tflite --anchors 1,2", "--anchors is for --task detect"),
    ])
  func refuses(arguments: String, message: String) throws {
    try withTemporaryFolder { folder in
      try Data("no film\n".utf8).write(to: folder.appending(path: "text.mp4"))
      let answer = try shell(
        "ln -s text.mp4 link.mp4; touch 0.png; timeout 60 $APUS watch \(arguments)", in: folder)
      #expect((1...64).contains(answer.status) && !answer.signal, "\(answer)")
      #expect(
        answer.errors.contains(message) && answer.errors.split(separator: "\n").count == 1, "\(answer.errors)"
      )
    }
  }
}
