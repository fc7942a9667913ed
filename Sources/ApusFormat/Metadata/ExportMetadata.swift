// SPDX-License-Identifier: Apache-2.0
/// The dictionary that the exporter of a YOLO model appends to its file, as JSON or as a Python literal.
package struct ExportMetadata: Sendable {
  /// The names of files with such a dictionary, the preferred first.
  package static let fileNames = ["metadata.json", "temp_meta.txt", "meta.txt", "edgefirst.json"]

  /// The file that contains the dictionary.
  package let fileName: String
  /// The model's task: `detect`, `segment`, `pose`, `classify`, `obb`; nil if unknown.
  package let task: String?
  /// The names of the classes by index; empty if there are none.
  package let names: [Int: String]
  /// The height and width that the model was exported for.
  package let imageSize: (height: Int, width: Int)?
  /// The channels of a picture.
  package let channels: Int?
  /// Whether the model's output needs no suppression; nil if unknown.
  package let isEndToEnd: Bool?
  /// Whether the exporter put suppression into the model.
  package let hasSuppression: Bool
  /// The number of keypoints, and of values for each.
  package let keypoints: (count: Int, values: Int)?
  /// The exporter's description of the model; empty if unknown.
  package let description: String

  /// The tasks that exporters name and whose rules are known.
  package static let tasks: Set<String> = ["classify", "detect", "segment", "pose", "obb", "semantic"]

  /// The largest class index that is kept.
  private static let maximumIndex = 1 << 20

  /// Whether the file is one that exporters of YOLO append, so that the model is trained as theirs are. Files called `metadata.json` are
  /// common: one of theirs has names of classes, a task, the stride of the coarsest cells, or the size of the input.
  package var isOfYOLO: Bool {
    fileName.hasSuffix("meta.txt") || fileName == Self.fileNames[0] && hasFieldsOfYOLO
  }
  private let hasFieldsOfYOLO: Bool
  /// Whether the file is that of YOLO v5.
  package var isOfVersion5: Bool { fileName == "meta.txt" }

  /// Reads the dictionary from the archive behind a model; nil if there is none, or none readable.
  package init?(appendedTo bytes: FileBytes) {
    guard let archive = try? ZipArchive(appendedTo: bytes) else { return nil }
    let names = archive.entries.map(\.name)
    for name in Self.fileNames where names.contains(name) {
      guard let text = try? archive.contents(of: name, maximumSize: 16 << 20),
        let dictionary = try? Literal(parsing: text), dictionary.entries != nil
      else { continue }
      self.init(dictionary, fileName: name)
      return
    }
    return nil
  }

  /// Reads what it can use from a dictionary; everything may be missing or of another kind.
  package init(_ dictionary: Literal, fileName: String = "") {
    self.fileName = fileName
    task = dictionary["task"]?.text
    hasFieldsOfYOLO =
      dictionary["task"]?.text.map(Self.tasks.contains) ?? false || dictionary["stride"]?.integer != nil
      || Self.pair(dictionary["imgsz"]) != nil || !Self.names(dictionary["names"]).isEmpty
    channels = dictionary["channels"]?.integer
    isEndToEnd = dictionary["end2end"]?.bool
    hasSuppression = dictionary["args"]?["nms"]?.bool ?? false
    description = dictionary["description"]?.text ?? ""
    names = Self.names(dictionary["names"])
    imageSize = Self.pair(dictionary["imgsz"]).map { (height: $0.0, width: $0.1) }
    keypoints = Self.pair(dictionary["kpt_shape"]).map { (count: $0.0, values: $0.1) }
  }

  private static func names(_ value: Literal?) -> [Int: String] {
    var names: [Int: String] = [:]
    if let entries = value?.entries {
      for entry in entries {
        if let index = entry.key.integer, (0..<maximumIndex).contains(index) {
          names[index] = entry.value.text
        }
      }
    } else if let list = value?.list {
      for (index, name) in list.enumerated() { names[index] = name.text }
    }
    return names
  }

  /// Two positive numbers, or one for both.
  private static func pair(_ value: Literal?) -> (Int, Int)? {
    let numbers = value?.list?.compactMap(\.integer) ?? value?.integer.map { [$0, $0] } ?? []
    guard numbers.count == 2, numbers.allSatisfy({ (1...1 << 16).contains($0) }) else { return nil }
    return (numbers[0], numbers[1])
  }
}
