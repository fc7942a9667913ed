// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An executable of this package as it was built beside the tests; nil where it is missing.
package func builtExecutable(_ name: String) -> URL? {
  // swift test runs tests from a helper of the toolchain, or from the executable itself.
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") }.map {
    URL(filePath: $0).deletingLastPathComponent()
  }
  let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
  #if DEBUG
    let built = root.appending(path: ".build/debug")
  #else
    let built = root.appending(path: ".build/release")
  #endif
  return [bundle, folder, built].compactMap { $0?.appending(path: name) }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}
