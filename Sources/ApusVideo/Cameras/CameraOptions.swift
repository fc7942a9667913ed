// SPDX-License-Identifier: Apache-2.0

/// How a camera is set before it delivers frames.
public struct CameraOptions: Hashable, Sendable {
  /// The width of frames, in pixels; the driver takes the nearest that the camera has. Nil for what is set.
  public var width: Int?
  /// The height of frames, in pixels; the driver takes the nearest that the camera has. Nil for what is set.
  public var height: Int?
  /// Frames per second; the driver takes the nearest rate that the camera has. Nil for what is set.
  public var frameRate: Double?
  /// The form of frames by its four letters, such as `YUYV` or `MJPG`; nil for the cheapest of those with the highest rate.
  public var format: String?
  /// Controls and their values, in the order in which they are set: a number, `on` or `off`, or a choice by its name.
  public var controls: [Setting] = []

  /// A control and its value.
  public struct Setting: Hashable, Sendable {
    /// The control's name, such as `exposure_time_absolute`.
    public var name: String
    /// The value.
    public var value: String

    /// Makes a setting.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Makes options that change nothing.
  public init() {}
}
