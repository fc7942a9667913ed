// SPDX-License-Identifier: Apache-2.0

extension String {
  /// This path without the parts that say nothing, so that `./a//b` is `a/b`: to compare paths.
  var plainPath: String {
    guard contains("./") || contains("//") else { return self }
    let parts = split(separator: "/").filter { $0 != "." }
    return (first == "/" ? "/" : "") + parts.joined(separator: "/")
  }
}
