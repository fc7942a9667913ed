// SPDX-License-Identifier: Apache-2.0
import ApusVideo
import Foundation
import Synchronization

/// A driver of Video4Linux that plays a camera: structures as `linux/videodev2.h` lays them out on systems of 64 bits.
final class FakeCamera: V4L2Driver {
  /// The driver's answer when a filled buffer is taken.
  enum Step {
    /// A frame of these bytes, with flags.
    case frame([UInt8], flags: UInt32 = 0x2000, microseconds: UInt32 = 250_000)
    /// Nothing yet.
    case nothing
    /// An error.
    case error(Int32)
    /// A buffer's number and the number of its bytes, whatever they are.
    case lie(index: UInt32, used: UInt32)
  }

  struct State {
    var steps: [Step]
    var queued: [UInt32] = []
    var memory: [[UInt8]] = []
    var settings: [UInt32: UInt32] = [:]
    var isStarted = false
    var width: UInt32 = 4
    var height: UInt32 = 2
    var code: [UInt8] = Array("YUYV".utf8)
    var rate: (UInt32, UInt32)?
    /// The seconds of frames' times.
    var seconds: UInt32 = 7
  }

  let state: Mutex<State>
  private let codes: [String]
  private let bufferByteCount: Int
  private let bufferCount: UInt32
  private let abilities: UInt32

  init(
    _ steps: [Step], codes: [String] = ["YUYV", "MJPG"], bufferByteCount: Int = 64, bufferCount: UInt32 = 4,
    abilities: UInt32 = 0x0420_0001
  ) {
    state = Mutex(State(steps: steps))
    self.codes = codes
    self.bufferByteCount = bufferByteCount
    self.bufferCount = bufferCount
    self.abilities = abilities
  }

