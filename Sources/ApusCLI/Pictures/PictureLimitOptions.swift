// SPDX-License-Identifier: Apache-2.0
import ApusImages
import ApusVision
import ArgumentParser

/// How large pictures may be.
struct PictureLimitOptions: ParsableArguments {
  @Option(name: .long, help: "The maximum size of a picture, in megapixels: by default 134, at most 268.")
  var pixelLimit: Int?

  func validate() throws {
    if let pixelLimit, !(1...Self.most).contains(pixelLimit) {
      throw ValidationError("--pixel-limit is \(pixelLimit), not 1 to \(Self.most) megapixels")
    }
  }

  private static let most = ImageBuffer.maximumPixelCount / 1_000_000

  /// The smallest limit that admits a picture with that many pixels, which the largest limit admits.
  static func megapixels(for pixelCount: Int) -> Int { min((pixelCount + 999_999) / 1_000_000, most) }

  /// The limits of pictures with that size.
  var limits: ImageLimits {
    var limits = ImageLimits()
    if let pixelLimit {
      // The most megapixels are all that there can be.
      limits.maximumPixelCount =
        pixelLimit == Self.most ? ImageBuffer.maximumPixelCount : pixelLimit * 1_000_000
    }
    return limits
  }
}
