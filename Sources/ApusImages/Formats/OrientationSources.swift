// SPDX-License-Identifier: Apache-2.0

import ApusVision

/// The data in a picture's file that give its orientation: EXIF, or else XMP, as Pillow's
/// `ImageOps.exif_transpose` reads it.
struct OrientationSources {
  /// The EXIF data, perhaps behind the mark that it has in JPEG.
  var exif: ArraySlice<UInt8>?
  /// The XMP packet.
  var xmp: ArraySlice<UInt8>?

  /// The orientation; `.up` where nothing says it, or what does is damaged.
  var orientation: ImageOrientation {
    exif.flatMap(Self.orientation(inEXIF:)) ?? xmp.flatMap(Self.orientation(inXMP:)) ?? .up
  }

  private static let mark = [UInt8]("Exif".utf8) + [0, 0]
  /// Some writers put the mark of JPEG into other formats, which have one of their own.
  private static let maximumMarks = 2

  /// The orientation in EXIF data; `.up` for a value that is none, nil where it does not say it.
  private static func orientation(inEXIF data: ArraySlice<UInt8>) -> ImageOrientation? {
    var tiff = data
    for _ in 0..<maximumMarks where tiff.starts(with: mark) { tiff = tiff.dropFirst(mark.count) }
    return ExifOrientation.orientation(inTIFF: tiff)
  }

  private static let property = [UInt8]("tiff:Orientation".utf8)
  private static let valueMarks = [[UInt8]("=\"".utf8), [UInt8](">".utf8)]

  /// The orientation in XMP, as an attribute or an element; nil where it does not say it.
  private static func orientation(inXMP packet: ArraySlice<UInt8>) -> ImageOrientation? {
    var rest = packet
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      // Few colons have the property's name around them.
      let start = colon - 4
      rest = packet[(colon + 1)...]
      guard start >= packet.startIndex, packet[start...].starts(with: property) else { continue }
      let value = packet[(start + property.count)...]
      for mark in valueMarks where value.starts(with: mark) {
        guard let digit = value.dropFirst(mark.count).first, (0x30...0x39).contains(digit) else { continue }
        return ImageOrientation(rawValue: Int(digit) - 0x30) ?? .up
      }
    }
    return nil
  }
}
