// SPDX-License-Identifier: Apache-2.0

import ApusVision
import Foundation
import TestSupport
import Testing

/// Reading pictures at a smaller scale through the command-line tool.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct ReducedCommandTests {
  @Test("pictures to embed are read at a smaller scale on request")
  func reducesEmbeddedPictures() throws {
    try withTemporaryFolder { folder in
      // The pixels are the embedding.
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
      let line = """
        "$APUS" detect --annotate in.jpg
        for way in "" --reduced; do
          "$APUS" embed in.jpg --model model.tflite --raw --output "out$way.npy" $way || exit
        done
        """
      let answer = try shell(line, in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
      let (whole, reduced) = (
        try NumPyArray(file: Array(Data(contentsOf: folder.appending(path: "out.npy")))),
        try NumPyArray(file: Array(Data(contentsOf: folder.appending(path: "out--reduced.npy"))))
      )
      #expect(whole.shape == [1, Int(count)] && reduced.shape == whole.shape)
      #expect(whole.bytes != reduced.bytes)
    }
  }
}
