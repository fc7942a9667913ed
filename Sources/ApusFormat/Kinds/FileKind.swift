// SPDX-License-Identifier: Apache-2.0

/// The kind of a file that was given for something else, for errors that say what to do.
///
/// Files are recognized by their first bytes, archives also by the names in them; nothing is unpacked.
package struct FileKind: Hashable, Sendable {
  /// The kind's name, with an article: `a Git LFS pointer`.
  package let name: String
  /// How to get a model, or a picture that can be read; empty where nothing helps.
  package let advice: String
  /// How to get a picture, where that is another way.
  private let pictureAdvice: String?
  /// The format of a picture, such as `HEIC`; nil for other files.
  package let pictureFormat: String?
  /// Whether it is sound, or has sound in it.
  package let isSound: Bool

  init(_ name: String, _ advice: String = "", forPictures pictureAdvice: String? = nil) {
    (self.name, self.advice, pictureFormat, isSound) = (name, advice, nil, false)
    self.pictureAdvice = pictureAdvice
  }

  /// A kind of sound, with an article.
  init(sound name: String, forPictures pictureAdvice: String? = nil) {
    (self.name, advice, pictureFormat, isSound) = (name, "", nil, true)
    self.pictureAdvice = pictureAdvice
  }

  /// A kind of picture.
  init(picture format: String) {
    isSound = false
    (name, pictureFormat) = (
      "\(format.hasPrefix("A") || ["icon", "SVG", "OpenEXR", "SGI"].contains(format) ? "an" : "a") \(format) picture",
      format
    )
    advice = ["JPEG", "PNG", "BMP"].contains(format) ? "" : "convert it to JPEG or PNG"
    pictureAdvice = nil
  }

  /// How many bytes of a file are looked at.
  package static let beginningByteCount = 1 << 16

  /// Recognizes the bytes of a file that is no model; nil for unknown ones.
  ///
  /// - Parameter path: The file's name, where it has one: the name of a bundle tells it from other archives.
  package init?(_ bytes: FileBytes, path: String = "") {
    let count = min(bytes.count, Self.beginningByteCount)
    guard
      let beginning = try? bytes.withReader({ (reader) throws(FormatError) in
        try reader.integers(UInt8.self, at: 0, count: count)
      })
    else { return nil }
    // Bundles may begin with zeros, so that their first entry is aligned.
    let padding = beginning.prefix(64).prefix { $0 == 0 }.count
    let start = beginning.dropFirst(padding)
    if start.starts(with: ZipContents.signature) || start.starts(with: ZipContents.emptySignature) {
      self = ZipContents(bytes, path: path).kind
    } else {
      self.init(beginning: beginning)
    }
  }

  /// Recognizes the first bytes of a file; nil for unknown ones.
  package init?(beginning bytes: [UInt8]) {
    guard !bytes.isEmpty else {
      self.init("an empty file", "download or copy it again")
      return
    }
    guard bytes.contains(where: { $0 != 0 }) else {
      self.init("a file of zeros", "download or copy it again")
      return
    }
    let found =
      FileSignature.all.first { $0.matches(bytes) }?.kind
      ?? TextContents.kind(of: bytes) ?? ProtobufContents.kind(of: bytes)
    guard let found else { return nil }
    self = found
  }

  /// Recognizes the bytes of a file that should be a text, such as labels; nil for texts of people.
  package init?(insteadOfText bytes: [UInt8]) {
    let beginning = Array(bytes.prefix(Self.beginningByteCount))
    if let text = TextContents.text(at: beginning) {
      guard let kind = TextContents.placeholder(text) else { return nil }
      self = kind
    } else {
      self.init(beginning: beginning)
    }
  }

  /// The kind of a folder that was given for a model; nil for any other.
  package init?(folder path: String) {
    if FileBytes.exists("\(path)/saved_model.pb") {
      self.init("a SavedModel folder", Self.convert("from_saved_model"))
    } else if FileBytes.exists("\(path)/Manifest.json") || Self.name(of: path).hasSuffix(".mlpackage") {
      self.init("a Core ML package (.mlpackage)", Self.fromSource)
    } else if Self.name(of: path).hasSuffix(".mlmodelc") {
      self.init("a compiled Core ML model (.mlmodelc)", Self.fromSource)
    } else {
      return nil
    }
  }

  /// The last part of a path, without slashes behind it, in small letters.
  private static func name(of path: String) -> String {
    (path.split(separator: "/").last ?? "").lowercased()
  }

  /// Whether the bytes of a model went through something that takes all files for text: all bytes beyond ASCII are UTF-8, and
  /// some are the letter that replaces what is not, or the two bytes of a letter of Latin-1.
  package static func isMangledToText(_ bytes: FileBytes) -> Bool {
    let count = min(bytes.count, beginningByteCount)
    guard
      let beginning = try? bytes.withReader({ (reader) throws(FormatError) in
        try reader.integers(UInt8.self, at: 0, count: count)
      })
    else { return false }
    return isMangledToText(beginning)
  }

  /// Whether bytes with many beyond ASCII are UTF-8; the last letter may be cut off.
  static func isMangledToText(_ bytes: [UInt8]) -> Bool {
    let high = bytes.count { $0 >= 0x80 }
    guard high >= 32 else { return false }
    var index = 0
    while index < bytes.count {
      let lead = bytes[index]
      let length =
        lead < 0x80
        ? 1
        : lead >= 0xC2 && lead < 0xE0
          ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead >= 0xF0 && lead < 0xF5 ? 4 : 0
      guard length > 0 else { return false }
      for place in index + 1..<max(index + length, index + 1) where place < bytes.count {
        guard bytes[place] & 0xC0 == 0x80 else { return false }
      }
      index += length
    }
    return true
  }

  /// A sentence about a file that should be a model: `it is a Git LFS pointer, not a .tflite model; run 'git lfs pull'…`.
  package var insteadOfModel: String {
    "it is \(name), not a .tflite model" + (advice.isEmpty || pictureFormat != nil ? "" : "; \(advice)")
  }

  /// A sentence about a file that should be a bundle of models.
  package var insteadOfBundle: String {
    "it is \(name), not a bundle of models (.task)"
      + (advice.isEmpty || pictureFormat != nil ? "" : "; \(advice)")
  }

  /// A sentence about a file that should be a picture of one of these formats: `it is a HEIC picture, not JPEG or PNG; convert it…`.
  package func insteadOfPicture(_ formats: String) -> String {
    let advice = pictureAdvice ?? advice
    return "it is \(name), not \(formats)" + (advice.isEmpty ? "" : "; \(advice)")
  }

  // MARK: Advice

  /// How TensorFlow's converter makes a model of something else.
  static func convert(_ method: String, module: String = "tf.lite") -> String {
    "convert it with TensorFlow: \(module).TFLiteConverter.\(method)(…).convert()"
  }

  /// Where files of other frameworks cannot be converted themselves.
  static let fromSource = "export the original model as .tflite"
}
