// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The records of `Tests/Goldens/<name>.json`; none where that is missing or broken, which a test notices.
package func goldens<Record: Decodable>(_ name: String) -> [Record] {
  let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Goldens/\(name).json")
  guard let text = try? Data(contentsOf: file) else { return [] }
  return (try? JSONDecoder().decode([Record].self, from: text)) ?? []
}
