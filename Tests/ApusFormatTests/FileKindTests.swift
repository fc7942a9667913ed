// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Testing

/// Files that are mistaken for models, made after the formats' own specifications.
@Suite struct FileKindTests {
  private static let zip = "PK\u{3}\u{4}"

  /// A field of a protocol buffer with bytes.
  private func field(_ number: UInt8, _ body: [UInt8]) -> [UInt8] {
    [number << 3 | 2, UInt8(body.count)] + body
  }

  private func kind(_ bytes: [UInt8], _ path: String = "") -> String {
    FileKind(FileBytes(copying: bytes), path: path)?.insteadOfModel ?? ""
  }

  /// An archive of stored files, each with its local header, and the directory.
  private func archive(_ names: [String]) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
    for name in names {
      let text = Array(name.utf8)
      let fields =
        little(20, 2) + little(0, 4) + little(0, 4) + little(0, 4) + little(0, 4) + little(0, 4)
        + little(text.count, 2) + little(0, 2)
      directory +=
        [0x50, 0x4B, 1, 2] + little(20, 2) + fields + little(0, 10) + little(bytes.count, 4) + text
      bytes += [0x50, 0x4B, 3, 4] + fields + text
    }
    let start = bytes.count
    return bytes + directory + [0x50, 0x4B, 5, 6] + little(0, 4) + little(names.count, 2)
      + little(names.count, 2)
      + little(directory.count, 4) + little(start, 4) + little(0, 2)
  }

  @Test(
    "pictures of other formats are named by their first bytes, with what to do",
    arguments: [
      ([0x76, 0x2F, 0x31, 1], "an OpenEXR"), (Array("#?RADIANCE\n".utf8), "a Radiance"),
      (Array("DDS |".utf8), "a DDS"), (Array("qoif".utf8), "a QOI"), ([1, 0xDA, 1, 1], "an SGI"),
      ([10, 5, 1, 8, 0], "a PCX"), (Array("P7\nWIDTH 6\n".utf8), "a PAM"), (Array("PF\n6 4\n".utf8), "a PFM"),
      (Array("SIMPLE  =                    T".utf8), "a FITS"),
      ([UInt8](repeating: 0, count: 128) + Array("DICM".utf8), "a DICOM"),
      ([0x49, 0x49, 0xBC, 1], "a JPEG XR"),
    ] as [([UInt8], String)])
  func namesPictures(bytes: [UInt8], format: String) throws {
    let kind = try #require(FileKind(beginning: bytes))
    #expect(
      kind.insteadOfPicture("JPEG or PNG")
        == "it is \(format) picture, not JPEG or PNG; convert it to JPEG or PNG")
  }

  @Test("an archive is named where labels or a picture are expected, too")
  func namesArchivesElsewhere() {
    let archive = archive(["labels.txt"])
    #expect(FileKind(insteadOfText: archive)?.name == "a ZIP archive")
    #expect(FileKind(beginning: archive)?.name == "a ZIP archive")
    #expect(kind(self.archive([])).contains("an empty ZIP archive"))
    // Bytes that no text consists of are not quoted as one; a text in an old encoding is left alone.
    #expect(kind([UInt8](repeating: 0xFF, count: 99)) == "")
    #expect(FileKind(insteadOfText: [0xC3, 0xA8, 0xB9, 0xB7, 0x0A, 0xB9, 0xB7, 0x0A]) == nil)
  }

  @Test(
    "texts are named",
    arguments: [
      (
        "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 77\n",
        "Git LFS pointer to a file of 77 bytes"
      ),
      ("\n <!DOCTYPE HTML PUBLIC \"\">", "HTML"), ("\u{FEFF}<html lang='en'>", "HTML"),
      ("<?xml version='1.0'?><Error/>", "XML"),
      ("<?xml version='1.0'?>\n<!-- drawn -->\n<svg xmlns='http://www.w3.org/2000/svg'/>", "an SVG picture"),
      (
        // The first bytes of a model, as the command base64 writes them.
        "HAAAAFRGTDMUACAAHAAYABQAEAAMAAAACAAEABQAAAAcAAAAlAAAAOwAAAD0KAAABCkAABRNAAAD\nAAAAAQAAAAQAAAA=\n",
        "Base64 text of a .tflite model"
      ),
      (String(repeating: "iVBORw0KGgoAAAANSUhEUgAA", count: 4), "a text in Base64"),
      (
        "1c000000 54464c33\n" + String(repeating: "14002000 ", count: 8),
        "hexadecimal text of a .tflite model"
      ),
      (String(repeating: "89504E470D0A1A0A", count: 4), "hexadecimal text of other bytes"),
      ("SQLite format 3\0", "SQLite"),
      ("\0\u{5}\u{16}\u{7}\0\u{2}", "without '._'"), ("RKNN\0\0", ".rknn"),
      ("{\"modelTopology\": {}}", "TensorFlow.js"), ("{\"error\": \"gone\"}", "JSON"),
      ("#include <x>\nconst unsigned char m[] = {0x1c,", "C source"),
      ("Guten Tag,\nalles gut?", "text that begins with 'Guten Tag,'"),
    ])
  func namesTexts(text: String, expected: String) {
    #expect(kind(Array(text.utf8)).contains(expected))
  }

  @Test("the advice about an encoded file is a picture's where a picture should be")
  func advisesAboutEncodedPictures() throws {
    for (text, model, picture) in [
      (
        String(repeating: "iVBORw0KGgoAAAANSUhEUgAA", count: 4), "base64 -d FILE > model.tflite",
        "base64 -d FILE > picture"
      ),
      (
        String(repeating: "89504E470D0A1A0A", count: 4), "xxd -r -p FILE > model.tflite",
        "xxd -r -p FILE > picture"
      ),
    ] {
      let kind = try #require(FileKind(beginning: Array(text.utf8)))
      #expect(kind.insteadOfModel.contains(model) && kind.insteadOfPicture("JPEG").contains(picture))
    }
  }

  @Test("archives are named by what is in them")
  func namesArchives() {
    #expect(kind([0x4D, 0x5A, 0x90, 0, 3, 0]).contains("program or library of Windows"))
    #expect(kind(archive(["model.tflite", "labels.txt"])).contains("ZIP archive of model.tflite"))
    #expect(kind(archive(["a.tflite"]), "hands.TASK").contains("MediaPipe task bundle (ZIP) of a.tflite"))
    for (command, names) in [
      ("hands", ["hand_detector.tflite", "hand_landmarks_detector.tflite"]),
      ("hands", ["hand_landmarker.task", "hand_gesture_recognizer.task"]),
      ("face-mesh", ["face_detector.tflite", "face_landmarks_detector.tflite", "face_blendshapes.tflite"]),
      ("pose", ["pose_detector.tflite", "pose_landmarks_detector.tflite"]),
      (
        "holistic",
        [
          "face_detector.tflite", "face_landmarks_detector.tflite", "hand_landmarks_detector.tflite",
          "pose_detector.tflite", "pose_landmarks_detector.tflite",
        ]
      ),
    ] {
      #expect(kind(archive(names), "a.task").contains("apus \(command) and "), "\(names)")
      #expect(kind([0, 0] + archive(names)).contains("MediaPipe task bundle") || names[0].hasSuffix(".task"))
      #expect(BundleTask(entryNames: names)?.rawValue == command)
    }
    #expect(BundleTask(entryNames: ["hand_detector.tflite", "gesture_embedder.tflite"]) == nil)
    #expect(
      kind(archive(["pose_detector.tflite", "pose_landmarks_detector.tflite"])).contains(
        "MediaPipe task bundle"))
    #expect(kind(archive(["config.json", "metadata.json", "model.weights.h5"])).contains("Keras"))
    #expect(kind(archive(["best/data.pkl", "best/version"])).contains("PyTorch"))
    #expect(kind(archive(["x/saved_model.pb", "x/variables/variables.index"])).contains("SavedModel"))
    #expect(kind(archive(["a.npy", "b.npy"])).contains(".npz"))
    #expect(kind(archive(["Data/com.apple.CoreML/model.mlmodel", "Manifest.json"])).contains("Core ML"))
    #expect(kind(archive(["readme.md"])).contains("no .tflite file"))
    #expect(kind(Array(archive(["a.tflite"]).prefix(40))).contains("damaged or cut off"))
    #expect(kind(archive([])).contains("an empty ZIP archive"))
    #expect(kind(archive([]), "a.task").contains("an empty ZIP archive"))
  }

  @Test("an archive that cannot be read says why")
  func saysWhyAnArchiveCannotBeRead() throws {
    let whole = archive(["hand_detector.tflite"])
    let directory = try #require(
      whole.indices.dropLast(3).first { Array(whole[$0..<$0 + 4]) == [0x50, 0x4B, 1, 2] })
    var encrypted = whole
    encrypted[directory + 8] |= 1
    #expect(kind(encrypted, "a.task").contains("(entry 0: 'hand_detector.tflite' is encrypted)"))
    var parts = whole
    parts[parts.count - 22 + 4] = 1
    #expect(kind(parts).contains("(it is one of several parts)"))
    // Counts of 65,535 say that the real ones are elsewhere.
    var large = whole
    for place in large.count - 14..<large.count - 10 { large[place] = 0xFF }
    #expect(kind(large).contains("(zip64 is not supported)"))
  }

  @Test("models of other frameworks are named")
  func namesModels() {
    #expect(kind([0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A, 0]).contains("HDF5"))
    #expect(kind([0x1F, 0x8B, 8, 0]).contains("gzip"))
    #expect(
      kind([0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, 0x2E]).contains(
        "PyTorch"))
    #expect(kind([2, 0, 0, 0, 0, 0, 0, 0] + Array("{\"".utf8)).contains("safetensors"))
    #expect(kind([0x1C, 0, 0, 0] + Array("ET12".utf8)).contains("ExecuTorch"))
    #expect(kind([8, 7] + field(2, Array("pytorch".utf8)) + field(3, Array("2.4".utf8))).contains("ONNX"))
    #expect(kind([8, 3] + field(7, [1, 2, 3])).contains("ONNX"))
    #expect(kind([8, 5] + field(2, field(1, field(1, Array("image".utf8))))).contains("Core ML"))
    // A SavedModel without well-known words: the operators of its graph, or its tags, tell it from inputs of Core ML.
    let operators = field(2, field(1, field(1, Array("AddV2".utf8))))
    #expect(kind([8, 1] + field(2, field(1, operators))).contains("SavedModel"))
    #expect(kind([8, 1] + field(2, field(1, field(4, Array("serve".utf8))))).contains("SavedModel"))
    #expect(kind([8, 1] + field(2, field(1, field(1, Array("image".utf8))))).contains("Core ML"))
    #expect(kind(Array("LITERTLM".utf8) + [1, 0, 0, 0]).contains(".litertlm"))
    #expect(kind([8, 1] + field(2, field(1, field(2, field(1, Array("NoOp".utf8)))))).contains("SavedModel"))
    #expect(
      kind(field(1, field(1, Array("x".utf8)) + field(2, Array("Placeholder".utf8)))).contains(
        "graph of TensorFlow"))
    #expect(kind([]).contains("empty") && kind([0, 0, 0, 0, 0]).contains("zeros"))
    // Bytes of an unknown kind get no name.
    #expect(kind([0xDE, 0xAD, 0xBE, 0xEF, 1, 2, 3, 4, 5]).isEmpty)
  }

  @Test("bytes of a model that were changed as if they were text are noticed, others are not")
  func noticesMangledBytes() {
    let bytes = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 / 7) }
    #expect(!FileKind.isMangledToText(FileBytes(copying: bytes)))
    #expect(!FileKind.isMangledToText(FileBytes(copying: bytes.map { $0 & 0x7F })))
    let replaced = Array(String(decoding: bytes, as: UTF8.self).utf8)
    let latin1 = Array(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8)
    for mangled in [replaced, latin1] { #expect(FileKind.isMangledToText(FileBytes(copying: mangled))) }
  }

  @Test(
    "sounds are named",
    arguments: [("ID3\u{4}", "MP3"), ("OggS", "Ogg"), ("fLaC", "FLAC"), ("FORM....AIFF", "AIFF")])
  func namesSounds(text: String, expected: String) {
    let found = FileKind(beginning: Array(text.utf8) + [0, 0, 0])
    #expect(found?.isSound == true && found?.name.contains(expected) == true)
  }

  @Test(
    "pictures are named by their format",
    arguments: [
      ("HEIC", [0, 0, 0, 24] + Array("ftypheic".utf8)), ("HEIC", [0, 0, 0, 24] + Array("ftypmif1".utf8)),
      ("AVIF", [0, 0, 0, 24] + Array("ftypavif".utf8)),
      ("GIF", Array("GIF89a".utf8)), ("TIFF", [0x49, 0x49, 42, 0]), ("TIFF", [0x4D, 0x4D, 0, 42]),
      ("JPEG XL", [0xFF, 0x0A]),
      ("JPEG 2000", [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20]),
    ] as [(String, [UInt8])])
  func namesPictures(format: String, bytes: [UInt8]) {
    let kind = FileKind(beginning: bytes + [0, 0, 0])
    #expect(kind?.pictureFormat == format)
    #expect(kind?.insteadOfPicture("JPEG").contains("convert it to JPEG or PNG") == true)
    #expect(kind?.insteadOfModel.contains("convert") == false)
  }

  @Test(
    "a film that is given for a picture is one for apus watch",
    arguments: [
      [0, 0, 0, 24] + Array("ftypisom".utf8), [0x1A, 0x45, 0xDF, 0xA3],
      [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11],
    ] as [[UInt8]])
  func namesFilms(bytes: [UInt8]) {
    let kind = FileKind(beginning: bytes + [0, 0, 0])
    #expect(
      kind?.insteadOfPicture("JPEG").contains("; 'apus watch' looks at videos; or take pictures") == true)
    #expect(kind?.insteadOfModel.contains("apus watch") == false && kind?.isSound == true)
  }

  @Test("an error says that a file is cut off", arguments: [40, 100, 500])
  func saysThatAFileIsCutOff(length: Int) throws {
    // A vector of operator codes behind the end.
    var bytes = [UInt8](repeating: 0, count: 64)
    bytes.replaceSubrange(0..<8, with: [16, 0, 0, 0] + Array("TFL3".utf8))
    bytes.replaceSubrange(8..<16, with: [8, 0, 12, 0, 4, 0, 8, 0])
    let low = UInt8(truncatingIfNeeded: length)
    bytes.replaceSubrange(16..<28, with: [8, 0, 0, 0, 3, 0, 0, 0, low, 1, 0, 0])
    let error = #expect(throws: FormatError.self) { try ModelFile(FileBytes(copying: bytes)) }
    #expect(error?.reachesOutside == true)
  }
}
