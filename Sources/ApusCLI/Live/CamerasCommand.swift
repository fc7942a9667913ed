// SPDX-License-Identifier: Apache-2.0
import ApusConsole
import ApusVideo
import ArgumentParser

/// `apus cameras`: the cameras of this machine.
struct CamerasCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cameras", abstract: "Lists cameras with their formats, sizes, rates and controls.",
    discussion: """
      Cameras are the devices of Video4Linux, /dev/video0 and others.

      For example:
        apus cameras
        apus watch /dev/video0 --track bytetrack
        apus watch /dev/video0 --control exposure_time_absolute=200
      """)

  @Flag(help: "Print one JSON object a line, for each camera.")
  var json = false

  func run() throws {
    let devices = Camera.devices()
    if json {
      for device in devices { try Output.writeJSON(device) }
    } else if devices.isEmpty {
      Output.write("no cameras: there is no /dev/video0")
    } else {
      Output.write(devices.map(Self.text).joined(separator: "\n"))
    }
  }

  private static func text(_ device: CameraDevice) -> String {
    if let problem = device.problem { return "\(device.path): \(oneLine(problem))" }
    var lines = [
      "\(device.path): \(oneLine(device.name)) (\(oneLine(device.driver)), \(oneLine(device.bus)))"
    ]
    for format in device.formats {
      let sizes = format.sizes.map { size in
        let rates = size.frameRates.map { decimal($0, $0.rounded() == $0 ? 0 : 2) }.joined(separator: "/")
        return "\(size.width)x\(size.height)\(rates.isEmpty ? "" : " at \(rates)")"
      }
      lines.append(
        "  \(format.code) \(oneLine(format.description)): \(sizes.joined(separator: format.isRange ? " to " : ", "))"
      )
    }
    for control in device.controls { lines.append("  " + oneLine(text(control))) }
    return lines.joined(separator: "\n")
  }

  private static func text(_ control: CameraControl) -> String {
    let values: String
    switch control.kind {
    case .integer:
      values =
        "\(control.minimum) to \(control.maximum)" + (control.step > 1 ? " in steps of \(control.step)" : "")
    case .boolean: values = "off or on"
    case .menu: values = control.menu.map { "\($0.value) \($0.name)" }.joined(separator: ", ")
    case .button: values = "an action"
    case .bitmask: values = "bits of \(control.maximum)"
    }
    return "--control \(control.name)=\(control.value.map(String.init) ?? "1"): \(values)"
      + (control.isSettable ? "" : " (not now)")
  }
}
