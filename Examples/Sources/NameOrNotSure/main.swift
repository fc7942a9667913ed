// SPDX-License-Identifier: Apache-2.0

// Names what a picture shows, if the model is sure enough: NameOrNotSure MODEL LABELS PICTURE…
import ApusImages
import ApusVision

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 3 else { fatalError("usage: NameOrNotSure MODEL LABELS PICTURE…") }

var options = ImageClassifier.Options()
options.fit = .centerCrop
options.maxResults = 3
let classifier = try ImageClassifier(modelFile: arguments[0], labelsFile: arguments[1], options: options)

for path in arguments.dropFirst(2) {
  let picture = try ImageBuffer(contentsOfFile: path)
  let result = try classifier.classify(picture)
  let decision = result.classifications[0].decision(threshold: 0.8)
  print("\(path.split(separator: "/").last ?? ""): \(decision.text)")
  for category in result.categories {
    print("  \(category.name) \((Double(category.score) * 1000).rounded() / 10)%")
  }
}

// A phone that is held upright stores its pictures lying down, and says so: the model sees what people see.
let upright = try ImageBuffer(contentsOfFile: arguments[2]).converted(to: .rgb)
var lying: [UInt8] = []
for x in 0..<upright.width {
  for y in (0..<upright.height).reversed() {
    lying += upright.bytes[3 * (y * upright.width + x)..<3 * (y * upright.width + x) + 3]
  }
}
let stored = try ImageBuffer(
  bytes: lying, width: upright.height, height: upright.width, format: .rgb, orientation: .left)
let (seen, turned) = (try classifier.classify(upright), try classifier.classify(stored))
print("turned, the same answer:", seen.categories == turned.categories)
