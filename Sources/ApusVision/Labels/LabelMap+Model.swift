import Apus
import ApusFormat

extension LabelMap {
  /// The labels that travel inside a model file: one name a line, in the file that the metadata names for an
  /// output, or else in the only text that is appended to the model. Nil where there are none, or none readable:
  /// damage costs the labels, never the model.
  ///
  /// - Parameter offset: How many rows further down a class is looked up; detected where nil.
  public init?(of model: Model, offset: Int? = nil) {
    guard let archive = try? ZipArchive(appendedTo: model.file.bytes) else { return nil }
    let metadata = (try? ModelMetadata.read(from: model.file)) ?? nil
    var name = metadata?.outputs.lazy.compactMap(\.labelFile).first?.name
    if name == nil {
      let texts = archive.entries.map(\.name).filter { $0.hasSuffix(".txt") }
      if texts.count == 1 { name = texts[0] }
    }
    guard let name, let text = try? archive.contents(of: name, maximumSize: Self.maximumFileSize),
      let labels = try? LabelMap(parsing: text, format: .lines, offset: offset), labels.rowCount > 0
    else { return nil }
    self = labels
  }
}
