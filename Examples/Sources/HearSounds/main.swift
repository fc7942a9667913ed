// SPDX-License-Identifier: Apache-2.0

// Says what is heard when: HearSounds MODEL [WAV]; without a file, a tone of two seconds
import ApusVision
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 1 else { fatalError("usage: HearSounds MODEL [WAV]") }

var options = AudioClassifier.Options()
options.maxResults = 3
options.overlap = 0.5
let classifier = try AudioClassifier(modelFile: arguments[0], options: options)

let clip =
  arguments.count > 1
  ? try AudioClip(contentsOfFile: arguments[1])
  : try AudioClip(samples: (0..<88_200).map { 0.5 * sin(Float($0) * 0.0627) }, sampleRate: 44_100)

let result = try classifier.classify(clip)
for window in result.windows {
  print(window.start, window.categories.map { "\($0.name) \($0.score)" }.joined(separator: ", "))
}
print("on the whole:", result.categories[0].name)
