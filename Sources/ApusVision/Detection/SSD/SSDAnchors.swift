// SPDX-License-Identifier: Apache-2.0
import ApusFormat

/// The anchors of the single-shot detectors that the TensorFlow Object Detection API exports, for models that do not
/// bring theirs.
enum SSDAnchors {
  typealias Anchor = DetectorMetadata.Anchor

  /// A set of anchors with the name of its rule.
  struct Generated {
    let anchors: [Anchor]
    let rule: String
  }

  /// The rule that makes this many anchors for an input of this size; nil if none does.
  static func generated(count: Int, width: Int, height: Int) -> Generated? {
    // Far more than any model has; avoids useless work.
    guard count <= 1 << 20, width <= 1 << 13, height <= 1 << 13 else { return nil }
    for (make, rule) in [(sixLayers, "SSD: six layers, scales 0.2 to 0.95"), (pyramid, "FPN: levels 3 to 7")]
    {
      let anchors = make(width, height)
      if anchors.count == count { return Generated(anchors: anchors, rule: rule) }
    }
    return nil
  }

  /// SSD with MobileNet: strides 16 to 512, aspect ratios 1, 2, 1/2, 3, 1/3 and one square between two scales; the first
  /// layer has only three.
  private static func sixLayers(_ width: Int, _ height: Int) -> [Anchor] {
    AnchorGenerator.sixLayers.anchors(width: width, height: height)
  }

  /// SSD with a feature pyramid: levels 3 to 7, four times the stride, two scales an octave, aspect ratios 1, 2, 1/2.
  private static func pyramid(_ width: Int, _ height: Int) -> [Anchor] {
    AnchorPyramid(levels: 3...7, scale: 4, scalesPerOctave: 2).anchors(width: width, height: height)
  }
}
