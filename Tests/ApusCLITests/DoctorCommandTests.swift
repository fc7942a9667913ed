// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// `apus doctor`: its report and its status. What it proves is tested with the library.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct DoctorCommandTests {
  @Test("the report names each kernel set of the machine and fits 80 columns")
  func text() throws {
    try withTemporaryFolder { folder in
      let report = try apus("doctor --kernels portable", in: folder)
      #expect(report.status == 0 && report.errors.isEmpty)
      for word in [
        "processor", "caches", "memory", "generated code", "cases right", "portable", "ffmpeg", "fonts",
      ] {
        #expect(report.output.contains(word), "\(word)")
      }
      for line in report.output.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }
  }

  @Test("the JSON has the machine, the proofs and what was found")
  func json() throws {
    try withTemporaryFolder { folder in
      let report = try apus("doctor --kernels portable --json", in: folder)
      #expect(report.status == 0 && report.errors.isEmpty)
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [String: Any])
      #expect(document["healthy"] as? Bool == true)
      let sets = try #require(document["kernels"] as? [[String: Any]])
      #expect(sets.count == 1 && sets[0]["name"] as? String == "portable")
      let proof = try #require(sets[0]["proof"] as? [String: Any])
      #expect(try #require(proof["case_count"] as? Int) >= 50)
      #expect((proof["failures"] as? [Any])?.isEmpty == true)
      let machine = try #require(document["machine"] as? [String: Any])
      #expect(try #require(machine["processors"] as? Int) > 0)
      let software = try #require(document["software"] as? [[String: Any]])
      #expect(Set(software.compactMap { $0["name"] as? String }).isSuperset(of: ["ffmpeg", "fonts"]))
      let ffmpeg = try #require(software.first { $0["name"] as? String == "ffmpeg" })
      if ffmpeg["file"] != nil {
        #expect((ffmpeg["note"] as? String)?.hasPrefix("version ") == true, "\(ffmpeg)")
      }
    }
  }

  @Test("an unknown kernel set is an error")
  func unknown() throws {
    try withTemporaryFolder { folder in
      let report = try apus("doctor --kernels fast", in: folder)
      #expect(report.status == 1 && report.errors.contains("there is no kernel set fast, only: "))
    }
  }
}
