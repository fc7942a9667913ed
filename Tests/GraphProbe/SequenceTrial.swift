// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport

/// Runs sets of data in an order: other shapes, other data, other signatures, sets that are refused, and back.
///
/// A run's leftovers must not reach the next run. So each interpreter that runs the order is compared with
/// others: one for each set alone, other orders, threads and options.
struct SequenceTrial {
  /// The interpreters of a model, one for each signature; they share their variables. Each is prepared for the first set that it takes.
  private final class Functions {
    private let model: Model
    private let options: Interpreter.Options
    private var first: Interpreter?
    private var all: [String?: Interpreter] = [:]

    init(_ model: Model, _ options: Interpreter.Options) {
      self.model = model
      self.options = options
    }

    func outcome(of values: [Case.Values], signature: String?) -> Outcome {
      do throws(ApusError) {
        return try interpreter(for: values, signature: signature).outcome(of: values)
      } catch {
        return .failed("\(error)")
      }
    }

    private func interpreter(for values: [Case.Values], signature: String?) throws(ApusError) -> Interpreter {
      if let known = all[signature] { return known }
      let shapes = Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0, $1.shape) })
      let made: Interpreter
      if let first {
        made = try Interpreter(sharingVariablesOf: first, signature: signature, inputShapes: shapes)
      } else {
        var options = options
        options.inputShapes = shapes
        made = try Interpreter(model: model, options: options, signature: signature)
        first = made
      }
      all[signature] = made
      return made
    }

    func reset() {
      for interpreter in all.values { interpreter.resetVariables() }
    }
  }

  private let given: Case
  private let model: Model
  /// Outcomes by kernel set and position in the order, to compare with the reference.
  private(set) var runs: [(kernels: String, set: Int, outcome: Outcome)] = []
  /// How ways disagree with the first.
  private(set) var disagreements: [String] = []
  private var expected: [Outcome] = []

  init(_ given: Case) throws(ApusError) {
    self.given = given
    model = try Model(bytes: given.model)
  }

  private func key(of set: Int) -> String? {
    given.signatures.isEmpty ? nil : given.signatures[set]
  }

  private func options(_ change: (inout Interpreter.Options) -> Void = { _ in }) -> Interpreter.Options {
    var options = Interpreter.Options()
    if let first = given.kernels.first, !first.isEmpty { options.kernels = KernelSetName(rawValue: first) }
    change(&options)
    return options
  }

  mutating func runAll() {
    let first = Functions(model, options())
    for (position, set) in given.order.enumerated() {
      expected.append(first.outcome(of: given.sets[set], signature: key(of: set)))
      runs.append((given.kernels[0], position, expected[position]))
    }
    first.reset()
    check("after resetVariables", first)
    for kernels in given.kernels.dropFirst() {
      let other = Functions(model, options { $0.kernels = KernelSetName(rawValue: kernels) })
      for (position, set) in given.order.enumerated() {
        runs.append((kernels, position, other.outcome(of: given.sets[set], signature: key(of: set))))
      }
    }
    for count in given.threadCounts { compare("\(count) threads", options { $0.threadCount = count }) }
    compare("preservesAllTensors", options { $0.preservesAllTensors = true })
    if given.ways.contains("profiles") { compare("profiles", options { $0.profiles = true }) }
    if !given.hasState {
      runAlone()
      runInOtherOrder()
    }
  }

  private mutating func compare(_ name: String, _ options: Interpreter.Options) {
    check(name, Functions(model, options))
  }

  /// Runs the order and compares each outcome with the first one's.
  private mutating func check(_ name: String, _ functions: Functions) {
    for (position, set) in given.order.enumerated() {
      note(name, position, functions.outcome(of: given.sets[set], signature: key(of: set)))
    }
  }

  /// Each set with an interpreter of its own, prepared for its shapes.
  private mutating func runAlone() {
    for (position, set) in given.order.enumerated() {
      if given.order.firstIndex(of: set) != position { continue }
      var options = options()
      for (place, values) in given.sets[set].enumerated() { options.inputShapes[place] = values.shape }
      do throws(ApusError) {
        let alone = try Interpreter(model: model, options: options, signature: key(of: set))
        note("alone", position, alone.outcome(of: given.sets[set]))
      } catch {
        note("alone", position, .failed("\(error)"))
      }
    }
  }

  private mutating func runInOtherOrder() {
    var random = SeededGenerator(seed: UInt64(given.model.count))
    let positions = (Array(expected.indices) + expected.indices).shuffled(using: &random)
    let functions = Functions(model, options())
    for position in positions {
      let set = given.order[position]
      note("another order", position, functions.outcome(of: given.sets[set], signature: key(of: set)))
    }
  }

  /// Notes an outcome that differs. That there is none counts as equal, whatever the reason.
  private mutating func note(_ name: String, _ position: Int, _ found: Outcome) {
    if case .failed = expected[position], case .failed = found { return }
    guard found != expected[position] else { return }
    disagreements.append(
      "\(name), set \(given.order[position]): \(OutcomeDifference(expected[position], found))")
  }
}
