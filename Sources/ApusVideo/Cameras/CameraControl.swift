// SPDX-License-Identifier: Apache-2.0

/// A setting of a camera, such as exposure, zoom or brightness.
public struct CameraControl: Hashable, Codable, Sendable {
  /// The kinds of settings.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Hashable, Codable, Sendable {
    /// A number in steps.
    case integer
    /// 0 or 1.
    case boolean
    /// One of several choices, ``CameraControl/menu``.
    case menu
    /// An action that happens when any value is set.
    case button
    /// Bits.
    case bitmask
  }

  /// A choice of a menu.
  public struct Choice: Hashable, Codable, Sendable {
    /// The value that chooses it.
    public let value: Int
    /// The driver's name for the choice.
    public let name: String
  }

  /// The name: the driver's, in lower case with `_` between words, such as `exposure_time_absolute`.
  public let name: String
  /// The number by which Video4Linux knows it.
  public let identifier: UInt32
  /// The kind of the setting.
  public let kind: Kind
  /// The minimum value.
  public let minimum: Int
  /// The maximum value.
  public let maximum: Int
  /// The distance between values, from the minimum on.
  public let step: Int
  /// The value after the driver was loaded.
  public let defaultValue: Int
  /// The value now; nil if the driver does not say.
  public let value: Int?
  /// The choices of a menu; empty for other kinds.
  public let menu: [Choice]
  /// Whether the value can be changed now. Exposure often cannot while it is automatic.
  public let isSettable: Bool

  /// The name of a control as its driver writes it, in the form of ``name``.
  static func name(_ text: String) -> String {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
  }

  /// The value that a text stands for: a number, `on` or `off`, or a choice by its name; nil for none.
  func value(of text: String) -> Int? {
    if let number = Int(text) { return number }
    switch kind {
    case .boolean: return ["on": 1, "true": 1, "off": 0, "false": 0][text.lowercased()]
    case .menu: return menu.first { Self.name($0.name) == Self.name(text) }?.value
    case .integer, .button, .bitmask: return nil
    }
  }
}
