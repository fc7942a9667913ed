// SPDX-License-Identifier: Apache-2.0

import ApusVision

/// Reads what the decoder does not report from a JPEG's header: orientation, Adobe's marker, scans.
struct JPEGHeader {
  /// The orientation in the first EXIF segment, or else in the last one of XMP; `.up` where there is none or it is damaged.
  private(set) var orientation = ImageOrientation.up
  /// Whether Adobe's marker is there, which means that CMYK values are stored inverted.
  private(set) var hasAdobeMarker = false
  /// Whether the frame is sequential and its first scan has all components, so that no other scan adds to it.
  private(set) var hasSingleScan = false
  /// How many scans there are; counted only where there may be more than one.
  private(set) var scanCount = 1
  /// How many components a pixel has; 0 where no frame says so.
  private(set) var componentCount = 0
  /// Whether an end marker follows the start of the first scan. Within a scan its bytes cannot occur by chance.
  private(set) var hasEndMarker = false
  /// Whether bytes that belong to no segment come before the first scan.
  private(set) var hasStrayBytes = false

  /// Looks at the segments before the first scan.
  init(_ bytes: [UInt8]) {
    var sources = OrientationSources()
    var sequentialComponents: UInt8?
    var segments = JPEGSegments(bytes)
    while let (marker, body) = segments.next() {
      if marker == 0xE1, body.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) {
        sources.exif = sources.exif ?? body
      } else if marker == 0xE1, body.starts(with: Self.xmpMark) {
        sources.xmp = body.dropFirst(Self.xmpMark.count)
      } else if marker == 0xEE, body.starts(with: "Adobe".utf8) {
        hasAdobeMarker = true
      } else if JPEGSegments.isFrame(marker) {
        let components = body.dropFirst(5).first
        componentCount = Int(components ?? 0)
        if marker == 0xC0 || marker == 0xC1 { sequentialComponents = components }
      } else if marker == 0xDA {
        hasSingleScan = sequentialComponents != nil && sequentialComponents == body.first
        hasEndMarker = Self.hasEndMarker(bytes[body.endIndex...])
        if !hasSingleScan { scanCount += Self.countScans(bytes[body.endIndex...]) }
      }
    }
    hasStrayBytes = segments.isAstray
    orientation = sources.orientation
  }

  /// How a segment with XMP begins.
  private static let xmpMark = [UInt8]("http://ns.adobe.com/xap/1.0/".utf8) + [0]

  /// Counts what a decoder may take for the start of a scan: within a scan, the marker's bytes cannot occur by chance.
  private static func countScans(_ bytes: ArraySlice<UInt8>) -> Int {
    var (count, previous) = (0, UInt8(0))
    for byte in bytes {
      if byte == 0xDA, previous == 0xFF { count += 1 }
      previous = byte
    }
    return count
  }

  /// Looks from the end: nearly always, the marker is the last two bytes.
  private static func hasEndMarker(_ bytes: ArraySlice<UInt8>) -> Bool {
    var index = bytes.endIndex - 2
    while index >= bytes.startIndex {
      if bytes[index] == 0xFF, bytes[index + 1] == 0xD9 { return true }
      index -= 1
    }
    return false
  }
}
