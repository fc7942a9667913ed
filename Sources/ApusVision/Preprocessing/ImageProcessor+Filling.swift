// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusPixels
import ApusRuntime

extension ImageProcessor {
  /// Writes a picture's values directly into a float32 input; without a normalization, `(v − 127.5) / 127.5`.
  ///
  /// The values are those of ``prepare(_:threads:)`` and `PreparedImage.fill`, without a
  /// picture in between.
  ///
  /// - Parameters:
  ///   - destination: The input: width × height × channels values.
  ///   - image: The picture, of any size.
  ///   - region: The part that the model sees, as in ``prepare(_:region:threads:)``; nil for the whole picture.
  ///   - order: Whether the channels of a pixel follow each other or lie apart.
  ///   - normalization: How pixels become numbers.
  ///   - threads: The maximum number of threads; the values do not depend on it.
  /// - Returns: How positions in the input relate to positions in the picture.
  /// - Throws: `invalidArgument` if the destination has another number of values, the normalization does not fit
  ///   the channels, or the region has no pixels in the picture.
  @discardableResult
  public func fill(
    _ destination: inout MutableSpan<Float>, from image: ImageBuffer, region: PixelRect? = nil,
    order: ChannelOrder = .interleaved, normalization: Normalization? = nil, threads: Int = 1
  ) throws(ApusError) -> ImageTransform {
    let transform = try checkedTransform(for: image, region, count: destination.count)
    let source = image.resizedBytes
    let normalization = normalization ?? .signed
    if normalization == .perImageStandardization {
      let prepared = prepare(image, transform, threads: threads, kernels: Runtime.pictureKernels)
      try prepared.fill(&destination, order: order, normalization: normalization)
      return transform
    }
    let table = try normalization.table(channels: channels.count, of: [])
    fillBorder(of: &destination, around: transform.target, order) { table[$0 * 256 + Int($1)] }
    resize(of: image, transform, order, Runtime.pictureKernels)
      .run(source.span, into: &destination, table: table, team: ThreadTeam(count: threads))
    return transform
  }

  /// Writes a picture's values directly into a uint8 input: the pixels themselves, unless there is a normalization.
  ///
  /// The values are those of `PreparedImage.fill`; parameters and errors are those of both. `scale` and `zeroPoint` are those of the input's
  /// quantization: they count with a normalization, and ``Normalization/unit`` and ``Normalization/signed`` need them.
  @discardableResult
  public func fill(
    _ destination: inout MutableSpan<UInt8>, from image: ImageBuffer, region: PixelRect? = nil,
    order: ChannelOrder = .interleaved, normalization: Normalization? = nil, scale: Float = 1,
    zeroPoint: Int = 0, threads: Int = 1
  ) throws(ApusError) -> ImageTransform {
    try Normalization.check(normalization, scale: scale, zeroPoint: zeroPoint)
    let transform = try checkedTransform(for: image, region, count: destination.count)
    let source = image.resizedBytes
    if normalization == .perImageStandardization {
      let prepared = prepare(image, transform, threads: threads, kernels: Runtime.pictureKernels)
      try prepared.fill(
        &destination, order: order, normalization: normalization, scale: scale, zeroPoint: zeroPoint)
      return transform
    }
    let resize = resize(of: image, transform, order, Runtime.pictureKernels)
    let team = ThreadTeam(count: threads)
    guard let normalization else {
      fillBorder(of: &destination, around: transform.target, order) { $1 }
      resize.run(source.span, into: &destination, team: team)
      return transform
    }
    let table: [UInt8] = try normalization.table(
      channels: channels.count, of: [], scale: scale, zeroPoint: zeroPoint)
    fillBorder(of: &destination, around: transform.target, order) { table[$0 * 256 + Int($1)] }
    resize.run(source.span, into: &destination, table: table, team: team)
    return transform
  }

  /// Writes a picture's values directly into an int8 input: `v − 128`, unless there is a normalization.
  ///
  /// The values are those of `PreparedImage.fill`; parameters and errors are those of both. `scale` and `zeroPoint` are those of the input's
  /// quantization: they count with a normalization, and ``Normalization/unit`` and ``Normalization/signed`` need them.
  @discardableResult
  public func fill(
    _ destination: inout MutableSpan<Int8>, from image: ImageBuffer, region: PixelRect? = nil,
    order: ChannelOrder = .interleaved, normalization: Normalization? = nil, scale: Float = 1,
    zeroPoint: Int = 0, threads: Int = 1
  ) throws(ApusError) -> ImageTransform {
    try Normalization.check(normalization, scale: scale, zeroPoint: zeroPoint)
    let transform = try checkedTransform(for: image, region, count: destination.count)
    let source = image.resizedBytes
    if normalization == .perImageStandardization {
      let prepared = prepare(image, transform, threads: threads, kernels: Runtime.pictureKernels)
      try prepared.fill(
        &destination, order: order, normalization: normalization, scale: scale, zeroPoint: zeroPoint)
      return transform
    }
    let resize = resize(of: image, transform, order, Runtime.pictureKernels)
    let team = ThreadTeam(count: threads)
    guard let normalization else {
      fillBorder(of: &destination, around: transform.target, order) { Int8(bitPattern: $1 ^ 0x80) }
      resize.run(source.span, intoSigned: &destination, team: team)
      return transform
    }
    let table: [Int8] = try normalization.table(
      channels: channels.count, of: [], scale: scale, zeroPoint: zeroPoint)
    fillBorder(of: &destination, around: transform.target, order) { table[$0 * 256 + Int($1)] }
    resize.run(source.span, intoSigned: &destination, table: table, team: team)
    return transform
  }

  private func checkedTransform(
    for image: ImageBuffer, _ region: PixelRect?, count: Int
  ) throws(ApusError) -> ImageTransform {
    guard count == width * height * channels.count else {
      throw ApusError(
        .invalidArgument,
        "the input has \(count) values, but a prepared image \(width) × \(height) × \(channels.count)")
    }
    return try transform(for: image, region: region)
  }

  /// Fills what a letterbox leaves free; `value` is asked for the value of a channel's byte.
  private func fillBorder<Element: BitwiseCopyable>(
    of destination: inout MutableSpan<Element>, around target: ImageTransform.Region, _ order: ChannelOrder,
    _ value: (Int, UInt8) -> Element
  ) {
    guard target.width < width || target.height < height else { return }
    let color = fillColor.enumerated().map { value($0.offset, $0.element) }
    PictureBorder(
      width: width, height: height, aroundX: target.x, y: target.y, width: target.width,
      height: target.height
    ).fill(&destination, with: color, isPlanar: order == .planar)
  }
}
