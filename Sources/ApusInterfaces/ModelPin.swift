// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import FoundationEssentials

/// The file `MODEL.sha256` beside a model, which says that no other model may take its place.
package enum ModelPin {
  /// The maximum size of such a file, in bytes.
  private static let maximumFileSize = 1 << 16

  /// Checks a model against its pin; a model without one passes.
  ///
  /// - Parameters:
  ///   - model: The path of the model.
  ///   - sha256: The SHA-256 of the model, in lower case.
  /// - Throws: `invalidData` for another model, or a pin that does not begin with a SHA-256 as `sha256sum` prints it; `unreadableFile`.
  package static func check(_ model: String, sha256: String) throws(ApusError) {
    let pin = model + ".sha256"
    // A link that leads nowhere is there, too: a pin that is lost must not pass for none.
    guard (try? FileManager.default.attributesOfItem(atPath: pin)) != nil else { return }
    let expected = try digits(of: readWholeFile(at: pin, limit: maximumFileSize), pin)
    guard expected == sha256 else {
      throw ApusError(
        .invalidData, "\(model): its SHA-256 is \(sha256), not \(expected) as \(pin) has it")
    }
  }

  private static func digits(of bytes: [UInt8], _ pin: String) throws(ApusError) -> String {
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    guard !text.contains(0), let text = String(validating: text, as: UTF8.self) else {
      throw ApusError(
        .invalidData,
        "\(pin) is no text in UTF-8, perhaps one in UTF-16 as PowerShell writes it; write the SHA-256 with '| Out-File -Encoding ascii'"
      )
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    // Names with a backslash have one before the digits, too.
    let first = (words.first ?? "").drop { $0 == "\\" }
    guard first.utf8.count == 64, first.utf8.allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) }) else {
      let found =
        first.isEmpty ? "is empty" : "begins with '\(first.prefix(64))', not 64 hexadecimal digits"
      let form = words.contains("=") ? "; this is the form of 'sha256sum --tag' and 'shasum --tag'" : ""
      throw ApusError(
        .invalidData, "\(pin) \(found); write it with 'sha256sum MODEL', digits first\(form)")
    }
    return first.lowercased()
  }
}
