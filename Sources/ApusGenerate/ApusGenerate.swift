// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusInterfaces
import Foundation

/// `apus-generate MODEL OUTPUT [LABELS]`: what the plugin runs for each model. `apus generate` is for people.
@main
enum ApusGenerate {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count == 2 || arguments.count == 3 else {
      fail("usage: apus-generate MODEL OUTPUT [LABELS]", status: 64)
    }
    do {
      let interface = try ModelInterface(
        modelFile: arguments[0], labelsFile: arguments.count == 3 ? arguments[2] : nil)
      try ModelPin.check(arguments[0], sha256: interface.sha256)
      for warning in interface.warnings { write("warning: \(arguments[0]): \(warning)") }
      try Data(interface.source().utf8).write(to: URL(fileURLWithPath: arguments[1]), options: .atomic)
    } catch let error as ApusError {
      let message = error.message.replacing("\n", with: "; ")
      fail(message.contains(arguments[0]) ? message : "\(arguments[0]): \(message)")
    } catch {
      fail("\(arguments[1]) cannot be written: \(error.localizedDescription)")
    }
  }

  private static func fail(_ message: String, status: Int32 = 1) -> Never {
    write("error: \(message)")
    exit(status)
  }

  private static func write(_ line: String) {
    FileHandle.standardError.write(Data("\(line.replacing("\n", with: " "))\n".utf8))
  }
}
