// SPDX-License-Identifier: Apache-2.0

/// The requests to a device of Video4Linux.
package protocol V4L2Driver: AnyObject, Sendable {
  /// Gives the driver a structure, which it fills; the number of bytes is part of the request.
  ///
  /// - Returns: 0, or the error's number.
  func ask(_ request: UInt, _ structure: inout [UInt8]) -> Int32

  /// Maps the next of the driver's buffers into memory, for reading.
  ///
  /// - Returns: 0, or the error's number.
  func map(offset: Int, byteCount: Int) -> Int32

  /// Copies the first bytes of a mapped buffer; none if it has fewer.
  func bytes(ofBuffer index: Int, count: Int) -> [UInt8]

  /// Waits until the driver has filled a buffer or is gone; false after this time.
  func wait(milliseconds: Int32) -> Bool
}
