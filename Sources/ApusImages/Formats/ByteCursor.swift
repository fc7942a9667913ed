// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads little-endian fields of a picture file; beyond the end is an error.
struct ByteCursor {
  private let bytes: [UInt8]
  private let what: String

  init(_ bytes: [UInt8], of what: String) {
    self.bytes = bytes
    self.what = what
  }

  var count: Int { bytes.count }

  func uint8(at offset: Int) throws(ApusError) -> Int {
    guard offset >= 0, offset < bytes.count else {
      throw ApusError(
        .malformedImage, "\(what) ends after \(bytes.count) bytes; byte \(offset) was expected")
    }
    return Int(bytes[offset])
  }

  func uint16(at offset: Int) throws(ApusError) -> Int {
    try uint8(at: offset) | uint8(at: offset + 1) << 8
  }

  func uint32(at offset: Int) throws(ApusError) -> Int {
    try uint16(at: offset) | uint16(at: offset + 2) << 16
  }

  func int32(at offset: Int) throws(ApusError) -> Int {
    Int(Int32(truncatingIfNeeded: try uint32(at: offset)))
  }
}
