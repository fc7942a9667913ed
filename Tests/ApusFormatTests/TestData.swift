// SPDX-License-Identifier: Apache-2.0

import ApusFormat

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of published models, which the environment variable `APUS_TEST_DATA` locates.
enum TestData {
  static let folder: String? = getenv("APUS_TEST_DATA").map { String(cString: $0) }

  static var isAvailable: Bool { folder != nil }

  static func model(_ name: String, inParts: Bool = false) throws -> FileBytes {
    try FileBytes(readingFileAt: "\(folder ?? "")/models/\(name).tflite", keepsOpen: inParts)
  }

  static func bytes(_ name: String) throws -> [UInt8] {
    try model(name).withUnsafeBytes { Array($0) }
  }
}
