// SPDX-License-Identifier: Apache-2.0

import Apus

/// How pixels are computed when a picture is resized; applied to each axis by itself.
///
/// `S` pixels become `D`. Every rule gives each source pixel an integer weight; the weights of one result add
/// up to 32,768 in each axis, and a value is `(Σ wy · wx · v + 2²⁹) >> 30`: one rounding, no floating point,
/// the same bytes on every machine, with every kernel set and any number of threads. Pixels beyond the edge
/// repeat the edge.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum Resampling: String, CaseIterable, Hashable, Sendable {
  /// `area` if a side shrinks to less than half (`S > 2D`), `bilinear` otherwise.
  case automatic
  /// The mean over the part of the source that a result covers, partly covered pixels by their share.
  case area
  /// The two pixels around `(i + ½) · S / D − ½`; the weight of the second is the fraction, rounded half up.
  ///
  /// No antialiasing: this is what `tf.image.resize` and OpenCV's `INTER_LINEAR` compute, but for the last digit.
  case bilinear
  /// The two pixels around `i · S / D`, rounded to 1/32 pixel, half to even; the weight of the second is the fraction.
  ///
  /// No antialiasing, and no half pixel: this is what MediaPipe computes by OpenCV's `warpPerspective` on the CPU, but for positions right
  /// between two steps. Take it where embeddings or scores should be MediaPipe's.
  case mediaPipe = "mediapipe"
  /// The pixel at `⌊(i + ½) · S / D⌋`.
  case nearest
}
