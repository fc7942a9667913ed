// SPDX-License-Identifier: Apache-2.0

/// The kind of a ZIP archive, by the names in it.
struct ZipContents {
  /// The first bytes of an archive with files.
  static let signature: [UInt8] = [0x50, 0x4B, 3, 4]
  /// The first bytes of an archive without files.
  static let emptySignature: [UInt8] = [0x50, 0x4B, 5, 6]

  let kind: FileKind

  /// Names that the parts of MediaPipe's bundles have.
  private static let parts = [
    "_detector.tflite", "_landmarks_detector.tflite", "face_blendshapes.tflite", "_embedder.tflite",
    "gesture_classifier.tflite", "_landmarker.task",
  ]

  /// Reads the archive's directory; `path` is the file's name.
  init(_ bytes: FileBytes, path: String) {
    let names: [String]
    do throws(FormatError) {
      let entries = try bytes.withReader { (reader) throws(FormatError) in
        try ZipDirectory(reader)?.entries()
      }
      guard let entries else {
        kind = FileKind("a ZIP archive that is damaged or cut off", "download or copy it again")
        return
      }
      names = entries.map(\.name)
    } catch {
      kind = FileKind(
        "a ZIP archive that cannot be read (\(error.message))",
        "download it again, or pack its files anew, without zip64 and a password")
      return
    }
    guard !names.isEmpty else {
      kind = FileKind("an empty ZIP archive", "download or copy it again")
      return
    }
    func contains(_ ending: String) -> Bool { names.contains { $0 == ending || $0.hasSuffix("/" + ending) } }
    let models = names.filter { $0.lowercased().hasSuffix(".tflite") }
    let list = models.prefix(4).joined(separator: ", ") + (models.count > 4 ? ", …" : "")
    let isBundle =
      path.lowercased().hasSuffix(".task")
      || names.contains { name in Self.parts.contains { name.hasSuffix($0) } }
    if !models.isEmpty || isBundle, let name = ZipArchive.repeatedName(in: names) {
      kind = FileKind(
        "a ZIP archive with two files '\(name)'", "pack it anew: programs differ in which of them they read")
    } else if contains("TF_LITE_PREFILL_DECODE") {
      kind = FileKind("a MediaPipe task bundle (ZIP) of a language model")
    } else if isBundle {
      kind = FileKind(
        "a MediaPipe task bundle (ZIP)" + (models.isEmpty ? "" : " of \(list)"),
        (BundleTask(entryNames: names).map {
          "apus \($0.rawValue) and \($0.landmarker) take it as it is; for anything else, "
        } ?? "") + "unpack it with unzip, and use "
          + (models.count > 1 ? "one of its models" : "the model in it"))
    } else if contains("model.weights.h5"), contains("config.json") {
      kind = FileKind("a Keras model (.keras)", FileKind.convert("from_keras_model"))
    } else if contains("data.pkl") {
      kind = FileKind("a PyTorch file (.pt or .pth)", FileKind.fromSource)
    } else if names.contains(where: { $0.hasSuffix(".mlmodel") || $0.hasSuffix(".mlmodelc/coremldata.bin") })
    {
      kind = FileKind("a ZIP archive with a Core ML model", FileKind.fromSource)
    } else if !models.isEmpty {
      kind = FileKind(
        "a ZIP archive of \(list)",
        "unpack it with unzip, and use " + (models.count > 1 ? "one of its models" : models[0]))
    } else if contains("saved_model.pb") {
      kind = FileKind(
        "a ZIP archive with a SavedModel", "unpack it, then " + FileKind.convert("from_saved_model"))
    } else if names.allSatisfy({ $0.hasSuffix(".npy") }) {
      kind = FileKind("an archive of NumPy arrays (.npz)")
    } else {
      kind = FileKind(
        "a ZIP archive of \(names.count) file\(names.count == 1 ? "" : "s")", "it contains no .tflite file")
    }
  }
}
