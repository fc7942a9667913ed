// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// An option that only some of a command's tasks read.
struct TaskOption<Task: CaseIterable & Hashable & RawRepresentable> where Task.RawValue == String {
  private let name: String
  private let isGiven: Bool
  private let tasks: Set<Task>

  init(_ name: String, _ isGiven: Bool, for tasks: Set<Task>) {
    self.name = name
    self.isGiven = isGiven
    self.tasks = tasks
  }

  /// Throws wrong usage if the option is given and the task does not read it: it would change nothing.
  func check(_ task: Task) throws {
    guard isGiven, !tasks.contains(task) else { return }
    let names = Task.allCases.filter(tasks.contains).map(\.rawValue).joined(separator: ", ")
    throw ValidationError("\(name) is for --task \(names), not for \(task.rawValue)")
  }
}
