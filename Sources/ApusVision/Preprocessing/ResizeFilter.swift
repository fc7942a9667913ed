/// How pixels are computed when a picture is resized; chosen for each axis by itself.
///
/// `S` pixels become `D`. Every rule gives each source pixel an integer weight; the weights of one result add
/// up to 32,768 in each axis, and a value is `(Σ wy · wx · v + 2²⁹) >> 30`: one rounding, no floating point,
/// the same bytes on every machine. Pixels beyond the edge repeat the edge.
public enum ResizeFilter: String, CaseIterable, Hashable, Sendable {
  /// `area` where an axis shrinks by more than 2 (`S > 2D`), `bilinear` otherwise.
  case automatic
  /// The two pixels around `(i + ½) · S / D − ½`; the weight of the second is the fraction, rounded half up.
  ///
  /// No antialiasing: this is what `tf.image.resize` computes without it.
  case bilinear
  /// The mean over the part of the source that a result covers, partly covered pixels by their share.
  case area
  /// The pixel at `⌊(i + ½) · S / D⌋`.
  case nearest
}
