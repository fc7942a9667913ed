// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A small model of `Tests/Goldens/tasks.json`.
package struct TaskModel: Decodable, Sendable {
  private let name: String
  private let task: String
  private let model: String

  private static let all: [TaskModel] = goldens("tasks")

  /// Writes the model of a task that has a name.
  package static func write(_ task: String, _ name: String, to file: URL) throws {
    let found = try #require(all.first { $0.task == task && $0.name == name })
    try #require(Data(base64Encoded: found.model)).write(to: file)
  }
}
