// SPDX-License-Identifier: Apache-2.0

/// How pictures for a kind of model are prepared unless the caller or the metadata says otherwise.
struct PictureDefaults: Sendable {
  /// How pictures are fitted.
  var fit = FitPolicy.stretch
  /// The order of three channels.
  var channels = ImageProcessor.Channels.rgb
  /// How pixels become floats.
  var normalization = Normalization.signed
  /// Whether 8-bit inputs are also normalized and quantized, instead of taking the pixels unchanged.
  var normalizesIntegers = false
  /// Whether metadata may override these defaults.
  var heedsMetadata = true
  /// Where the fit and the normalization come from.
  var source = AssumptionSource.guess
  /// What says so.
  var reason = "usual for models whose file does not say"
}