  private static func put(_ bytes: inout [UInt8], _ offset: Int, _ word: UInt32) {
    for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: word >> UInt32(8 * index)) }
  }

  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
  }

  func ask(_ request: UInt, _ structure: inout [UInt8]) -> Int32 {
    guard structure.count == Int(request >> 16 & 0x3FFF) else { return EINVAL }
    return state.withLock { state in answer(request, &structure, &state) }
  }

  private func answer(_ request: UInt, _ bytes: inout [UInt8], _ state: inout State) -> Int32 {
    func word(_ offset: Int) -> UInt32 { Self.word(bytes, offset) }
    switch request {
    case 0x8068_5600:  // VIDIOC_QUERYCAP
      Self.put(&bytes, 84, 0x8000_0000 | abilities)
      Self.put(&bytes, 88, abilities)
    case 0xC040_5602:  // VIDIOC_ENUM_FMT
      guard word(0) < UInt32(codes.count) else { return EINVAL }
      bytes.replaceSubrange(44..<48, with: Array(codes[Int(word(0))].utf8))
    case 0xC02C_564A, 0xC034_564B: return EINVAL  // sizes and rates
    case 0xC0D0_5604, 0xC0D0_5605:  // VIDIOC_G_FMT, VIDIOC_S_FMT
      guard word(0) == 1 else { return EINVAL }
      if request == 0xC0D0_5605 { state.code = Array(bytes[16..<20]) }
      Self.put(&bytes, 8, state.width)
      Self.put(&bytes, 12, state.height)
      bytes.replaceSubrange(16..<20, with: state.code)
      Self.put(&bytes, 24, state.width * 2)
      Self.put(&bytes, 28, state.width * 2 * state.height)
    case 0xC0CC_5616:  // VIDIOC_S_PARM
      state.rate = (word(12), word(16))
    case 0xC014_5608:  // VIDIOC_REQBUFS
      guard word(4) == 1, word(8) == 1 else { return EINVAL }
      Self.put(&bytes, 0, bufferCount)
    case 0xC058_5609:  // VIDIOC_QUERYBUF
      Self.put(&bytes, 64, word(0) * 4096)
      Self.put(&bytes, 72, UInt32(bufferByteCount))
    case 0xC058_560F:  // VIDIOC_QBUF
      guard !state.queued.contains(word(0)) else { return EINVAL }
      state.queued.append(word(0))
    case 0x4004_5612:  // VIDIOC_STREAMON
      state.isStarted = true
    case 0xC058_5611:  // VIDIOC_DQBUF
      guard let step = state.steps.first, let index = state.queued.first else { return EAGAIN }
      if case .error(let reason) = step, reason == ENODEV { return reason }
      state.steps.removeFirst()
      switch step {
      case .nothing: return EAGAIN
      case .error(let reason): return reason
      case .lie(let index, let used):
        Self.put(&bytes, 0, index)
        Self.put(&bytes, 8, used)
      case .frame(let frame, let flags, let microseconds):
        state.queued.removeFirst()
        state.memory[Int(index)].replaceSubrange(0..<frame.count, with: frame)
        Self.put(&bytes, 0, index)
        Self.put(&bytes, 8, UInt32(frame.count))
        Self.put(&bytes, 12, flags)
        Self.put(&bytes, 24, state.seconds)
        Self.put(&bytes, 32, microseconds)
      }
    case 0xC044_5624: return control(&bytes)  // VIDIOC_QUERYCTRL
    case 0xC02C_5625:  // VIDIOC_QUERYMENU
      guard word(0) == 0x009A_0901, [1, 3].contains(word(4)) else { return EINVAL }
      let name = word(4) == 1 ? "Manual Mode" : "Aperture Priority Mode"
      bytes.replaceSubrange(8..<(8 + name.utf8.count), with: name.utf8)
    case 0xC008_561B:  // VIDIOC_G_CTRL
      Self.put(&bytes, 4, state.settings[word(0)] ?? 7)
    case 0xC008_561C:  // VIDIOC_S_CTRL
      guard word(0) != 0x009A_090D else { return EACCES }
      state.settings[word(0)] = word(4)
    default: return ENOTTY
    }
    return 0
  }

  /// Controls as a webcam has them: brightness, one that is disabled, a group's title, exposure's menu with a gap, zoom, which is inactive.
  private func control(_ bytes: inout [UInt8]) -> Int32 {
    let controls: [(id: UInt32, kind: UInt32, name: String, range: [Int32], flags: UInt32)] = [
      (0x0098_0900, 1, "Brightness", [-64, 64, 1, 0], 0), (0x0098_0901, 1, "Contrast", [0, 9, 1, 0], 1),
      (0x009A_0001, 6, "Camera Controls", [0, 0, 0, 0], 4),
      (0x009A_0901, 3, "Auto Exposure", [0, 3, 1, 3], 0),
      (0x009A_090D, 1, "Zoom, Absolute", [100, 500, 10, 100], 0x10),
    ]
    let last = Self.word(bytes, 0) & 0x7FFF_FFFF
    guard Self.word(bytes, 0) & 0x8000_0000 != 0, let found = controls.first(where: { $0.id > last }) else {
      return EINVAL
    }
    Self.put(&bytes, 0, found.id)
    Self.put(&bytes, 4, found.kind)
    bytes.replaceSubrange(8..<(8 + found.name.utf8.count), with: found.name.utf8)
    for (index, value) in found.range.enumerated() {
      Self.put(&bytes, 40 + 4 * index, UInt32(bitPattern: value))
    }
    Self.put(&bytes, 56, found.flags)
    return 0
  }

  func map(offset: Int, byteCount: Int) -> Int32 {
    state.withLock { state in
      guard offset == 4096 * state.memory.count else { return EINVAL }
      state.memory.append([UInt8](repeating: 0, count: byteCount))
      return 0
    }
  }

  func bytes(ofBuffer index: Int, count: Int) -> [UInt8] {
    state.withLock { Array($0.memory[index].prefix(count)) }
  }

  func wait(milliseconds: Int32) -> Bool {
    if state.withLock({ !$0.steps.isEmpty }) { return true }
    Thread.sleep(forTimeInterval: Double(min(milliseconds, 10)) / 1000)
    return false
  }
}
