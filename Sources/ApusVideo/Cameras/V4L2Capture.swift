// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

/// A camera that delivers frames into memory that it shares with this process. The numbers are those of the kernel's
/// `linux/videodev2.h` on systems of 64 bits.
package final class V4L2Capture {
  /// `VIDIOC_G_FMT`, for a `v4l2_format` of 208 bytes.
  package static let getFormat: UInt = 0xC0D0_5604
  /// `VIDIOC_S_FMT`, for a `v4l2_format` of 208 bytes.
  package static let setFormat: UInt = 0xC0D0_5605
  /// `VIDIOC_REQBUFS`, for a `v4l2_requestbuffers` of 20 bytes.
  package static let requestBuffers: UInt = 0xC014_5608
  /// `VIDIOC_QUERYBUF`, for a `v4l2_buffer` of 88 bytes.
  package static let queryBuffer: UInt = 0xC058_5609
  /// `VIDIOC_QBUF`, for a `v4l2_buffer` of 88 bytes.
  package static let queue: UInt = 0xC058_560F
  /// `VIDIOC_DQBUF`, for a `v4l2_buffer` of 88 bytes.
  package static let dequeue: UInt = 0xC058_5611
  /// `VIDIOC_STREAMON`, for an `int`.
  package static let start: UInt = 0x4004_5612
  /// `VIDIOC_S_PARM`, for a `v4l2_streamparm` of 204 bytes.
  package static let setParameters: UInt = 0xC0CC_5616

  /// The number of buffers that are requested: one is filled, one waits, one is read, one is spare.
  private static let bufferCount: UInt32 = 4
  /// The maximum number of buffers.
  private static let maximumBuffers = 32

  /// The result of waiting for a frame.
  package struct Delivery {
    /// The bytes of the newest frame; nil if none has come.
    package var bytes: [UInt8]?
    /// When the driver took the frame, in nanoseconds of the system's monotonic clock; nil if it does not say.
    package var timestamp: Int?
    /// The older frames that it replaces.
    package var older = 0
    /// The frames that are damaged, as the driver says.
    package var damaged = 0
  }

  /// The form of frames.
  package let format: CameraFormat
  /// The width of frames, in pixels.
  package let width: Int
  /// The height of frames, in pixels.
  package let height: Int
  /// The distance between rows of the first plane, in bytes.
  package let bytesPerRow: Int
  /// How luma and chroma stand for colors.
  package let color: VideoColor

  private let path: String
  private let driver: any V4L2Driver
  /// The lengths of buffers.
  private var lengths: [Int] = []

  /// Sets the camera, and starts it.
  ///
  /// - Throws: `unreadableFile` for what is no camera or refuses, `invalidArgument` for a form or control that it does not have,
  ///   `unsupportedImage` where none of its forms is read, `resourceLimit` for frames beyond the limit.
  package init(path: String, driver: any V4L2Driver, options: CameraOptions, pixelLimit: Int)
    throws(ApusError)
  {
    self.path = path
    self.driver = driver
    try Self.checkAbilities(path, driver)
    let controls = V4L2Controls(path: path, ask: driver.ask)
    for setting in options.controls { try controls.set(setting.name, to: setting.value) }

    func failure(_ what: String, _ reason: Int32) -> ApusError {
      let users = reason == EBUSY ? FileUsers.of(path).map { "; it is used by \($0)" } ?? "" : ""
      return ApusError(.unreadableFile, "'\(path)' \(what): \(systemReason(reason))\(users)")
    }
    var form = V4L2Structure(byteCount: 208)
    form[0] = 1
    var reason = form.pass { driver.ask(Self.getFormat, &$0) }
    guard reason == 0 else { throw failure("does not say what its frames are", reason) }
    let width = options.width ?? Int(form[8])
    let height = options.height ?? Int(form[12])
    let wanted = try Self.chooseFormat(path, driver, options.format, width, height)
    form[0] = 1
    (form[8], form[12]) = (UInt32(clamping: width), UInt32(clamping: height))
    form[16] = wanted.word
    // All rows at once, if the camera can; the distance between rows, the size and the colors are the driver's.
    form[20] = 1
    for offset in stride(from: 24, to: 56, by: 4) { form[offset] = 0 }
    reason = form.pass { driver.ask(Self.setFormat, &$0) }
    guard reason == 0 else {
      throw failure("refuses frames of \(width) × \(height) \(wanted.code) pixels", reason)
    }
    guard form.code(at: 16) == wanted.code else {
      throw ApusError(
        .unreadableFile,
        "'\(path)' delivers \(form.code(at: 16)) where \(wanted.code) was requested")
    }
    // Half frames, one after the other or in turns, are no pictures.
    guard ![2, 3, 5, 6, 7].contains(form[20]) else {
      throw ApusError(
        .unsupportedImage,
        "'\(path)' delivers half frames (the field order \(form[20]) of Video4Linux), which are not joined; choose another size or form"
      )
    }
    format = wanted
    (self.width, self.height, bytesPerRow) = (Int(form[8]), Int(form[12]), Int(form[24]))
    color = Self.color(
      space: form[32], encoding: form[44], quantization: form[48], isGray: wanted.isGray)
    guard (1...65_536).contains(self.width), (1...65_536).contains(self.height),
      self.width * self.height <= pixelLimit
    else {
      throw ApusError(
        .resourceLimit,
        "'\(path)' announces frames of \(self.width) × \(self.height) pixels, which are not 1 to \(pixelLimit)"
      )
    }
    if let rate = options.frameRate { try setRate(rate) }

    var request = V4L2Structure(byteCount: 20)
    (request[0], request[4], request[8]) = (Self.bufferCount, 1, 1)
    reason = request.pass { driver.ask(Self.requestBuffers, &$0) }
    guard reason == 0 else { throw failure("gives no memory for frames", reason) }
    guard (1...Self.maximumBuffers).contains(Int(request[0])) else {
      throw ApusError(
        .unreadableFile, "'\(path)' gives \(request[0]) buffers for frames, not 1 to \(Self.maximumBuffers)")
    }
    for index in 0..<request[0] {
      var buffer = Self.buffer(index)
      reason = buffer.pass { driver.ask(Self.queryBuffer, &$0) }
      guard reason == 0 else { throw failure("does not say where its buffers are", reason) }
      let byteCount = Int(buffer[72])
      guard byteCount > 0, byteCount <= 1 << 30 else {
        throw ApusError(.unreadableFile, "'\(path)' has a buffer of \(byteCount) bytes, not 1 to \(1 << 30)")
      }
      reason = driver.map(offset: Int(buffer[64]), byteCount: byteCount)
      guard reason == 0 else { throw failure("does not share its memory", reason) }
      lengths.append(byteCount)
      try putBack(index)
    }
    var kind = V4L2Structure(byteCount: 4)
    kind[0] = 1
    reason = kind.pass { driver.ask(Self.start, &$0) }
    guard reason == 0 else { throw failure("does not start", reason) }
  }

  private static func checkAbilities(_ path: String, _ driver: any V4L2Driver) throws(ApusError) {
    var answer = V4L2Structure(byteCount: 104)
    let reason = answer.pass { driver.ask(V4L2Questions.capability, &$0) }
    guard reason == 0 else {
      throw ApusError(
        .unreadableFile, "'\(path)' is no device of Video4Linux, or is gone: \(systemReason(reason))")
    }
    let abilities = answer[84] & 0x8000_0000 != 0 ? answer[88] : answer[84]
    guard abilities & 1 != 0 else {
      let planes = abilities & 0x1000 != 0
      throw ApusError(
        .unreadableFile,
        "'\(path)' captures no video\(planes ? " into one plane, only into several" : "; 'apus cameras' lists those that do")"
      )
    }
    guard abilities & 0x0400_0000 != 0 else {
      throw ApusError(.unreadableFile, "'\(path)' shares no memory for frames (no streaming)")
    }
  }

  /// The form with these letters; by default, of those that are read and have the highest rate up to 30 frames a second, the cheapest.
  private static func chooseFormat(
    _ path: String, _ driver: any V4L2Driver, _ code: String?, _ width: Int, _ height: Int
  ) throws(ApusError) -> CameraFormat {
    let questions = V4L2Questions(path: path, ask: driver.ask)
    let offered = questions.formatCodes(kind: 1)
    func list(_ codes: [String]) -> String { codes.isEmpty ? "none" : codes.joined(separator: ", ") }
    if let code {
      guard offered.contains(code) else {
        throw ApusError(
          .invalidArgument,
          "'\(path)' has no frames of the form '\(code.prefix(20))'; it has \(list(offered))")
      }
      guard let format = CameraFormat.named(code) else {
        throw ApusError(
          .unsupportedImage,
          "frames of the form \(code) are not read, but \(list(CameraFormat.all.map(\.code)))")
      }
      return format
    }
    let possible = CameraFormat.all.filter { offered.contains($0.code) }
    guard !possible.isEmpty else {
      throw ApusError(
        .unsupportedImage, "'\(path)' has frames of the forms \(list(offered)), none of which is read")
    }
    // Over USB, uncompressed frames of a large size often come at a few a second.
    let rates = possible.map { format in
      min(30, questions.rates(format.word, UInt32(clamping: width), UInt32(clamping: height)).max() ?? 0)
    }
    let best = rates.max() ?? 0
    return possible[rates.firstIndex { $0 >= best - 0.5 } ?? 0]
  }

  /// The colors that the driver's numbers stand for, by the defaults of Video4Linux.
  ///
  /// - Parameter isGray: Whether there is luma alone. It then has the full range, like that of sensors,
  ///   unless the driver says otherwise.
  static func color(space: UInt32, encoding: UInt32, quantization: UInt32, isGray: Bool) -> VideoColor {
    let matrix: VideoColor.Matrix =
      switch encoding {
      case 2, 4: .bt709
      case 6, 7: .bt2020
      case 8: .smpte240m
      // By default that of the space: high definition or DCI-P3, BT.2020, SMPTE 240M.
      case 0 where space == 3 || space == 12: .bt709
      case 0 where space == 10: .bt2020
      case 0 where space == 2: .smpte240m
      default: .bt601
      }
    let isFull = quantization == 1 || quantization == 0 && (space == 7 || isGray)
    return VideoColor(matrix: matrix, range: isFull ? .full : .limited)
  }

  private func setRate(_ rate: Double) throws(ApusError) {
    var parameters = V4L2Structure(byteCount: 204)
    parameters[0] = 1
    // How long a frame lasts: a numerator and a denominator.
    (parameters[12], parameters[16]) = (1000, UInt32(max(1, min(rate, 1e6) * 1000)))
    let reason = parameters.pass { driver.ask(Self.setParameters, &$0) }
    guard reason == 0 else {
      throw ApusError(
        .unreadableFile, "'\(path)' refuses a rate of \(rate) frames per second: \(systemReason(reason))")
    }
  }

  private static func buffer(_ index: UInt32) -> V4L2Structure {
    var buffer = V4L2Structure(byteCount: 88)
    (buffer[0], buffer[4], buffer[60]) = (index, 1, 1)
    return buffer
  }

  private func putBack(_ index: UInt32) throws(ApusError) {
    var buffer = Self.buffer(index)
    let reason = buffer.pass { driver.ask(Self.queue, &$0) }
    guard reason == 0 else { throw gone(reason) }
  }

  private func gone(_ reason: Int32) -> ApusError {
    ApusError(
      .unreadableFile,
      reason == ENODEV
        ? "'\(path)' is gone: unplugged, or its driver was removed"
        : "'\(path)' delivers no frames any more: \(systemReason(reason))")
  }

  /// The newest frame that the driver has filled.
  ///
  /// - Throws: `unreadableFile` if the camera is gone, or says what cannot be.
  package func next(milliseconds: Int32) throws(ApusError) -> Delivery {
    var delivery = Delivery()
    guard driver.wait(milliseconds: milliseconds) else { return delivery }
    var newest: (index: UInt32, used: Int)?
    // No more than all buffers, however fast the driver is.
    for _ in 0..<lengths.count {
      var buffer = Self.buffer(0)
      let reason = buffer.pass { driver.ask(Self.dequeue, &$0) }
      if reason == EAGAIN { break }
      guard reason == 0 else { throw gone(reason) }
      let index = buffer[0]
      let used = Int(buffer[8])
      guard Int(index) < lengths.count, used <= lengths[Int(index)] else {
        throw ApusError(
          .unreadableFile,
          """
          '\(path)' says that it filled buffer \(index) with \(used) bytes, but there are \(lengths.count) of \
          \(lengths.first ?? 0)
          """)
      }
      // The driver says that the frame may be damaged, or it is empty.
      guard buffer[12] & 0x40 == 0, used > 0 else {
        delivery.damaged += 1
        try putBack(index)
        continue
      }
      if let former = newest {
        delivery.older += 1
        try putBack(former.index)
      }
      // Seconds and microseconds, of the monotonic clock if the flags say so.
      let isMonotonic = buffer[12] & 0xE000 == 0x2000
      let seconds = Int(buffer[24]) | Int(buffer[28]) << 32
      let isPossible = isMonotonic && (0...1 << 32).contains(seconds) && buffer[32] < 1_000_000
      delivery.timestamp = isPossible ? seconds * 1_000_000_000 + Int(buffer[32]) * 1_000 : nil
      newest = (index, used)
    }
    if let newest {
      delivery.bytes = driver.bytes(ofBuffer: Int(newest.index), count: newest.used)
      try putBack(newest.index)
    }
    return delivery
  }

  /// The picture of a frame's bytes.
  ///
  /// - Throws: `malformedImage` for too few bytes, or a damaged JPEG.
  package func picture(_ bytes: [UInt8]) throws(ApusError) -> RawPicture { try decoded(bytes).picture }

  /// The picture of a frame's bytes, and the damage of a JPEG that could be decoded all the same.
  ///
  /// - Throws: `malformedImage` for too few bytes, or a damaged JPEG.
  package func decoded(_ bytes: [UInt8]) throws(ApusError) -> (picture: RawPicture, flaw: String?) {
    try format.decoded(bytes, width: width, height: height, stride: bytesPerRow, color: color)
  }
}
