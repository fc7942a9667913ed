// SPDX-License-Identifier: Apache-2.0
import Apus

/// The output that has a segmenter's mask, and the others that may be it.
struct MaskChoice: Sendable {
  /// The index of the output that is taken.
  let output: Int
  /// The outputs that may be the mask as well.
  private let others: [Int]
  private let outputs: [Tensor]
  private let isGiven: Bool

  /// How many outputs a message names.
  private static let maximumNames = 6

  /// Makes a choice.
  ///
  /// - Parameters:
  ///   - found: The outputs that may be the mask, the likeliest first.
  ///   - isGiven: Whether the options choose the output.
  init?(_ found: [Int], of outputs: [Tensor], isGiven: Bool) {
    guard let output = found.first else { return nil }
    self.output = output
    self.others = Array(found.dropFirst())
    self.outputs = outputs
    self.isGiven = isGiven
  }

  /// Outputs in the order of their likelihood: those that models have only for training last, and numbered ones such as
  /// the `d0` to `d6` of U²-Net by their numbers.
  static func ordered(_ found: [Int], of outputs: [Tensor]) -> [Int] {
    func name(_ output: Int) -> String { outputs[output].name.lowercased() }
    func isAuxiliary(_ output: Int) -> Bool {
      name(output).split { !$0.isLetter }.contains { $0 == "aux" || $0 == "auxiliary" }
    }
    let numbers = found.map { output in
      name(output).hasPrefix("d") ? Int(name(output).dropFirst()) : nil
    }
    let order = found.indices.sorted { one, other in
      let (first, second) = (isAuxiliary(found[one]), isAuxiliary(found[other]))
      if first != second { return second }
      if let number = numbers[one], let next = numbers[other], number != next { return number < next }
      return one < other
    }
    return order.map { found[$0] }
  }

  /// The reading for people; nil where only one output can be the mask.
  var assumption: Assumption? {
    guard isGiven || !others.isEmpty else { return nil }
    return Assumption(
      "output", "\(output) (\(outputs[output].name))", isGiven ? .given : .guess,
      reason: isGiven ? "the options" : "\(others.count + 1) outputs may be the mask",
      option: "--output-index")
  }

  /// A warning that other outputs may be the mask; usually empty.
  var warnings: [String] {
    guard !isGiven, !others.isEmpty else { return [] }
    let names = others.prefix(Self.maximumNames).map { "\($0) (\(outputs[$0].name))" }.joined(separator: ", ")
    return [
      "\(others.count + 1) outputs of the model may be the mask: \(output), \(outputs[output]), is taken, which is a guess; "
        + "--output-index takes another: \(names)\(others.count > Self.maximumNames ? ", …" : "")"
    ]
  }
}
