// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision

/// Asks a driver of Video4Linux about the controls of its device, and sets them. The numbers are those of the kernel's
/// `linux/videodev2.h`.
package struct V4L2Controls {
  /// `VIDIOC_QUERYCTRL`, for a `v4l2_queryctrl` of 68 bytes.
  package static let query: UInt = 0xC044_5624
  /// `VIDIOC_QUERYMENU`, for a `v4l2_querymenu` of 44 bytes.
  package static let menu: UInt = 0xC02C_5625
  /// `VIDIOC_G_CTRL`, for a `v4l2_control` of 8 bytes.
  package static let get: UInt = 0xC008_561B
  /// `VIDIOC_S_CTRL`, for a `v4l2_control` of 8 bytes.
  package static let set: UInt = 0xC008_561C

  /// Asks for the first control after the one with the number given.
  private static let next: UInt32 = 0x8000_0000

  let path: String
  /// Gives the driver a structure to fill; 0, or the error's number.
  let ask: (UInt, inout [UInt8]) -> Int32

  /// Controls of the device at a path, about which `ask` asks its driver.
  package init(path: String, ask: @escaping (UInt, inout [UInt8]) -> Int32) {
    self.path = path
    self.ask = ask
  }

  /// The controls whose values are numbers, in the driver's order.
  package func all() -> [CameraControl] {
    var controls: [CameraControl] = []
    var last: UInt32 = 0
    for _ in 0..<V4L2Questions.maximumAnswers {
      var answer = V4L2Structure(byteCount: 68)
      answer[0] = last | Self.next
      guard put(Self.query, &answer) == 0, answer[0] & ~Self.next > last else { break }
      last = answer[0] & ~Self.next
      if let control = control(answer) { controls.append(control) }
    }
    return controls
  }

  private func control(_ answer: V4L2Structure) -> CameraControl? {
    let flags = answer[56]
    let kind: CameraControl.Kind
    switch answer[4] {
    case 1: kind = .integer
    case 2: kind = .boolean
    case 3, 9: kind = .menu
    case 4: kind = .button
    case 8: kind = .bitmask
    // Titles of groups, texts, and values of more than 32 bits.
    default: return nil
    }
    // Disabled ones are not there.
    guard flags & 1 == 0 else { return nil }
    func number(_ offset: Int) -> Int {
      kind == .bitmask ? Int(answer[offset]) : Int(Int32(bitPattern: answer[offset]))
    }
    var value: Int?
    // Buttons, and what can only be written, have no value.
    if kind != .button, flags & 0x40 == 0 {
      var current = V4L2Structure(byteCount: 8)
      current[0] = answer[0]
      if put(Self.get, &current) == 0 {
        value = kind == .bitmask ? Int(current[4]) : Int(Int32(bitPattern: current[4]))
      }
    }
    return CameraControl(
      name: CameraControl.name(answer.text(at: 8, count: 32)), identifier: answer[0], kind: kind,
      minimum: number(40), maximum: number(44), step: max(1, number(48)), defaultValue: number(52),
      value: value,
      menu: kind == .menu ? choices(answer[0], number(40), number(44), areNumbers: answer[4] == 9) : [],
      // Grabbed by another program, read only, or inactive.
      isSettable: flags & 0x16 == 0)
  }

  private func choices(_ identifier: UInt32, _ minimum: Int, _ maximum: Int, areNumbers: Bool)
    -> [CameraControl.Choice]
  {
    guard minimum >= 0, minimum <= maximum, maximum - minimum < V4L2Questions.maximumAnswers else {
      return []
    }
    return (minimum...maximum).compactMap { index in
      var answer = V4L2Structure(byteCount: 44)
      answer[0] = identifier
      answer[4] = UInt32(index)
      // A menu may have gaps.
      guard put(Self.menu, &answer) == 0 else { return nil }
      let number = Int64(bitPattern: UInt64(answer[8]) | UInt64(answer[12]) << 32)
      return CameraControl.Choice(
        value: index, name: areNumbers ? "\(number)" : answer.text(at: 8, count: 32))
    }
  }

  /// Sets a control by its name.
  ///
  /// - Parameter text: A number, `on` or `off`, or a choice of a menu by its name.
  /// - Throws: `invalidArgument` for a name or value that the device does not have; `unreadableFile` if the driver refuses it.
  package func set(_ name: String, to text: String) throws(ApusError) {
    let controls = all()
    let wanted = CameraControl.name(name)
    guard let control = controls.first(where: { $0.name == wanted }) else {
      let names = controls.map(\.name).joined(separator: ", ")
      throw ApusError(
        .invalidArgument,
        "'\(path)' has no control '\(name.prefix(60))'\(names.isEmpty ? ", nor any other" : "; it has \(names)")"
      )
    }
    guard let value = control.value(of: text) else {
      let choices = control.menu.map { "\($0.value) (\($0.name))" }.joined(separator: ", ")
      throw ApusError(
        .invalidArgument,
        "the control \(control.name) of '\(path)' is set to '\(text.prefix(60))', not to "
          + (choices.isEmpty ? "a number" : "one of \(choices)"))
    }
    let isPossible =
      switch control.kind {
      case .button: true
      case .menu where !control.menu.isEmpty: control.menu.contains { $0.value == value }
      case .bitmask: value >= 0 && value <= control.maximum
      case .integer, .boolean, .menu: value >= control.minimum && value <= control.maximum
      }
    guard isPossible, value >= Int(Int32.min), value <= Int(UInt32.max) else {
      throw ApusError(
        .invalidArgument,
        "the control \(control.name) of '\(path)' is set to \(value), not within \(control.minimum) to \(control.maximum)"
      )
    }
    var order = V4L2Structure(byteCount: 8)
    order[0] = control.identifier
    order[4] = UInt32(truncatingIfNeeded: value)
    let reason = put(Self.set, &order)
    guard reason == 0 else {
      let advice = control.isSettable ? "" : "; it cannot be changed now: its automatic setting may be on"
      throw ApusError(
        .unreadableFile,
        "'\(path)' refuses \(value) for its control \(control.name): \(systemReason(reason))\(advice)")
    }
  }

  private func put(_ request: UInt, _ structure: inout V4L2Structure) -> Int32 {
    structure.pass { ask(request, &$0) }
  }
}
