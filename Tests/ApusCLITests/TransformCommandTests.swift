// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// `apus transform`, `apus hear` and what `apus segment` refuses: the form of answers, where they go, and statuses. What they find is tested
/// with the library.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct TransformCommandTests {
  private struct Case: Decodable {
    let name: String
    let model: Data
    let error: String?
  }

  private static let pictures: [Case] = goldens("inputs")
  private static let sounds: [Case] = goldens("sounds")

  /// A folder with `picture.png` of 640 × 480 pixels, `small.ppm` of 7 × 5, and models by name.
  private func withFiles(_ models: [String: String], _ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      #expect(try apus(["detect", "--annotate", "picture.png"], in: folder).status == 0)
      let pixels = (0..<7 * 5 * 3).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      try (Data("P6\n7 5\n255\n".utf8) + Data(pixels)).write(to: folder.appending(path: "small.ppm"))
      for (file, name) in models {
        let model = try #require((Self.pictures + Self.sounds).first { $0.name == name }, "\(name)")
        try model.model.write(to: folder.appending(path: "\(file).tflite"))
      }
      try body(folder)
    }
  }

  private func apus(_ arguments: [String], in folder: URL, input: String = "") throws -> (
    status: Int32, output: String, errors: String
  ) {
    let process = Process()
    let program: URL = try #require(builtExecutable("apus"))
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let (standardInput, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try standardInput.fileHandleForWriting.close()
    let texts = [output, errors].map {
      String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    process.waitUntilExit()
    return (process.terminationStatus, texts[0], texts[1])
  }

  private func apus(_ arguments: String, in folder: URL, input: String = "") throws -> (
    status: Int32, output: String, errors: String
  ) {
    try apus(arguments.split(separator: " ").map(String.init), in: folder, input: input)
  }

  /// The JSON objects that a command prints, one a line.
  private func objects(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
  }

  /// Width, height, bits and color type of a PNG.
  private func head(_ file: URL) throws -> [Int] {
    let bytes = [UInt8](try Data(contentsOf: file))
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    return [number(16), number(20), Int(bytes[24]), Int(bytes[25])]
  }

  @Test("a picture has the output's size, or with --fit-output the picture's; a .npy has the numbers")
  func transforms() throws {
    try withFiles(["twice": "twice as large", "depth": "depth"]) { folder throws in
      let answer = try apus(
        "transform picture.png --model twice.tflite --output out.png --json", in: folder)
      #expect(answer.status == 0, "\(answer.errors)")
      let object = try #require(try objects(answer.output).first)
      #expect(
        Set(object.keys) == ["image", "width", "height", "minimum", "maximum", "kind", "milliseconds"])
      #expect(object["width"] as? Int == 14 && object["height"] as? Int == 10)
      #expect(try head(folder.appending(path: "out.png")) == [14, 10, 8, 2])
      #expect(
        try apus("transform picture.png --model twice.tflite --output fit.png --fit-output", in: folder)
          .status == 0)
      #expect(try head(folder.appending(path: "fit.png")) == [640, 480, 8, 2])
      #expect(
        try apus(
          "transform picture.png --model twice.tflite --output part.png --fit-output --region 10,20,33,44",
          in: folder
        ).status == 0)
      #expect(try head(folder.appending(path: "part.png")) == [33, 44, 8, 2])
      #expect(
        try apus("transform picture.png --model twice.tflite --output out.npy", in: folder).status == 0)
      // NumPy's header takes 128 bytes.
      #expect(
        try Data(contentsOf: folder.appending(path: "out.npy")).count == 128 + 4 * 14 * 10 * 3)
      // One number for each pixel has 16 bits.
      let many = try apus(
        "transform small.ppm picture.png --model depth.tflite --output-dir depths --json", in: folder)
      let kinds = try objects(many.output).map { $0["kind"] as? String }
      #expect(many.status == 0 && kinds == ["numbers", "numbers"])
      #expect(
        try objects(many.output).map { $0["output"] as? String } == [
          "depths/small.png", "depths/picture.png",
        ])
      for name in ["small", "picture"] {
        #expect(try head(folder.appending(path: "depths/\(name).png")) == [7, 5, 16, 0])
      }
    }
  }

  @Test("statuses tell pictures that fail, models that are wrong and usage apart")
  func endsWithStatuses() throws {
    try withFiles([
      "twice": "twice as large", "white": "beyond white", "scores": "scores are no picture",
    ]) { folder throws in
      for (arguments, status, message) in [
        ("transform nowhere.png --model twice.tflite --json", 2, "nowhere.png: "),
        ("transform small.ppm --model white.tflite --json", 2, "--output-pixels"),
        ("transform small.ppm --model scores.tflite --json", 1, "apus segment"),
        ("transform small.ppm --model twice.tflite", 64, "--output, --output-dir or --json is needed"),
        ("transform small.ppm --model twice.tflite --output a.jpg", 64, "is not a .png or .npy file"),
        ("transform small.ppm --model twice.tflite --json --output-pixels most", 64, "'most'"),
        ("transform small.ppm small.ppm --model twice.tflite --output a.png", 64, "use --output-dir"),
        ("segment small.ppm --model twice.tflite --output m.png", 1, "apus transform"),
      ] as [(String, Int32, String)] {
        let answer = try apus(arguments, in: folder)
        #expect(answer.status == status, "\(arguments): \(answer.errors)")
        #expect(
          answer.errors.hasPrefix("error: ") && answer.errors.contains(message),
          "\(arguments): \(answer.errors)")
      }
      // The option that the error names decides.
      let given = try apus(
        "transform small.ppm --model white.tflite --json --output-pixels 63.75:63.75", in: folder)
      #expect(given.status == 0, "\(given.errors)")
    }
  }

  @Test("frames of one video are segmented in order, each with the mask before")
  func segmentsVideos() throws {
    try withFiles(["video": "a video, one probability"]) { folder throws in
      func masks(_ option: String) throws -> [Data] {
        let answer = try apus(
          "segment small.ppm small.ppm small.ppm --model video.tflite --output-dir masks \(option)",
          in: folder)
        #expect(answer.status == 0, "\(answer.errors)")
        return try ["small", "small.ppm", "small-4"].map {
          try Data(contentsOf: folder.appending(path: "masks/\($0).png"))
        }
      }
      #expect(Set(try masks("")).count == 1)
      _ = try masks("--video")
    }
  }

  // MARK: Sounds

  /// A WAV file of 16 bits with a rising ramp of 2,500 samples in two channels.
  private var ramp: Data {
    func little(_ value: Int, _ count: Int) -> Data {
      Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }
    let samples = (0..<2_500).reduce(into: Data()) { data, index in
      for _ in 0..<2 { data += little(index * 8, 2) }
    }
    let parts: [Data] = [
      Data("RIFF".utf8), little(36 + samples.count, 4), Data("WAVEfmt ".utf8), little(16, 4), little(1, 2),
      little(2, 2), little(16_000, 4), little(64_000, 4), little(4, 2), little(16, 2), Data("data".utf8),
      little(samples.count, 4), samples,
    ]
    return Data(parts.joined())
  }

  @Test("a sound has windows with their classes, and classes on the whole")
  func hears() throws {
    try withFiles(["ear": "loudness"]) { folder throws in
      try FileManager.default.createDirectory(
        at: folder.appending(path: "sounds"), withIntermediateDirectories: false)
      try ramp.write(to: folder.appending(path: "sounds/ramp.wav"))
      try Data("RIFF".utf8).write(to: folder.appending(path: "sounds/broken.wav"))
      let answer = try apus("hear sounds --model ear.tflite --rate 16000 --top 1 --json", in: folder)
      #expect(answer.status == 2 && answer.errors.hasPrefix("error: sounds/broken.wav: "))
      let found = try objects(answer.output)
      #expect(found.count == 2 && found[0]["sound"] as? String == "sounds/broken.wav")
      #expect(found[0]["error"] is String && found[1]["sound"] as? String == "sounds/ramp.wav")
      let windows = try #require(found[1]["windows"] as? [[String: Any]])
      #expect(windows.map { $0["start"] as? Double } == [0, 0.0625, 0.125])
      #expect(windows.map { $0["end"] as? Double } == [0.0625, 0.125, 0.15625])
      // The largest sample of a window of 1,000.
      for (window, largest) in zip(windows, [999, 1_999, 2_499]) {
        let best = try #require((window["classes"] as? [[String: Any]])?.first)
        #expect(best["label"] as? String == "loud" && best["index"] as? Int == 0)
        let score = try #require(best["score"] as? Double)
        #expect(abs(score - Double(largest * 8) / 32_768) < 1e-6)
      }
      let classes = try #require(found[1]["classes"] as? [[String: Any]])
      #expect(classes.count == 1 && classes[0]["label"] as? String == "loud")
      let listed = try apus("hear - --model ear.tflite", in: folder, input: "sounds/ramp.wav\n")
      #expect(listed.status == 0 && listed.output.hasPrefix("sounds/ramp.wav, 0.16 s: 3 windows of 0.06 s\n"))
      #expect(listed.output.contains("a guess: --rate decides"))
      // A name makes no line of its own.
      try ramp.write(to: folder.appending(path: "a\nb.wav"))
      let odd = try apus(["hear", "a\nb.wav", "--model", "ear.tflite"], in: folder)
      #expect(odd.status == 0 && odd.output.hasPrefix("a b.wav, 0.16 s: 3 windows"))
      try FileManager.default.removeItem(at: folder.appending(path: "a\nb.wav"))
      let slow = try apus("hear sounds/ramp.wav --model ear.tflite --rate 8000 --json", in: folder)
      #expect(try #require(objects(slow.output)[0]["windows"] as? [Any]).count == 2)
      // Files left out are counted; a sound that is not read decides the status.
      try FileManager.default.removeItem(at: folder.appending(path: "sounds/broken.wav"))
      try Data("ID3".utf8).write(to: folder.appending(path: "sounds/song.mp3"))
      let mixed = try apus("hear sounds --model ear.tflite --rate 16000 --json", in: folder)
      #expect(mixed.status == 2 && mixed.errors == "1 .mp3 left out\n")
      let song = try apus("hear sounds/song.mp3 --model ear.tflite", in: folder)
      #expect(song.status == 2 && song.errors.contains("an MP3 sound; convert it to WAV"))
      let inspected = try apus("inspect ear.tflite --as sound", in: folder)
      #expect(inspected.status == 0 && inspected.output.contains("sample rate: 16000 Hz, from a guess"))
      #expect(try apus("inspect ear.tflite --as sound --fit stretch", in: folder).status == 64)
      #expect(try apus("embed a.png --model ear.tflite --box-units pixel", in: folder).status == 64)
      let minus = try apus("classify a.png --model ear.tflite --pixels -1:1", in: folder)
      #expect(minus.status == 64 && minus.errors.contains("--pixels=-1:1"))
      let half = try apus("hear sounds/ramp.wav --model ear.tflite --overlap 0.5 --json", in: folder)
      #expect(try #require(objects(half.output)[0]["windows"] as? [Any]).count == 4)
    }
  }

  @Test("the time limit is that of each sound, not of its windows")
  func limitsSounds() throws {
    try withFiles(["ear": "loudness"]) { folder throws in
      // Three million samples of silence, with a window for each.
      let sampleCount = 3_000_000
      var sound = Data(ramp.prefix(44)) + Data(count: 4 * sampleCount)
      for (place, value) in [(4, 36 + 4 * sampleCount), (40, 4 * sampleCount)] {
        for byte in 0..<4 { sound[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
      }
      for name in ["a.wav", "b.wav"] { try sound.write(to: folder.appending(path: name)) }
      let options = "--model ear.tflite --rate 16000 --overlap 0.999 --time-limit 1"
      let answer = try apus("hear a.wav b.wav \(options)", in: folder)
      let lines = answer.errors.split(separator: "\n")
      #expect(answer.status == 2 && lines.count == 2, "\(answer.errors)")
      #expect(lines.allSatisfy { $0.contains("longer than the limit of 1.0 seconds; --time-limit") })
    }
  }

  @Test("models that take no waveform are refused by what they take")
  func refusesSoundModels() throws {
    let models = Self.sounds.filter { $0.error != nil }
    #expect(models.count >= 5)
    try withFiles(Dictionary(uniqueKeysWithValues: models.map { ($0.name, $0.name) })) { folder throws in
      try ramp.write(to: folder.appending(path: "ramp.wav"))
      for model in models {
        let answer = try apus("hear ramp.wav --model \(model.name).tflite", in: folder)
        #expect(answer.status == 1 && answer.output.isEmpty)
        #expect(answer.errors.contains(model.error ?? "?"), "\(answer.errors)")
      }
      #expect(try apus("hear --model features.tflite", in: folder).status == 64)
    }
  }
}
