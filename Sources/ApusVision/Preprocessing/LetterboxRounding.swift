// SPDX-License-Identifier: Apache-2.0

/// How a letterbox rounds the scaled sides of a picture to whole pixels.
public enum LetterboxRounding: Hashable, Sendable {
  /// The exact quotient, halves up.
  case halfUp
  /// As Ultralytics' `LetterBox` does: `round(side · min(H / h, W / w))` in double precision, halves to even.
  ///
  /// It differs from ``halfUp`` where the quotient is a half, or so near to one that double precision decides.
  case ultralytics
}
