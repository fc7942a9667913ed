// SPDX-License-Identifier: Apache-2.0

// Compares every tensor of a model with what LiteRT computed, as a test does.
import Apus
import ApusTesting

let model = try Model(contentsOfFile: "Models/weighted.tflite")

try expect(model, matches: "References/weighted")

let comparison = try TensorComparison(of: model, withReference: "References/weighted")
for difference in comparison.differences {
  print(difference.name, "differs by", difference.largest)
}
