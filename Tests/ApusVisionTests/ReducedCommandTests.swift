// SPDX-License-Identifier: Apache-2.0

import ApusVision
import Foundation
import TestSupport
import Testing

/// Reading pictures at a smaller scale through the command-line tool.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct ReducedCommandTests {
  /// A folder with `in.jpg` and the model `model.tflite`, whose embedding is the pixels.
  private func withFiles(_ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let count: Int32 = 32 * 32 * 3
      let model = DetectorModel(
        tensors: [
          .init(name: "image", shape: [1, 32, 32, 3]),
          .init(
            name: "shape", shape: [2], type: DetectorModel.int32,
            data: [1, count].flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
          ),
          .init(name: "pixels", shape: [1, count]),
        ], operators: [.init(code: 22, inputs: [0, 1], outputs: [2])], outputs: [2])
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      let answer = try apus("detect --annotate in.jpg", in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
      try body(folder)
    }
  }

  @Test("pictures to embed are read at a smaller scale on request")
  func reducesEmbeddedPictures() throws {
    try withFiles { folder in
      for way in ["", "--reduced"] {
        let answer = try apus(
          "embed in.jpg --model model.tflite --raw --output out\(way).npy \(way)", in: folder)
        #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
      }
      let (whole, reduced) = (
        try NumPyArray(file: Array(Data(contentsOf: folder.appending(path: "out.npy")))),
        try NumPyArray(file: Array(Data(contentsOf: folder.appending(path: "out--reduced.npy"))))
      )
      #expect(whole.shape == [1, 32 * 32 * 3] && reduced.shape == whole.shape)
      #expect(whole.bytes != reduced.bytes)
    }
  }

  @Test("pictures of a gallery are read at a smaller scale on request")
  func reducesPicturesOfGalleries() throws {
    try withFiles { folder in
      for way in ["", "--reduced"] {
        let models = "--gallery g\(way) --model model.tflite \(way)"
        #expect(try apus("gallery add Ada in.jpg \(models)", in: folder).output == "Ada: 1 added, 1 in all\n")
        let found = try apus("gallery find in.jpg --distance 0 \(models)", in: folder)
        #expect(found.output.contains("Ada (0.000)"), "\(found)")
      }
      func gallery(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }
      #expect(try gallery("g") != gallery("g--reduced"))
    }
  }

  @Test(
    "reading at a smaller scale is refused where every pixel counts",
    arguments: [
      ("embed in.jpg --model model.tflite --json --region 0,0,64,64", "--reduced excludes --region"),
      ("detect in.jpg --annotate out.png", "--reduced is for pictures that nothing is drawn on"),
      ("detect in.jpg in.jpg --annotate-dir out", "--reduced is for pictures that nothing is drawn on"),
      ("faces in.jpg --model no.tflite --align-dir out", "--reduced excludes --align-dir"),
      ("gallery find in.jpg --gallery g --model m --faces f", "--faces excludes it"),
      ("gallery find in.jpg --gallery g --hands h.task", "--hands excludes it"),
    ])
  func refusesContradictions(arguments: String, message: String) throws {
    try withFiles { folder in
      let answer = try apus(arguments + " --reduced", in: folder)
      #expect(answer.status == 64 && answer.output.isEmpty && answer.errors.contains(message), "\(answer)")
    }
  }
}
