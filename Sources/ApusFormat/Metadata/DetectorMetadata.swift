// SPDX-License-Identifier: Apache-2.0
/// How raw outputs of a detector become boxes: the custom metadata `DETECTOR_METADATA` (file identifier `V001`) that
/// MediaPipe's tools write.
package struct DetectorMetadata: Hashable, Sendable {
  /// The name of the custom metadata.
  package static let entryName = "DETECTOR_METADATA"

  /// A box that predictions refer to, in fractions of the input.
  package struct Anchor: Hashable, Sendable {
    /// The middle, from the left.
    package let x: Float
    /// The middle, from the top.
    package let y: Float
    /// The width.
    package let width: Float
    /// The height.
    package let height: Float

    /// Makes an anchor from its center and size.
    package init(x: Float, y: Float, width: Float, height: Float) {
      self.x = x
      self.y = y
      self.width = width
      self.height = height
    }
  }

  /// The anchors, in the order of the boxes.
  package let anchors: [Anchor]
  /// The number of classes; 0 if unknown.
  package let classCount: Int
  /// The divisor of encoded horizontal positions.
  package let xScale: Float
  /// The divisor of encoded vertical positions.
  package let yScale: Float
  /// The divisor of encoded widths.
  package let widthScale: Float
  /// The divisor of encoded heights.
  package let heightScale: Float
  /// Whether encoded sizes are logarithms.
  package let hasExponentialSizes: Bool
  /// Whether scores are logits, which still need the logistic function.
  package let hasLogits: Bool

  /// Reads the metadata's bytes. Throws if they are damaged.
  package init(_ bytes: [UInt8]) throws(FormatError) {
    do throws(FormatError) {
      self = try FileBytes(copying: bytes).withReader { (reader) throws(FormatError) in
        try DetectorMetadata(reader)
      }
    } catch {
      throw error.inside("detector metadata")
    }
  }

  private init(_ reader: ByteReader) throws(FormatError) {
    let root = try FlatBufferTable.root(reader, identifier: "V001")
    var anchors: [Anchor] = []
    if let schema = try root.table(1)?.table(0), let vector = try schema.vector(0, elementSize: 4) {
      // Anchors may share a table, so that few bytes could stand for many of them.
      guard vector.count <= reader.count else {
        throw FormatError("\(vector.count) anchors in \(reader.count) bytes are too many")
      }
      anchors.reserveCapacity(vector.count)
      for index in 0..<vector.count {
        let anchor = try schema.table(in: vector, at: index)
        anchors.append(
          Anchor(
            x: try anchor.float(0, default: 0), y: try anchor.float(1, default: 0),
            width: try anchor.float(2, default: 0), height: try anchor.float(3, default: 0)))
      }
    }
    guard let decoding = try root.table(2) else { throw FormatError("it has no decoding options") }
    self.anchors = anchors
    classCount = Int(try decoding.integer(0, default: Int32(0)))
    xScale = try decoding.float(6, default: 0)
    yScale = try decoding.float(7, default: 0)
    widthScale = try decoding.float(8, default: 0)
    heightScale = try decoding.float(9, default: 0)
    hasExponentialSizes = try decoding.bool(10, default: false)
    hasLogits = try decoding.bool(11, default: false)
  }
}
