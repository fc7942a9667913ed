// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// `apus cameras`, whatever cameras this machine has. What drivers answer is tested with the library.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct CamerasCommandTests {
  @Test func listsEveryDeviceOrSaysThatThereIsNone() throws {
    try withTemporaryFolder { folder in
      let answer = try shell("$APUS cameras > list.txt && $APUS cameras --json > list.json", in: folder)
      #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer.errors)")
      let text = try String(contentsOf: folder.appending(path: "list.txt"), encoding: .utf8)
      let lines = try String(contentsOf: folder.appending(path: "list.json"), encoding: .utf8).split(
        separator: "\n")
      #expect(lines.isEmpty == text.hasPrefix("no cameras"))
      struct Device: Decodable { let path: String }
      for line in lines {
        let device = try JSONDecoder().decode(Device.self, from: Data(line.utf8))
        #expect(text.contains("\(device.path): "))
      }
    }
  }

  @Test func takesNoArguments() throws {
    try withTemporaryFolder { folder in
      let answer = try shell("$APUS cameras /dev/video0", in: folder)
      #expect((1...64).contains(answer.status) && answer.errors.contains("/dev/video0"))
    }
  }
}
