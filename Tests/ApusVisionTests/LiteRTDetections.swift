// SPDX-License-Identifier: Apache-2.0

import ApusVision
import TestSupport

/// Objects that LiteRT's reference kernels find; made by `Tools/goldens/detections.py`.
struct LiteRTDetections: Decodable, Sendable {
  /// An object of at least the score 0.3.
  struct Object: Decodable, Sendable {
    let index: Int
    let score: Float
    /// Top, left, bottom and right in pixels of the picture.
    let edges: [Float]
  }

  let model: String
  let image: String
  let fit: PictureFit
  /// The CRC-32 of the model's input.
  let pixels: UInt32
  let objects: [Object]

  /// How the picture is fitted in.
  enum PictureFit: String, Decodable, Sendable {
    case stretch, centerCrop, letterbox

    var policy: FitPolicy {
      switch self {
      case .stretch: .stretch
      case .centerCrop: .centerCrop
      case .letterbox: .letterbox()
      }
    }
  }

  static let all: [LiteRTDetections] = goldens("detections")
}
