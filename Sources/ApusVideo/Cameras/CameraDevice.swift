// SPDX-License-Identifier: Apache-2.0

/// A camera, capture card or other device of Video4Linux, and what it can deliver.
public struct CameraDevice: Hashable, Codable, Sendable {
  /// A size of frames, and how many of them a second.
  public struct Size: Hashable, Codable, Sendable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Frames per second; where the device has a range of them, its ends.
    public let frameRates: [Double]
  }

  /// A form of frames, such as YUYV or MJPG.
  public struct Format: Hashable, Codable, Sendable {
    /// The four letters by which Video4Linux knows it.
    public let code: String
    /// The driver's name for the format.
    public let description: String
    /// Whether frames are compressed, as in MJPG.
    public let isCompressed: Bool
    /// Whether ``sizes`` are the smallest and the largest of many.
    public let isRange: Bool
    /// The sizes of frames.
    public let sizes: [Size]
  }

  /// The device's file, such as `/dev/video0`.
  public let path: String
  /// The driver's name for the device; empty if it could not be asked.
  public let name: String
  /// The driver's name.
  public let driver: String
  /// Where the device is connected.
  public let bus: String
  /// The forms of frames.
  public let formats: [Format]
  /// The settings, such as exposure and zoom.
  public let controls: [CameraControl]
  /// Why the device could not be asked, and what to do; nil if it could.
  public let problem: String?
}
