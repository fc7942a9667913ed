// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

extension ImageBuffer {
  /// The picture after orientation, as the bytes of a file.
  ///
  /// PNG keeps alpha; JPEG and PNM drop it. A JPEG of quality 90 or more keeps all color samples, below that a
  /// quarter of them.
  ///
  /// - Parameters:
  ///   - fileFormat: PNG, JPEG or PNM.
  ///   - quality: 1 to 100, for JPEG.
  /// - Throws: `unsupportedImage` for BMP and WebP, which are only read; `invalidArgument` for another quality; `resourceLimit` if the
  ///   system refuses memory.
  public func encoded(as fileFormat: ImageFileFormat, quality: Int = 90) throws(ApusError) -> [UInt8] {
    // The upright picture and the file.
    try requireMemory(9 * width * height, for: "the file of a picture of \(width) × \(height) pixels")
    switch fileFormat {
    case .png:
      return try encodePNG(oriented().converted(to: format == .gray ? .gray : format.hasAlpha ? .rgba : .rgb))
    case .jpeg:
      guard (1...100).contains(quality) else {
        throw ApusError(.invalidArgument, "a JPEG quality of \(quality) is not within 1 to 100")
      }
      return try encodeJPEG(oriented().converted(to: format == .gray ? .gray : .rgb), quality: quality)
    case .pnm:
      let image = oriented().converted(to: format == .gray ? .gray : .rgb)
      return Array("P\(format == .gray ? 5 : 6)\n\(image.width) \(image.height)\n255\n".utf8) + image.bytes
    case .bmp, .webp:
      throw ApusError(
        .unsupportedImage,
        "\(fileFormat == .bmp ? "BMP" : "WebP") files are read, not written; write PNG, JPEG or PNM")
    }
  }

  /// Writes the picture after orientation to a file; an existing file is replaced.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - fileFormat: PNG, JPEG or PNM; nil takes the format of the path's extension.
  ///   - quality: 1 to 100, for JPEG.
  /// - Throws: `unwritableFile`, or what ``encoded(as:quality:)`` throws; an unknown extension is `unsupportedImage`; `invalidArgument` if
  ///   the file is a .tflite model, which is not replaced.
  public func write(toFile path: String, as fileFormat: ImageFileFormat? = nil, quality: Int = 90)
    throws(ApusError)
  {
    guard let fileFormat = fileFormat ?? ImageFileFormat(path: path) else {
      throw ApusError(
        .unsupportedImage, "'\(path)' does not end in .png, .jpg or .ppm")
    }
    let file = try encoded(as: fileFormat, quality: quality)
    // PNM has three formats with extensions of their own.
    let ending = path.suffix(4).lowercased()
    guard fileFormat != .pnm || ending != ".pbm" && (ending != ".pgm" || file.starts(with: "P5".utf8)) else {
      throw ApusError(
        .unsupportedImage,
        "'\(path)' would hold \(ending == ".pbm" ? "bits" : "grays"); write the picture to a .ppm file")
    }
    try writeWholeFile(file, to: path)
  }
}
