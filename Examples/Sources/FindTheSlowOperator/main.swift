// SPDX-License-Identifier: Apache-2.0

// Times every operator of a model, and prints the slowest.
import Apus
import ApusShapes

var options = Interpreter.Options()
options.profiles = true
let interpreter = try Interpreter(model: Model(bytes: EmbeddedShapes.modelBytes), options: options)
for _ in 0..<3 { try interpreter.invoke() }  // the last run counts

for entry in interpreter.profile.sorted(by: { $0.duration > $1.duration }).prefix(5) {
  print("operator #\(entry.operatorIndex), \(entry.name) \(entry.output): \(entry.duration)")
}
print(
  "\(interpreter.memoryPlan.arenaByteCount) bytes of tensors, "
    + "\(interpreter.packedWeightByteCount) of weights")
