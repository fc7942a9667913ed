// SPDX-License-Identifier: Apache-2.0

/// Bytes at a fixed place that only one kind of file has.
struct FileSignature {
  private let offset: Int
  private let bytes: [UInt8]
  /// The kind of files with these bytes.
  let kind: FileKind

  private init(_ bytes: [UInt8], at offset: Int = 0, _ name: String, _ advice: String = "") {
    (self.offset, self.bytes, kind) = (offset, bytes, FileKind(name, advice))
  }

  private init(_ bytes: [UInt8], at offset: Int = 0, picture format: String) {
    (self.offset, self.bytes, kind) = (offset, bytes, FileKind(picture: format))
  }

  private init(_ text: StaticString, at offset: Int = 0, picture format: String) {
    self.init(Array(text.description.utf8), at: offset, picture: format)
  }

  private init(_ bytes: [UInt8], at offset: Int = 0, sound name: String, forPictures advice: String? = nil) {
    (self.offset, self.bytes, kind) = (offset, bytes, FileKind(sound: name, forPictures: advice))
  }

  private init(_ text: StaticString, at offset: Int = 0, _ name: String, _ advice: String = "") {
    self.init(Array(text.description.utf8), at: offset, name, advice)
  }

  func matches(_ file: [UInt8]) -> Bool {
    file.count >= offset && file[offset...].starts(with: bytes)
  }

  private static let unpack = "unpack it first"

  /// The kinds of files that are mistaken for models and pictures.
  static let all =
    models + archives + sounds + pictures + [
      FileSignature("TFL3", at: 4, "a .tflite model"),
      FileSignature("%PDF-", "a PDF document"),
      FileSignature(
        [0x7F, 0x45, 0x4C, 0x46], "a program or library of Linux",
        "an .eim of Edge Impulse contains its model; export it as .tflite"),
      FileSignature([0x4D, 0x5A, 0x90, 0], "a program or library of Windows"),
      FileSignature([0xCF, 0xFA, 0xED, 0xFE], "a program or library of macOS"),
      FileSignature("SQLite format 3\0", "a SQLite database"),
      FileSignature(
        [0, 5, 0x16, 7], "what macOS keeps beside a file (AppleDouble)",
        "take the file of the same name without '._' in front"),
      FileSignature([0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59], "a NumPy array (.npy)"),
    ]

  private static let models = [
    FileSignature(
      [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A],
      "an HDF5 file, such as a Keras model or its weights (.h5)", FileKind.convert("from_keras_model")),
    FileSignature(
      "LITERTLM", "a bundle of a language model (.litertlm)",
      "LiteRT-LM runs it; the .tflite models are inside it"),
    FileSignature("GGUF", "a GGUF file of a language model"),
    FileSignature("RKNN", "a model for Rockchip's processors (.rknn)", FileKind.fromSource),
    FileSignature("ftrt", "a TensorRT engine", FileKind.fromSource),
    FileSignature("ET12", at: 4, "an ExecuTorch program (.pte)", FileKind.fromSource),
    FileSignature(
      [0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19],
      "a PyTorch file (.pt or .pth)", FileKind.fromSource),
    FileSignature(
      [0x80, 2], "a pickled object of Python, such as a PyTorch or scikit-learn model", FileKind.fromSource),
    FileSignature(
      [0x80, 3], "a pickled object of Python, such as a PyTorch or scikit-learn model", FileKind.fromSource),
    FileSignature(
      [0x80, 4, 0x95], "a pickled object of Python, such as a PyTorch or scikit-learn model",
      FileKind.fromSource),
    FileSignature(
      [0x80, 5, 0x95], "a pickled object of Python, such as a PyTorch or scikit-learn model",
      FileKind.fromSource),
    FileSignature("{\"", at: 8, "a file of weights (.safetensors)", FileKind.fromSource),
  ]

