// SPDX-License-Identifier: Apache-2.0

import ApusVision

/// Finds the orientation in EXIF data, which JPEG, PNG and WebP have in common.
enum ExifOrientation {
  /// The orientation in the first directory of a TIFF structure; `.up` for a value that is none, nil where the directory does not have
  /// it or is damaged.
  static func orientation(inTIFF tiff: ArraySlice<UInt8>) -> ImageOrientation? {
    let isLittleEndian = tiff.starts(with: [0x49, 0x49, 42, 0])
    guard isLittleEndian || tiff.starts(with: [0x4D, 0x4D, 0, 42]) else { return nil }
    func number(at offset: Int, size: Int) -> Int? {
      guard offset >= 0, offset <= tiff.count - size else { return nil }
      let field = tiff[tiff.startIndex + offset..<tiff.startIndex + offset + size]
      return isLittleEndian
        ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(at: 4, size: 4), let count = number(at: directory, size: 2) else {
      return nil
    }
    for index in 0..<count {
      let entry = directory + 2 + index * 12
      guard let tag = number(at: entry, size: 2), let type = number(at: entry + 2, size: 2) else {
        return nil
      }
      if tag == 0x0112 {
        // SHORT is the specified type; some writers use LONG.
        guard type == 3 || type == 4, number(at: entry + 4, size: 4) == 1 else { return .up }
        return number(at: entry + 8, size: type == 3 ? 2 : 4).flatMap(ImageOrientation.init(rawValue:)) ?? .up
      }
    }
    return nil
  }
}
