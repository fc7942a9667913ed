// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Raw tensors and arrays.
extension EvaluateCommandTests {
  /// A tensor of zeros for the classifier in a folder of its own, and the number of its elements and classes.
  private func withTensor(_ body: (_ folder: URL, _ shape: [Int], _ classCount: Int) throws -> Void) throws {
    try withFiles { folder in
      let text = try apus("inspect classifier.tflite --json", in: folder).output
      let model = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      func shape(_ side: String) throws -> [Int] {
        try #require((model[side] as? [[String: Any]])?.first?["shape"] as? [Int])
      }
      let input = try shape("inputs")
      try FileManager.default.createDirectory(
        at: folder.appending(path: "tensors"), withIntermediateDirectories: true)
      try body(folder, input, try #require(shape("outputs").last))
    }
  }

  /// The class of the only file of a report, and its label; nil if none was found.
  private func found(_ report: [String: Any]) throws -> (index: Int, label: String?)? {
    let worst = try #require((report["worst"] as? [[String: Any]])?.first)
    guard let found = worst["found"] as? [String: Any] else { return nil }
    return (try #require(found["index"] as? Int), found["label"] as? String)
  }

  @Test("raw tensors obey the options of scores and labels that pictures obey")
  func tensorsObeyOptions() throws {
    try withTensor { folder, shape, classCount in
      try Data(count: 4 * shape.reduce(1, *)).write(to: folder.appending(path: "tensors/a.bin"))
      try write("a.bin,wrong\n", to: "tensors/list.csv", in: folder)
      let command = "evaluate tensors/list.csv --model classifier.tflite --task classify --labels labels.txt"
      func names(_ count: Int) -> String {
        (["wrong"] + (1..<count).map { "name\($0)" }).joined(separator: "\n") + "\n"
      }
      try write(names(classCount), to: "labels.txt", in: folder)
      let plain = try #require(try found(report(command, in: folder)))
      #expect(plain.label == "name\(plain.index)")
      let denied = try #require(try found(report(command + " --deny name\(plain.index)", in: folder)))
      #expect(denied.index != plain.index)
      #expect(try found(report(command + " --score-threshold 2", in: folder)) == nil)
      #expect(try apus(command + " --allow nobody", in: folder).errors.contains("nobody"))
      // Without a name for the background, class 1 has the first name.
      try write(names(classCount - 1), to: "labels.txt", in: folder)
      let shifted = try #require(try found(report(command, in: folder)))
      #expect(shifted.index == plain.index && shifted.label == "name\(plain.index - 1)")
      try write(names(classCount - 3), to: "labels.txt", in: folder)
      #expect(try apus(command, in: folder).errors.contains("warning: there are \(classCount - 3) labels"))
      for option in ["--fit letterbox", "--pixels raw", "--reduced"] {
        let refused = try apus(command + " " + option, in: folder)
        #expect(refused.status == 1 && refused.errors.contains("it is for pictures"), "\(refused.errors)")
      }
    }
  }

  @Test("arrays of another shape with as many elements are refused")
  func refusesTransposed() throws {
    try withTensor { folder, shape, _ in
      func array(_ shape: [Int]) -> Data {
        let sizes = shape.map { "\($0)," }.joined(separator: " ")
        var header = "{'descr': '|u1', 'fortran_order': False, 'shape': (\(sizes)), }"
        header += String(repeating: " ", count: 117 - header.utf8.count) + "\n"
        return Data([0x93] + Array("NUMPY".utf8) + [1, 0, 118, 0]) + Data(header.utf8)
          + Data(count: shape.reduce(1, *))
      }
      try write("a.npy,0\n", to: "tensors/list.csv", in: folder)
      let command = "evaluate tensors/list.csv --model classifier.tflite --task classify"
      for good in [shape, [shape.reduce(1, *)], [1] + shape, shape.filter { $0 > 1 }] {
        try array(good).write(to: folder.appending(path: "tensors/a.npy"))
        #expect(try report(command, in: folder)["files"] as? Int == 1, "\(good)")
      }
      let transposed = [shape[0], shape[3], shape[1], shape[2]]
      try array(transposed).write(to: folder.appending(path: "tensors/a.npy"))
      let refused = try apus(command, in: folder)
      #expect(refused.status == 2 && refused.errors.contains("the array has the shape"), "\(refused.errors)")
    }
  }
}
