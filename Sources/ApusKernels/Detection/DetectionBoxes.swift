// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// A tensor's elements as real numbers, one at a time.
@safe struct RealElements {
  private let floats: UnsafePointer<Float>?
  private let bytes: UnsafePointer<UInt8>?
  private let values: UnsafePointer<Float>?

  /// Views `base`; `values` has the real value of each byte, and is nil for floats.
  init(_ base: UnsafeRawPointer, values: UnsafePointer<Float>?) {
    unsafe self.values = values
    unsafe floats = values == nil ? base.assumingMemoryBound(to: Float.self) : nil
    unsafe bytes = values == nil ? nil : base.assumingMemoryBound(to: UInt8.self)
  }

  @inline(__always)
  subscript(_ index: Int) -> Float {
    if let floats = unsafe floats { return unsafe floats[index] }
    if let bytes = unsafe bytes, let values = unsafe values { return unsafe values[Int(bytes[index])] }
    return 0
  }

  /// Whether one of the first `count` elements, a multiple of four, may be negative: false only if none is.
  func mayBeNegative(count: Int) -> Bool {
    guard let floats = unsafe floats else { return true }
    var index = 0
    var least = SIMD8<Float>()
    while index &+ 8 <= count {
      let values = unsafe UnsafeRawPointer(floats + index).loadUnaligned(as: SIMD8<Float>.self)
      least.replace(with: values, where: values .< least)
      index &+= 8
    }
    if (least .< SIMD8()).isSomewhereSet { return true }
    while index < count {
      if unsafe floats[index] < 0 { return true }
      index &+= 1
    }
    return false
  }
}

/// Boxes decoded from anchors: center and size relative to the anchor's, in double precision, rounded once.
struct DetectionBoxes {
  let encodings: RealElements
  let encodingWidth: Int
  let anchors: RealElements
  let scaling: DetectionSelection.Scaling

  /// One box.
  func box(_ index: Int) -> DetectionBox {
    let encoding = index &* encodingWidth
    let anchor = 4 &* index
    let height = Double(anchors[anchor &+ 2])
    let width = Double(anchors[anchor &+ 3])
    let y = Float(Double(encodings[encoding]) / Double(scaling.y) * height + Double(anchors[anchor]))
    let x = Float(Double(encodings[encoding &+ 1]) / Double(scaling.x) * width + Double(anchors[anchor &+ 1]))
    let halfHeight = Float(0.5 * exp(Double(encodings[encoding &+ 2]) / Double(scaling.height)) * height)
    let halfWidth = Float(0.5 * exp(Double(encodings[encoding &+ 3]) / Double(scaling.width)) * width)
    return DetectionBox(
      top: y - halfHeight, left: x - halfWidth, bottom: y + halfHeight, right: x + halfWidth)
  }

  /// The first of `count` boxes with an edge on the wrong side; nil if there is none.
  ///
  /// Only an anchor of negative size can invert a box, so boxes of other anchors are not decoded.
  func firstInverted(count: Int) -> Int? {
    guard anchors.mayBeNegative(count: 4 &* count) else { return nil }
    for index in 0..<count where anchors[4 &* index &+ 2] < 0 || anchors[4 &* index &+ 3] < 0 {
      if !box(index).isUpright { return index }
    }
    return nil
  }
}
