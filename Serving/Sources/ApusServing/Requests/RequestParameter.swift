// SPDX-License-Identifier: Apache-2.0

/// The value of a parameter of a request, an input or an output.
public enum RequestParameter: Hashable, Sendable {
  case bool(Bool)
  case integer(Int64)
  /// Whole numbers beyond those, among others.
  case number(Double)
  case text(String)
  /// An array, an object or null, which no parameter takes.
  case other

  /// The value as a whole number, if it is one.
  var integer: Int? {
    switch self {
    case .integer(let value): Int(value)
    // Larger ones are whole, too, and mean as much as the largest.
    case .number(let value): value >= 0x1p63 && value.isFinite ? .max : Int(exactly: value)
    default: nil
    }
  }
}

/// Parameters by name.
public typealias RequestParameters = [String: RequestParameter]

extension RequestParameters {
  /// A boolean parameter; nil where it is missing.
  public func bool(_ name: String) throws(ServingError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard case .bool(let flag) = value else {
      throw .bad("the parameter '\(name)' is not true or false")
    }
    return flag
  }

  /// A whole number not below 0; nil where it is missing.
  func count(_ name: String) throws(ServingError) -> Int? {
    guard let value = self[name] else { return nil }
    guard let number = value.integer, number >= 0 else {
      throw .bad("the parameter '\(name)' is not a whole number from 0")
    }
    return number
  }
}
