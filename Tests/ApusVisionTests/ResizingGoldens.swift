// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Pictures resized by OpenCV, Pillow and Ultralytics' rule; made by `Tools/pictures/resizing.py`.
struct ResizingGoldens: Decodable {
  /// Noise, and OpenCV's interpolations of it.
  struct Resized: Decodable {
    let width, height, newWidth, newHeight: Int
    let pixels: Data
    let bilinear: Data
    let area: Data?
  }

  /// A JPEG, and the pixels of libjpeg's decoder at a smaller scale.
  struct Reduced: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let factor, width, height: Int
    let file: Data
    let pixels: Data

    var testDescription: String { name }
  }

  let resized: [Resized]
  /// Picture's and input's width and height, scaled width and height, padding to the left and above.
  let letterboxes: [[Int]]
  let reduced: [Reduced]

  /// The file's only record; none where it is missing or broken, which tests notice.
  static var all: [ResizingGoldens] { goldens("resizing") }
}

extension ResizingGoldens.Reduced {
  static let all: [Self] = ResizingGoldens.all.flatMap(\.reduced)
}
