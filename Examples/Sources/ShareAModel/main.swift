// SPDX-License-Identifier: Apache-2.0

// Several tasks run one model at the same time: they share its weights, each has an interpreter of its own.
import Apus
import ApusShapes

let model = try Model(bytes: EmbeddedShapes.modelBytes)

let scores = try await withThrowingTaskGroup(of: Float.self) { group in
  for _ in 0..<4 {
    group.addTask {
      let interpreter = try Interpreter(model: model)
      try interpreter.withInput(at: 0, as: UInt8.self) { pixels in
        for index in pixels.indices { pixels[index] = 128 }
      }
      try interpreter.invoke()
      return try interpreter.output(at: 2, as: Float.self)[0]
    }
  }
  var scores: [Float] = []
  for try await score in group { scores.append(score) }
  return scores
}
print("4 tasks, the same answer:", Set(scores).count == 1)
