// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

/// Asks a driver of Video4Linux what its device can do. The numbers are those of the kernel's `linux/videodev2.h`.
package struct V4L2Questions {
  /// `VIDIOC_QUERYCAP`, for a `v4l2_capability` of 104 bytes.
  package static let capability: UInt = 0x8068_5600
  /// `VIDIOC_ENUM_FMT`, for a `v4l2_fmtdesc` of 64 bytes.
  static let format: UInt = 0xC040_5602
  /// `VIDIOC_ENUM_FRAMESIZES`, for a `v4l2_frmsizeenum` of 44 bytes.
  static let size: UInt = 0xC02C_564A
  /// `VIDIOC_ENUM_FRAMEINTERVALS`, for a `v4l2_frmivalenum` of 52 bytes.
  static let interval: UInt = 0xC034_564B

  /// The maximum number of answers to one question; a driver may never say that it was the last.
  static let maximumAnswers = 256

  /// The maximum number of forms of frames.
  static let maximumFormats = 64

  let path: String
  /// Gives the driver a structure to fill; 0, or the error's number.
  let ask: (UInt, inout [UInt8]) -> Int32

  /// Questions about the device at a path, which `ask` puts to its driver.
  package init(path: String, ask: @escaping (UInt, inout [UInt8]) -> Int32) {
    self.path = path
    self.ask = ask
  }

  /// The device; nil if it captures no video.
  ///
  /// - Throws: `unreadableFile` if it is no device of Video4Linux.
  package func device() throws(ApusError) -> CameraDevice? {
    var answer = V4L2Structure(byteCount: 104)
    let reason = put(Self.capability, &answer)
    guard reason == 0 else {
      throw ApusError(
        .unreadableFile, "'\(path)' is no device of Video4Linux, or is gone: \(systemReason(reason))")
    }
    // A device may have several files; where the highest bit is set, the next word is this file's part.
    let all = answer[84]
    let abilities = all & 0x8000_0000 != 0 ? answer[88] : all
    // Capture of one plane, or of several.
    guard abilities & 0x1001 != 0 else { return nil }
    return CameraDevice(
      path: path, name: answer.text(at: 16, count: 32), driver: answer.text(at: 0, count: 16),
      bus: answer.text(at: 48, count: 32), formats: formats(kind: abilities & 1 != 0 ? 1 : 9),
      controls: V4L2Controls(path: path, ask: ask).all(), problem: nil)
  }

  private func put(_ request: UInt, _ structure: inout V4L2Structure) -> Int32 {
    structure.pass { ask(request, &$0) }
  }

  private func formats(kind: UInt32) -> [CameraDevice.Format] {
    var formats: [CameraDevice.Format] = []
    for index in 0..<Self.maximumFormats {
      var answer = V4L2Structure(byteCount: 64)
      answer[0] = UInt32(index)
      answer[4] = kind
      guard put(Self.format, &answer) == 0 else { break }
      let (sizes, isRange) = sizes(answer[44])
      formats.append(
        CameraDevice.Format(
          code: answer.code(at: 44), description: answer.text(at: 12, count: 32),
          isCompressed: answer[8] & 1 != 0, isRange: isRange, sizes: sizes))
    }
    return formats
  }

  /// The letters of the forms of frames, of one plane (1) or several (9).
  func formatCodes(kind: UInt32) -> [String] {
    var codes: [String] = []
    for index in 0..<Self.maximumFormats {
      var answer = V4L2Structure(byteCount: 64)
      (answer[0], answer[4]) = (UInt32(index), kind)
      guard put(Self.format, &answer) == 0 else { break }
      codes.append(answer.code(at: 44))
    }
    return codes
  }

  private func sizes(_ format: UInt32) -> (sizes: [CameraDevice.Size], isRange: Bool) {
    var sizes: [CameraDevice.Size] = []
    for index in 0..<Self.maximumAnswers {
      var answer = V4L2Structure(byteCount: 44)
      answer[0] = UInt32(index)
      answer[4] = format
      guard put(Self.size, &answer) == 0 else { break }
      if answer[8] == 1 {
        sizes.append(size(format, answer[12], answer[16]))
      } else {
        // Least, greatest and step of the width, then of the height.
        return ([size(format, answer[12], answer[24]), size(format, answer[16], answer[28])], true)
      }
    }
    return (sizes, false)
  }

  private func size(_ format: UInt32, _ width: UInt32, _ height: UInt32) -> CameraDevice.Size {
    CameraDevice.Size(width: Int(width), height: Int(height), frameRates: rates(format, width, height))
  }

  func rates(_ format: UInt32, _ width: UInt32, _ height: UInt32) -> [Double] {
    var rates: [Double] = []
    for index in 0..<Self.maximumAnswers {
      var answer = V4L2Structure(byteCount: 52)
      (answer[0], answer[4], answer[8], answer[12]) = (UInt32(index), format, width, height)
      guard put(Self.interval, &answer) == 0 else { break }
      // The driver says how long a frame lasts: a numerator and a denominator; in a range, the shortest and the longest.
      let places = answer[16] == 1 ? [20] : [20, 28]
      for place in places where answer[place] > 0 && answer[place + 4] > 0 {
        rates.append(Double(answer[place + 4]) / Double(answer[place]))
      }
      if answer[16] != 1 { break }
    }
    return rates
  }
}