  private static let archives = [
    FileSignature(
      [0x1F, 0x8B], "a file compressed with gzip",
      "unpack it first, with gunzip, or with tar xzf if it is a .tar.gz"),
    FileSignature("BZh", "a file compressed with bzip2", unpack),
    FileSignature([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0], "a file compressed with xz", unpack),
    FileSignature([0x28, 0xB5, 0x2F, 0xFD], "a file compressed with Zstandard", unpack),
    FileSignature([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z archive", unpack),
    FileSignature("Rar!", "a RAR archive", unpack),
    FileSignature(ZipContents.signature, "a ZIP archive", unpack),
    FileSignature(ZipContents.emptySignature, "an empty ZIP archive", "download or copy it again"),
    FileSignature("ustar", at: 257, "a tar archive", unpack),
  ]

  private static let sounds =
    [
      FileSignature(Array("ID3".utf8), sound: "an MP3 sound"),
      FileSignature(Array("OggS".utf8), sound: "an Ogg sound (Vorbis or Opus)"),
      FileSignature(Array("fLaC".utf8), sound: "a FLAC sound"),
      FileSignature(Array("AIFF".utf8), at: 8, sound: "an AIFF sound"),
      FileSignature(Array("AIFC".utf8), at: 8, sound: "an AIFF sound"),
      FileSignature(Array("#!AMR".utf8), sound: "an AMR sound"),
      FileSignature(Array(".snd".utf8), sound: "an AU sound"),
      FileSignature(Array("caff".utf8), sound: "a CAF sound"),
      FileSignature(Array("MThd".utf8), sound: "a MIDI file, which has notes and no samples"),
      FileSignature(Array("RF64".utf8), sound: "a WAV file for more than 4 GiB (RF64)"),
      FileSignature(
        [0x1A, 0x45, 0xDF, 0xA3], sound: "a video or sound in Matroska (.mkv or .webm)", forPictures: watch),
      FileSignature(
        [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], sound: "a video or sound of Windows Media",
        forPictures: watch),
    ]
    + [0xFB, 0xFA, 0xF3, 0xF2, 0xE3].map { FileSignature([0xFF, $0], sound: "an MP3 sound") }
    + [0xF1, 0xF9].map { FileSignature([0xFF, $0], sound: "an AAC sound") }
    + ["M4A ", "M4B "].map { FileSignature(Array("ftyp\($0)".utf8), at: 4, sound: "an AAC sound (.m4a)") }

  /// The advice for a film that is given for a picture.
  private static let watch =
    "'apus watch' looks at videos; or take pictures out of it, for example with ffmpeg"

  private static let pictures =
    [
      FileSignature([0xFF, 0xD8, 0xFF], picture: "JPEG"),
      FileSignature([0x89, 0x50, 0x4E, 0x47], picture: "PNG"),
      FileSignature("WEBP", at: 8, picture: "WebP"),
      FileSignature("GIF8", picture: "GIF"),
      FileSignature([0x49, 0x49, 42, 0], picture: "TIFF"),
      FileSignature([0x4D, 0x4D, 0, 42], picture: "TIFF"),
      FileSignature([0x49, 0x49, 43, 0], picture: "BigTIFF"),
      FileSignature([0x4D, 0x4D, 0, 43], picture: "BigTIFF"),
      FileSignature([0xFF, 0x0A], picture: "JPEG XL"),
      FileSignature([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20], picture: "JPEG XL"),
      FileSignature([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20], picture: "JPEG 2000"),
      FileSignature([0xFF, 0x4F, 0xFF, 0x51], picture: "JPEG 2000"),
      FileSignature("8BPS", picture: "Photoshop"),
      FileSignature([0x76, 0x2F, 0x31, 1], picture: "OpenEXR"),
      FileSignature("#?RADIANCE", picture: "Radiance"),
      FileSignature("#?RGBE", picture: "Radiance"),
      FileSignature("DDS ", picture: "DDS"),
      FileSignature("qoif", picture: "QOI"),
      FileSignature([0x01, 0xDA, 0], picture: "SGI"),
      FileSignature([0x01, 0xDA, 1], picture: "SGI"),
      FileSignature([0x0A, 5, 1, 8], picture: "PCX"),
      FileSignature("P7\n", picture: "PAM"),
      FileSignature("PF\n", picture: "PFM"),
      FileSignature("Pf\n", picture: "PFM"),
      FileSignature("SIMPLE  =", picture: "FITS"),
      FileSignature("DICM", at: 128, picture: "DICOM"),
      FileSignature([0x49, 0x49, 0xBC, 1], picture: "JPEG XR"),
      FileSignature([0, 0, 1, 0], picture: "icon"),
    ]
    + ["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "msf1"].map {
      FileSignature(Array("ftyp\($0)".utf8), at: 4, picture: "HEIC")
    }
    + ["avif", "avis"].map { FileSignature(Array("ftyp\($0)".utf8), at: 4, picture: "AVIF") }
    + [
      FileSignature(
        Array("ftyp".utf8), at: 4, sound: "a video (MP4 or QuickTime)", forPictures: watch),
      FileSignature("RIFF", "a RIFF file, such as WAV or AVI"),
    ]
}
