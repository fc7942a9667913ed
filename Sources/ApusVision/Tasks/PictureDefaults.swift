// SPDX-License-Identifier: Apache-2.0

/// How the pictures of a kind of model are prepared where neither the caller nor the metadata says otherwise.
struct PictureDefaults: Sendable {
  /// How pictures are fitted in.
  var fit = FitPolicy.stretch
  /// How pixels become floats.
  var normalization = Normalization.signed
  /// Whether 8-bit inputs are normalized and quantized, too, instead of taking the pixels as they are.
  var normalizesIntegers = false
  /// Whether metadata may say otherwise.
  var heedsMetadata = true
}
