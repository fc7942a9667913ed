// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision

/// Label files in every format.
public enum LabelsTarget: FuzzTarget {
  public static let name = "labels"

  public static func run(_ bytes: [UInt8]) {
    for format in LabelMap.Format.allCases {
      guard let map = try? LabelMap(parsing: bytes, format: format) else { continue }
      _ = (map[0], map[.max], map[.min], map.name(inRow: 1), map.indices(named: "a"))
    }
  }
}

/// Galleries of embeddings.
public enum GalleryTarget: FuzzTarget {
  public static let name = "gallery"

  public static func run(_ bytes: [UInt8]) {
    guard let gallery = try? EmbeddingGallery(bytes: bytes) else { return }
    _ = gallery.nearest(to: Embedding([1, 2, 3]), k: 3)
    guard (try? EmbeddingGallery(bytes: gallery.bytes)) != nil else {
      disagree("a gallery cannot be read again")
    }
  }
}

/// Sounds.
public enum WAVTarget: FuzzTarget {
  public static let name = "wav"

  public static func run(_ bytes: [UInt8]) {
    let start: [UInt8] = [0x52, 0x49, 0x46, 0x46, 0xFF, 0xFF, 0, 0, 0x57, 0x41, 0x56, 0x45]
    _ = try? AudioClip(decoding: bytes.starts(with: start.prefix(4)) ? bytes : start + bytes)
  }
}

/// `tflite_metadata.json` of AutoML.
public enum EdgeMetadataTarget: FuzzTarget {
  public static let name = "edge"
  public static func run(_ bytes: [UInt8]) { _ = try? EdgeModelMetadata(parsing: bytes) }
}

/// Decodes small pictures and touches every pixel.
private func decode(_ bytes: [UInt8]) {
  var limits = ImageLimits()
  limits.maximumPixelCount = 1 << 14
  limits.maximumScanCount = 20
  limits.maximumScannedPixelCount = 1 << 17
  _ = ImageBuffer.storedSize(ofFile: bytes)
  guard let picture = try? ImageBuffer(decoding: bytes, limits: limits) else { return }
  if picture.bytes.reduce(0, { $0 &+ Int($1) }) == .min { disagree("sums of bytes are positive") }
}

/// Bytes behind a beginning that decides the format.
private func decode(_ bytes: [UInt8], behind start: [UInt8]) {
  decode(bytes.starts(with: start) ? bytes : start + bytes)
}

/// JPEG, with its EXIF data.
public enum JPEGTarget: FuzzTarget {
  public static let name = "jpeg"
  public static func run(_ bytes: [UInt8]) { decode(bytes, behind: [0xFF, 0xD8, 0xFF]) }
}

/// PNG.
public enum PNGTarget: FuzzTarget {
  public static let name = "png"
  public static func run(_ bytes: [UInt8]) {
    decode(bytes, behind: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10])
  }
}

/// Windows bitmaps.
public enum BMPTarget: FuzzTarget {
  public static let name = "bmp"
  public static func run(_ bytes: [UInt8]) { decode(bytes, behind: [0x42, 0x4D]) }
}

/// Portable any-maps.
public enum PNMTarget: FuzzTarget {
  public static let name = "pnm"

  public static func run(_ bytes: [UInt8]) {
    decode(bytes, behind: [0x50, 0x31 + (bytes.first ?? 0) % 6])
  }
}
