// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The normalization that a model's metadata gives its input: usable numbers, or why they are not.
struct DescribedNormalization {
  /// How pixels become numbers; nil if the metadata's numbers cannot be used.
  let normalization: Normalization?
  /// Why the numbers cannot be used; nil if they can.
  let objection: String?

  /// Reads what the metadata says of an input; nil if it says nothing.
  init?(_ metadata: TensorMetadata?, channels: Int) {
    guard let found = metadata?.normalization, !found.mean.isEmpty || !found.std.isEmpty else { return nil }
    objection = Self.objection(to: found, channels: channels)
    normalization = objection == nil ? .meanStd(mean: found.mean, std: found.std) : nil
  }

  private static func objection(to found: TensorMetadata.Normalization, channels: Int) -> String? {
    for (name, values) in [("mean", found.mean), ("std", found.std)] {
      guard [1, channels].contains(values.count) else {
        let needed = channels == 1 ? "1" : "1 or \(channels)"
        return "it has \(values.count) numbers for \(name), not \(needed) for an input of "
          + (channels == 1 ? "1 channel" : "\(channels) channels")
      }
      if let odd = values.first(where: { !$0.isFinite || name == "std" && $0 <= 0 }) {
        return "it has a \(name) of \(odd), not "
          + (name == "std" ? "a finite number above 0" : "a finite number")
      }
    }
    return nil
  }

  /// A warning about numbers that are suspicious or cannot be used; nil if there is no reason for one.
  ///
  /// - Parameters:
  ///   - pixels: How the input's pixels are read.
  ///   - arithmetic: How the graph's first operators show that pixels are read; nil if they do not.
  func warning(_ pixels: Assumption, _ arithmetic: FirstArithmetic?) -> String? {
    guard let normalization else {
      return """
        the metadata's normalization cannot be used: \(objection ?? ""); pixels are read as \(pixels.value) instead, from \
        \(pixels.source.text), and --pixels says how the model takes them
        """
    }
    if normalization.isIdentity {
      guard arithmetic?.normalization != .raw else { return nil }
      return """
        the metadata's normalization is a mean of 0 and a std of 1, so pixels stay 0 to 255; if the model takes pixels from 0 to 1, \
        --pixels unit says so
        """
    }
    return normalization.unitWarning(ofNumbers: "the metadata's normalization \(normalization)")
  }
}

extension Normalization {
  /// The least deviation of pixels from 0 to 1: below it, numbers are for no pixels at all.
  private static let minimumDeviation: Float = 0.01

  /// Whether pixels stay as they are.
  fileprivate var isIdentity: Bool {
    guard case .meanStd(let mean, let std) = self else { return false }
    return mean.allSatisfy { $0 == 0 } && std.allSatisfy { $0 == 1 }
  }

  /// A warning if the numbers are those for pixels from 0 to 1, where pixels are from 0 to 255; nil otherwise.
  ///
  /// - Parameter source: Where the numbers come from, to begin with.
  func unitWarning(ofNumbers source: String) -> String? {
    guard !isIdentity, case .meanStd(let mean, let std) = self,
      mean.allSatisfy({ abs($0) <= 1 }), std.allSatisfy({ $0 < 2 })
    else { return nil }
    // One number stands for every channel.
    let whites = (0..<max(mean.count, std.count)).map { channel -> String in
      let white = (255 - mean[min(channel, mean.count - 1)]) / std[min(channel, std.count - 1)]
      return "\(white)"
    }
    let means = mean.count == 1 ? "a mean" : "means"
    let warning = """
      \(source) subtracts \(means) from pixels of 0 to 255 and divides, so that white becomes \(whites.joined(separator: ", "))
      """
    guard std.allSatisfy({ $0 >= Self.minimumDeviation }) else { return warning + ", which no model takes" }
    let numbers = [mean, std].map { $0.map { "\(($0 * 255_000).rounded() / 1_000)" }.joined(separator: ",") }
      .joined(separator: ":")
    return warning + "; if the numbers are for pixels from 0 to 1, --pixels \(numbers) says so"
  }
}
