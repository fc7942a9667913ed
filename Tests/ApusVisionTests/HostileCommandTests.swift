// SPDX-License-Identifier: Apache-2.0

import ApusImages
import ApusVision
import Foundation
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Models whose outputs no honest model has, through the command-line tool: within its limits of time and memory.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct HostileCommandTests {
  @Test("aligning faces ends at the time limit, after whole pictures only")
  func limitsAlignment() throws {
    try withTemporaryFolder { folder in
      // Eight hundred faces, none of which suppresses another. The picture of each takes milliseconds, and all longer than the limit.
      let (anchors, columns) = (896, 4 + 2 * 6)
      let boxes = (0..<anchors).flatMap { _ -> [Float] in
        [0, 0, 40, 40] + [-9, -9, 9, -9, 0, 0, 0, 9, -15, 0, 15, 0]
      }
      let model = DetectorModel.answering(
        [
          Answer(shape: [1, Int32(anchors), Int32(columns)], values: boxes),
          Answer(shape: [1, Int32(anchors), 1], values: [Float](repeating: 2, count: anchors)),
        ], shape: [1, 128, 128, 3])
      try Data(model.bytes).write(to: folder.appending(path: "faces.tflite"))
      let line = """
        "$APUS" detect --annotate in.png && exec "$APUS" faces in.png --model faces.tflite --iou-threshold 1 \
          --max-results 800 --align-dir out --align-size 4096 --time-limit 2
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 2 && !answer.signal)
      #expect(
        answer.errors
          == "error: in.png: aligning 800 faces takes longer than the limit of 2.0 seconds; --time-limit changes it\n"
      )
      let written = try FileManager.default.contentsOfDirectory(
        atPath: folder.appending(path: "out").path)
      #expect((1..<800).contains(written.count))
      for name in written.prefix(3) {
        let picture = try ImageBuffer(contentsOfFile: folder.appending(path: "out/\(name)").path)
        #expect(picture.width == 4096 && picture.height == 4096)
      }
    }
  }

  @Test("tensors of files are never in memory beside those of the interpreter")
  func limitsArrays() throws {
    try withTemporaryFolder { folder in
      let count = 1 << 25
      let model = DetectorModel(
        tensors: ["numbers", "doubled"].map { .init(name: $0, shape: [Int32(count)]) },
        operators: [.init(code: 0, inputs: [0, 0], outputs: [1])], outputs: [1])
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      for (name, size) in [("in", 4 * count), ("short", 4 * count - 4), ("long", 4 * count + 4)] {
        let file = folder.appending(path: "\(name).npy")
        let head = NumPyArray(type: "<f4", shape: [count], bytes: []).head
        try Data(head).write(to: file)
        // Bytes not written are zeros, and take no place.
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(head.count + size))
        try handle.close()
      }
      func run(_ name: String) throws -> (status: Int32, signal: Bool, errors: String) {
        // At most 256 MiB of tensors.
        try shell(
          "ulimit -v \(384 << 10); exec \"$APUS\" run model.tflite --input \(name).npy --output-dir out",
          in: folder)
      }
      let answer = try run("in")
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
      let written = try FileManager.default.attributesOfItem(
        atPath: folder.appending(path: "out/output_0.npy").path)
      #expect(written[.size] as? Int == 128 + 4 * count)
      let takes = "error: input 0 takes \(4 * count) bytes, but the file "
      #expect(try run("short").errors == takes + "'short.npy' has \(4 * count - 4)\n")
      #expect(try run("long").errors == takes + "'long.npy' has more\n")
    }
  }

  @Test(
    "a model may have more inputs than a process has open files, and lists that are long are shown in part")
  func limitsOpenFiles() throws {
    try withTemporaryFolder { folder in
      let count = 1_100
      var model = DetectorModel(
        tensors: (0...count).map { .init(name: "number \($0)", shape: [1]) },
        operators: [.init(code: 0, inputs: [0, 1], outputs: [Int32(count)])], outputs: [Int32(count)])
      model.inputCount = Int32(count)
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      let array = NumPyArray(type: "<f4", shape: [1], bytes: [0, 0, 128, 63])
      try Data(array.file).write(to: folder.appending(path: "in.npy"))
      let arguments = String(repeating: " --input in.npy", count: count)
      let run = try shell(
        "ulimit -n 64; exec \"$APUS\" run model.tflite --output-dir out\(arguments)", in: folder)
      #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
      let written = try Data(contentsOf: folder.appending(path: "out/output_0.npy"))
      #expect(written.suffix(4) == Data([0, 0, 0, 64]))
      for (option, isWhole) in [("", false), (" --all", true)] {
        #expect(try shell("\"$APUS\" inspect model.tflite\(option) > text", in: folder).status == 0)
        let text = try String(contentsOf: folder.appending(path: "text"), encoding: .utf8)
        #expect(text.contains("… and 100 more (--all shows them)") == !isWhole)
        #expect(text.contains("number 1050 ") == isWhole)
      }
    }
  }

  @Test("a tensor that is an output 131,072 times makes no gigabytes of text")
  func limitsLists() throws {
    try withTemporaryFolder { folder in
      let model = DetectorModel(
        tensors: [
          .init(name: String(repeating: "n", count: 1_000), shape: [1]),
          .init(name: "o", shape: [1], data: DetectorModel.data([0])),
        ], outputs: [Int32](repeating: 1, count: 1 << 17))
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      let text = try shell("\"$APUS\" inspect model.tflite > text", in: folder)
      #expect(text.status == 0 && text.errors.isEmpty, "\(text.errors)")
      #expect(try Data(contentsOf: folder.appending(path: "text")).count < 1 << 22)
      let document = try shell("\"$APUS\" inspect model.tflite --json", in: folder)
      #expect(document.status == 1)
      #expect(document.errors.hasPrefix("error: the model has 1 inputs and 131072 outputs, together more"))
    }
  }

  @Test("thousands of pictures of one name get names in a moment, and a line has an end")
  func limitsNames() throws {
    try withTemporaryFolder { folder in
      let names = "{ for i in {1..40000}; do echo a.jpg; done; }"
      let answer = try shell(
        "\(names) | timeout 20 \"$APUS\" detect - --annotate-dir out --quiet 2> errors; exit ${PIPESTATUS[1]}",
        in: folder)
      #expect(answer.status == 2)
      let line = try shell(
        "head -c 100000 /dev/zero | tr '\\0' a | \"$APUS\" detect -", in: folder)
      #expect(
        line.errors == "error: a line on standard input is longer than 65536 bytes, so no file's name\n")
    }
  }

  @Test("products of sixty-seven million matrices take no memory beside them")
  func limitsPairs() throws {
    try withTemporaryFolder { folder in
      let quantization: (Float, Int64) = (0.05, -3)
      for (name, rows) in [("empty", Int32(0)), ("tiny", 1)] {
        // A tensor times itself.
        let shape: [Int32] = [1 << 26, rows, rows]
        let model = DetectorModel(
          tensors: ["matrices", "products"].map { name in
            .init(name: name, shape: shape, type: DetectorModel.int8, quantization: quantization)
          }, operators: [.init(code: 126, inputs: [0, 0], outputs: [1])], outputs: [1])
        try Data(model.bytes).write(to: folder.appending(path: "\(name).tflite"))
        // At most 128 MiB of tensors; a pair of numbers for each product would be a gibibyte.
        let answer = try shell(
          "ulimit -v \(700 << 10); exec \"$APUS\" run \(name).tflite --threads 2 --time-limit 2", in: folder)
        #expect(!answer.signal)
        // As many products take longer than a moment, unless they are empty.
        let isLate =
          answer.errors
          == "error: the model takes longer than the limit of 2.0 seconds; --time-limit raises it\n"
        #expect(answer.status == 0 && answer.errors.isEmpty || rows == 1 && isLate, "\(answer.errors)")
      }
    }
  }

  @Test("what the first picture shows holds for all, however long it takes", arguments: 0..<3)
  func decidesInOrder(_: Int) throws {
    try withTemporaryFolder { folder in
      // A head of YOLO v8 whose boxes are fractions for the dark picture, and would be pixels for bright ones.
      let cells = 64 + 16 + 4
      var values = [Float](repeating: 0, count: 5 * cells)
      for (column, number) in [Float(12), 12, 8, 8, 0.9].enumerated() { values[column * cells] = number }
      let model = DetectorModel(
        tensors: [
          .init(name: "image", shape: [1, 64, 64, 3]),
          .init(
            name: "axes", shape: [3], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
          .init(name: "brightest", shape: [1]),
          .init(name: "table", shape: [1, 5, Int32(cells)], data: DetectorModel.data(values)),
          .init(name: "candidates", shape: [1, 5, Int32(cells)]),
        ],
        operators: [
          .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]),
          .init(code: DetectorModel.mul, inputs: [2, 3], outputs: [4]),
        ], outputs: [4])
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      func write(_ name: String, _ value: UInt8, _ side: Int) throws {
        try ImageBuffer(
          bytes: [UInt8](repeating: value, count: side * side * 3), width: side, height: side, format: .rgb
        ).write(toFile: folder.appending(path: name).path)
      }
      try write("0.png", 25, 3_000)
      try write("1.png", 255, 64)
      let answer = try shell(
        "\"$APUS\" detect 0.png 1.png 1.png 1.png --model model.tflite --layout yolo8 --score-threshold 0.05 --jobs 4 --json --quiet > out",
        in: folder)
      let lines = try String(contentsOf: folder.appending(path: "out"), encoding: .utf8).split(
        separator: "\n")
      #expect(answer.status == 2 && lines.count == 4)
      #expect(lines.first?.contains("\"detections\"") == true)
      #expect(lines.dropFirst().allSatisfy { $0.contains("earlier answers show") && $0.contains("fraction") })
    }
  }

  @Test("what the first picture shows of faces holds for all that a gallery is asked for", arguments: 0..<3)
  func decidesFacesInOrder(_: Int) throws {
    try withTemporaryFolder { folder in
      // Scores within 0 to 1 for the dark picture, and beyond for bright ones.
      let shape: [Int32] = [1, 896, 1]
      let faces = DetectorModel(
        tensors: [
          .init(name: "image", shape: [1, 128, 128, 3]),
          .init(
            name: "axes", shape: [3], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
          .init(name: "brightest", shape: [1]),
          .init(
            name: "table", shape: shape, data: DetectorModel.data([Float](repeating: 2, count: 896))),
          .init(name: "scores", shape: shape),
          .init(
            name: "boxes", shape: [1, 896, 16],
            data: DetectorModel.data([Float](repeating: 20, count: 896 * 16))),
        ],
        operators: [
          .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]),
          .init(code: DetectorModel.mul, inputs: [2, 3], outputs: [4]),
        ], outputs: [5, 4])
      try Data(faces.bytes).write(to: folder.appending(path: "faces.tflite"))
      let embedder = DetectorModel.answering([.rows([1, 2, 3])], shape: [1, 32, 32, 3])
      try Data(embedder.bytes).write(to: folder.appending(path: "embedder.tflite"))
      func write(_ name: String, _ value: UInt8, _ side: Int) throws {
        try ImageBuffer(
          bytes: [UInt8](repeating: value, count: side * side * 3), width: side, height: side, format: .rgb
        ).write(toFile: folder.appending(path: name).path)
      }
      try write("0.png", 140, 3_000)
      try write("1.png", 255, 64)
      let line = """
        "$APUS" gallery add ann 1.png --gallery g --model embedder.tflite > none &&
        "$APUS" gallery find 0.png 1.png 1.png 1.png --gallery g --model embedder.tflite --faces faces.tflite --jobs 4 --json --quiet > out
        """
      let answer = try shell(line, in: folder)
      let lines = try String(contentsOf: folder.appending(path: "out"), encoding: .utf8).split(
        separator: "\n")
      #expect(answer.status == 2 && lines.count == 4, "\(answer.errors)")
      #expect(lines.first?.contains("\"matches\"") == true)
      #expect(
        lines.dropFirst().allSatisfy { $0.contains("a score of 2") && $0.contains("scores: probability") })
    }
  }

  @Test("of eight million boxes, only the best take memory")
  func limitsCandidates() throws {
    try withTemporaryFolder { folder in
      // 192 MiB of output; a candidate for each row would take more than there is.
      let rows: [Int32] = [1, 1 << 23, 6]
      let model = DetectorModel(
        tensors: [
          .init(name: "image", shape: [1, 64, 64, 3]),
          .init(
            name: "shape", shape: [3], type: DetectorModel.int32,
            data: rows.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }),
          .init(name: "value", shape: [], data: DetectorModel.data([1])),
          .init(name: "boxes", shape: rows),
        ], operators: [.init(code: 94, inputs: [1, 2], outputs: [3])], outputs: [3])
      try Data(model.bytes).write(to: folder.appending(path: "boxes.tflite"))
      let line = """
        "$APUS" detect --annotate in.png
        ulimit -v \(800 << 10); exec "$APUS" detect in.png --model boxes.tflite --layout yolo-end-to-end
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
    }
  }
}
