// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole

/// The steps of a model's run in order, for `apus inspect --plan`.
struct PlanReport: Encodable {
  struct Place: Encodable {
    let name: String
    let block: Int
    let offset: Int
    let bytes: Int
  }

  struct Declined: Encodable {
    let kernels: KernelSetName
    let reason: String
  }

  struct Step: Encodable {
    let segment: Int
    let operators: [Int]
    let name: String
    let output: [Int]
    let kernels: KernelSetName
    let implementation: String
    let declined: [Declined]
    let notes: [String]
    let places: [Place]
    let multiplyAccumulates: Int
  }

  struct Unneeded: Encodable {
    let index: Int
    let name: String
    let reason: String
  }

  let steps: [Step]
  let unneeded: [Unneeded]
  let unplanned: Int

  init(_ plan: ExecutionPlan) {
    steps = plan.steps.map { step in
      Step(
        segment: step.segment, operators: step.operators.map(\.index), name: step.name,
        output: step.output.dimensions, kernels: step.implementation.kernelSet,
        implementation: step.implementation.text,
        declined: step.implementation.declined.map { Declined(kernels: $0.kernelSet, reason: $0.reason) },
        notes: step.implementation.notes,
        places: step.places.map {
          Place(name: $0.name, block: $0.block, offset: $0.offset, bytes: $0.byteCount)
        },
        multiplyAccumulates: step.multiplyAccumulates)
    }
    unneeded = plan.unneeded.map {
      Unneeded(index: $0.operator.index, name: $0.operator.name, reason: $0.reason)
    }
    unplanned = plan.unplannedCount
  }

  /// The plan for people: a line for each step, and below it how it works, where its tensors lie, and why no faster kernels
  /// do it.
  var text: String {
    var lines = ["plan:"]
    for step in steps {
      let operators = step.operators.map { "#\($0)" }.joined(separator: " ")
      lines.append("  \(operators) \(step.name) → \(TensorShape(step.output))")
      lines.append("      \(step.kernels): \(step.implementation)")
      for declined in step.declined { lines.append("      not \(declined.kernels): \(declined.reason)") }
      for note in step.notes { lines.append("      note: \(note)") }
      for place in step.places {
        let name = place.name.isEmpty ? "scratch" : place.name
        lines.append("      \(name): block \(place.block), offset \(place.offset), \(place.bytes) bytes")
      }
    }
    if !unneeded.isEmpty {
      lines.append("without a step:")
      for entry in unneeded { lines.append("  #\(entry.index) \(entry.name): \(entry.reason)") }
    }
    if unplanned > 0 {
      lines.append("\(unplanned) more operators are planned when the model runs: data decides their shapes")
    }
    // Names of tensors and operators may have any character.
    return lines.map(oneLine).joined(separator: "\n")
  }
}
