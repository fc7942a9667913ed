// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The file `config.pbtxt` beside a model: Triton's configuration in protobuf's text format. None of it is heeded; this finds out what it
/// sets, so that the operator hears of it.
struct TritonConfiguration {
  /// The name of the file.
  static let fileName = "config.pbtxt"
  /// The settings, in their order, without those that name the model and its platform.
  let settings: [String]

  /// The most bytes of a file that are looked at.
  private static let longest = 1 << 20
  /// The most settings that are listed.
  private static let maximumCount = 32
  /// Settings that say nothing but what the file of the model says.
  private static let harmless: Set<String> = ["name", "platform", "backend", "input", "output"]
  /// Settings within others that change answers, or where the model is.
  private static let inner: Set<String> = ["label_filename", "reshape"]

  /// Reads the file of a model's folder; nil if there is none.
  init?(inFolder folder: String) {
    let path = "\(folder)/\(Self.fileName)"
    guard ModelFolder.isFile(path), let handle = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? handle.close() }
    self.init((try? handle.read(upToCount: Self.longest)) ?? Data())
  }

  /// Finds the names of fields: identifiers before `:`, `{` or `[`, outside of strings and comments.
  init(_ text: Data) {
    var settings: [String] = []
    var depth = 0
    var word = ""
    var quote: UInt8?
    var isComment = false
    var isEscaped = false
    for byte in text {
      if isComment {
        isComment = byte != UInt8(ascii: "\n")
        continue
      }
      if let open = quote {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == open {
          quote = nil
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "#"): isComment = true
      case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        if word.hasSuffix(" ") { word = "" }
        word.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ":"), UInt8(ascii: "{"), UInt8(ascii: "["):
        let name = word.trimmingCharacters(in: .whitespaces)
        let counts = depth == 0 ? !Self.harmless.contains(name) : Self.inner.contains(name)
        if counts, !name.isEmpty, !settings.contains(name), settings.count < Self.maximumCount {
          settings.append(name)
        }
        word = ""
        if byte != UInt8(ascii: ":") { depth += 1 }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        word = ""
      default: if !word.isEmpty, !word.hasSuffix(" ") { word += " " }
      }
    }
    self.settings = settings
  }
}
