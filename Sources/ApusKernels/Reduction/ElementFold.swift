// SPDX-License-Identifier: Apache-2.0

/// A function that combines a result with one more element: the bodies of StableHLO's reductions and
/// scatters.
package enum ElementFold: Hashable, Sendable {
  case replace, add, multiply, minimum, maximum
  /// 1 if both values, or at least one, are not 0; otherwise 0.
  case all, any

  /// The function for floats. If two values are unordered, the first is both minimum and maximum.
  func floats<T: BinaryFloatingPoint>(_ type: T.Type) -> (T, T) -> T {
    switch self {
    case .replace: { $1 }
    case .add: { $0 + $1 }
    case .multiply: { $0 * $1 }
    case .minimum: { $1 < $0 ? $1 : $0 }
    case .maximum: { $0 < $1 ? $1 : $0 }
    case .all: { $0 != 0 && $1 != 0 ? 1 : 0 }
    case .any: { $0 != 0 || $1 != 0 ? 1 : 0 }
    }
  }

  /// The function for the bits of `float16`, which rounds each result. None of the closures keeps another, which would be an
  /// allocation.
  func halves() -> (UInt16, UInt16) -> UInt16 {
    func real(_ bits: UInt16) -> Float { Float(halfBits: bits) }
    return switch self {
    case .replace: { $1 }
    case .add: { (real($0) + real($1)).halfBits }
    case .multiply: { (real($0) * real($1)).halfBits }
    case .minimum: { real($1) < real($0) ? $1 : $0 }
    case .maximum: { real($0) < real($1) ? $1 : $0 }
    case .all: { Float(real($0) != 0 && real($1) != 0 ? 1 : 0).halfBits }
    case .any: { Float(real($0) != 0 || real($1) != 0 ? 1 : 0).halfBits }
    }
  }

  /// The function for integers, which wraps.
  func integers<T: FixedWidthInteger>(_ type: T.Type) -> (T, T) -> T {
    switch self {
    case .replace: { $1 }
    case .add: { $0 &+ $1 }
    case .multiply: { $0 &* $1 }
    case .minimum: { min($0, $1) }
    case .maximum: { max($0, $1) }
    case .all: { $0 != 0 && $1 != 0 ? 1 : 0 }
    case .any: { $0 != 0 || $1 != 0 ? 1 : 0 }
    }
  }

  /// The equivalent function for bytes of 0 or 1.
  var ofTruthValues: ElementFold {
    switch self {
    case .add, .maximum: .any
    case .multiply, .minimum: .all
    default: self
    }
  }
}
