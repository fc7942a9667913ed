// SPDX-License-Identifier: Apache-2.0
import Apus

extension VideoSource {
  /// How a source is read.
  public struct Options: Hashable, Sendable {
    /// The size to which ffmpeg scales frames, in pixels; of cameras, the nearest that they have. Nil for that of the source.
    public var size: (width: Int, height: Int)? {
      get { scaledSize.map { ($0.width, $0.height) } }
      set { scaledSize = newValue.map { ScaledSize(width: $0.width, height: $0.height) } }
    }
    private var scaledSize: ScaledSize?

    /// Whether the newest frame counts, and older ones are dropped; nil: true for streams such as `rtsp:` and for devices, false for
    /// files, `http:` and test patterns; of `http:`, true for Motion-JPEG that a camera sends picture by picture.
    public var isLive: Bool?
    /// Whether a file or test pattern is read no faster than it would be played.
    public var isRealTime = false
    /// Where a file is read from, in seconds from its beginning.
    public var start: Double = 0
    /// How often a file is read again after its end; nil for ever.
    public var loops: Int? = 0
    /// The maximum time without a byte; a source that takes longer has stalled. Without meaning for what is read as it is
    /// played (``isRealTime``).
    public var stallLimit: Duration = .seconds(15)
    /// How often a live stream or device that has delivered frames is started again after it ended, failed or stalled, without a frame in
    /// between; after 0.5 seconds at first, then twice as long each time, up to 30 seconds.
    public var restartLimit = 10
    /// The maximum number of pixels of a frame.
    public var pixelLimit = 1 << 25
    /// How a camera is set. Its size is ``size`` if there is one.
    public var camera = CameraOptions()

    /// Makes options.
    public init() {}

    private struct ScaledSize: Hashable, Sendable {
      let width: Int
      let height: Int
    }

    /// Throws `invalidArgument` for a value outside its range.
    func check() throws(ApusError) {
      func require(_ holds: Bool, _ text: @autoclosure () -> String) throws(ApusError) {
        guard holds else { throw ApusError(.invalidArgument, text()) }
      }
      if let size {
        try require(
          (16...16_384).contains(size.width) && (16...16_384).contains(size.height),
          "a video's size of \(size.width) × \(size.height) is not within 16 to 16384")
        try require(
          size.width * size.height <= pixelLimit,
          "a video's size of \(size.width) × \(size.height) has more pixels than the limit of \(pixelLimit)")
      }
      try require(start >= 0 && start <= 1e7, "a start of \(start) seconds is not within 0 to 10000000")
      try require((0...1_000_000).contains(loops ?? 0), "\(loops ?? 0) loops are not within 0 to 1000000")
      try require(
        stallLimit > .zero && stallLimit <= .seconds(86_400),
        "a stall limit of \(stallLimit) is not above 0 and at most 86400 seconds")
      try require(
        (0...1_000_000).contains(restartLimit), "\(restartLimit) restarts are not within 0 to 1000000")
      try require(
        (camera.frameRate ?? 1) > 0 && (camera.frameRate ?? 1) <= 1e6,
        "a camera's rate of \(camera.frameRate ?? 0) frames per second is not above 0 and at most 1000000")
      try require(
        (1...1 << 28).contains(pixelLimit), "a limit of \(pixelLimit) pixels is not within 1 to \(1 << 28)")
    }
  }
}
