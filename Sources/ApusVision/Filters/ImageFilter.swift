// SPDX-License-Identifier: Apache-2.0
import Apus

/// Makes one picture of another: a step of a ``FilterChain``, of this library or your own.
///
/// ```swift
/// struct Threshold: ImageFilter {
///   func apply(_ image: ImageBuffer) throws(ApusError) -> ImageBuffer {
///     let gray = image.oriented().converted(to: .gray)
///     return try ImageBuffer(
///       bytes: gray.bytes.map { $0 < 128 ? 0 : 255 }, width: gray.width, height: gray.height, format: .gray)
///   }
/// }
/// ```
public protocol ImageFilter: Sendable {
  /// The filtered picture.
  ///
  /// - Parameter image: A picture of any size, format and orientation.
  /// - Throws: What the filter cannot do; the filters of this library throw `invalidArgument` for a parameter that is out of
  ///   range.
  func apply(_ image: ImageBuffer) throws(ApusError) -> ImageBuffer
}
