// SPDX-License-Identifier: Apache-2.0

import Apus
import Dispatch
import Synchronization

/// Runs one case in many ways: what is to be compared with the reference, and what with itself.
struct Ways {
  private let given: Case
  private let model: Model
  /// The runs to compare with the reference: kernel set, set of data, outcome.
  private(set) var runs: [(kernels: String, set: Int, outcome: Outcome)] = []
  /// How ways disagree with the first.
  private(set) var disagreements: [String] = []
  private var expected: [Outcome] = []

  init(_ given: Case) throws(ApusError) {
    self.given = given
    model = try Model(bytes: given.model)
  }

  private func options(_ change: (inout Interpreter.Options) -> Void = { _ in }) -> Interpreter.Options {
    var options = Interpreter.Options()
    if let first = given.kernels.first, !first.isEmpty { options.kernels = KernelSetName(rawValue: first) }
    change(&options)
    return options
  }

  /// The sets that have the model's own shapes: one after the other, and back.
  private var sequence: [Int] { given.sets.count > 1 ? [0, 1, 0] : [0, 0] }

  mutating func runAll() throws(ApusError) {
    try runFirst()
    for kernels in given.kernels.dropFirst() { runOther(kernels) }
    if given.ways.contains("threads") {
      for count in given.threadCounts { compare("\(count) threads", options { $0.threadCount = count }) }
    }
    if given.ways.contains("preserves") {
      compare("preservesAllTensors", options { $0.preservesAllTensors = true })
    }
    if given.ways.contains("profiles") { compare("profiles", options { $0.profiles = true }) }
    if given.ways.contains("again") { compare("a second interpreter", options()) }
    if given.ways.contains("simultaneous") { runAtOnce() }
    if given.ways.contains("resizes") { resizeAndBack() }
    if given.ways.contains("cancels") { cancelAndRun() }
    if given.ways.contains("limit") { runWithLittleMemory() }
  }

  /// The way that all others are compared with: the default kernels on one thread.
  private mutating func runFirst() throws(ApusError) {
    let kernels = given.kernels[0]
    let interpreter = try Interpreter(model: model, options: options())
    for (place, set) in sequence.enumerated() {
      let outcome = interpreter.outcome(of: given.sets[set])
      expected.append(outcome)
      if place < 2 || given.hasState { runs.append((kernels, set, outcome)) }
    }
    if !given.hasState, expected[2 % expected.count] != expected[0] {
      note("other data and back", expected[0], expected[2 % expected.count])
    }
    interpreter.resetVariables()
    let again = interpreter.outcome(of: given.sets[0])
    if again != expected[0] { note("after resetVariables", expected[0], again) }
    if given.sets.count > 2 { runResized(interpreter) }
  }

  /// Runs the set of other shapes, given at the beginning and to an interpreter that had others; and goes back.
  private mutating func runResized(_ interpreter: Interpreter) {
    let shapes = Dictionary(uniqueKeysWithValues: given.sets[2].enumerated().map { ($0, $1.shape) })
    var expected = Outcome.failed("")
    do throws(ApusError) {
      let other = try Interpreter(model: model, options: options { $0.inputShapes = shapes })
      expected = other.outcome(of: given.sets[2])
    } catch {
      expected = .failed("\(error)")
    }
    runs.append((given.kernels[0], 2, expected))
    interpreter.resetVariables()
    let resized = interpreter.outcome(of: given.sets[2])
    if case .failed = expected, case .failed = resized {
      // Refused in both ways.
    } else if resized != expected {
      note("resizeInputs", expected, resized)
    }
    check("another shape and back", interpreter)
  }

  private mutating func runOther(_ kernels: String) {
    do throws(ApusError) {
      let interpreter = try Interpreter(
        model: model, options: options { $0.kernels = KernelSetName(rawValue: kernels) })
      for set in sequence.prefix(2) { runs.append((kernels, set, interpreter.outcome(of: given.sets[set]))) }
      if given.ways.contains("threads"), let count = given.threadCounts.last {
        // Threads of one kernel set agree to the bit.
        let threaded = try Interpreter(
          model: model,
          options: options {
            $0.kernels = KernelSetName(rawValue: kernels)
            $0.threadCount = count
          })
        for (place, set) in sequence.prefix(2).enumerated() {
          let outcome = threaded.outcome(of: given.sets[set])
          let wanted = runs[runs.count - 2 + place].outcome
          if outcome != wanted { note("\(kernels) with \(count) threads, set \(set)", wanted, outcome) }
        }
      }
    } catch {
      runs.append((kernels, 0, .failed("\(error)")))
    }
  }

  // MARK: Ways

  private mutating func compare(_ name: String, _ options: Interpreter.Options) {
    do throws(ApusError) {
      check(name, try Interpreter(model: model, options: options))
    } catch {
      note(name, expected[0], .failed("\(error)"))
    }
  }

  /// Runs the sets of data, after any state is as in the beginning.
  private mutating func check(_ name: String, _ interpreter: Interpreter) {
    interpreter.resetVariables()
    for (place, set) in sequence.prefix(2).enumerated() {
      let outcome = interpreter.outcome(of: given.sets[set])
      if outcome != expected[place] { note("\(name), set \(set)", expected[place], outcome) }
    }
  }

  private mutating func runAtOnce() {
    let (given, sequence, options) = (given, sequence, options())
    guard let fresh = try? Model(bytes: given.model) else { return }
    let outcomes = Mutex<[Int: [Outcome]]>([:])
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      var found: [Outcome] = []
      do throws(ApusError) {
        let interpreter = try Interpreter(model: fresh, options: options)
        for set in sequence.prefix(2) { found.append(interpreter.outcome(of: given.sets[set])) }
      } catch {
        found = [.failed("\(error)"), .failed("\(error)")]
      }
      outcomes.withLock { $0[index] = found }
    }
    for (index, found) in outcomes.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      for (place, outcome) in found.enumerated() where outcome != expected[place] {
        note("two at the same time, number \(index), set \(sequence[place])", expected[place], outcome)
      }
    }
  }

  private mutating func resizeAndBack() {
    guard let interpreter = try? Interpreter(model: model, options: options()) else { return }
    for position in given.sets[0].indices {
      let shape = given.sets[0][position].shape
      for axis in shape.dimensions.indices.prefix(2) {
        var dimensions = shape.dimensions
        dimensions[axis] += 1
        // Most models refuse: then all has to be as it was.
        if (try? interpreter.resizeInput(at: position, to: TensorShape(dimensions))) != nil {
          try? interpreter.invoke()
          do throws(ApusError) {
            try interpreter.resizeInput(at: position, to: shape)
          } catch {
            return note("resized back", expected[0], .failed("\(error)"))
          }
        }
      }
    }
    check("another shape and back, tried", interpreter)
  }

  private mutating func cancelAndRun() {
    guard let interpreter = try? Interpreter(model: model, options: options()) else { return }
    do throws(ApusError) {
      try interpreter.fill(given.sets[0])
      let cancellation = Cancellation()
      cancellation.cancel()
      do throws(ApusError) {
        try interpreter.invoke(cancellation: cancellation)
      } catch {
        guard error.code == .cancelled else { return note("cancelled", expected[0], .failed("\(error)")) }
      }
      for pause in [0, 200, 3000] {
        let late = Cancellation()
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
          for _ in 0..<pause where late.isCancelled { break }
          late.cancel()
        }
        try? interpreter.invoke(cancellation: late)
        group.wait()
      }
    } catch {
      return note("cancelled", expected[0], .failed("\(error)"))
    }
    check("after a cancelled run", interpreter)
  }

  /// Finds the smallest limit with which the model runs, and what it answers there.
  private mutating func runWithLittleMemory() {
    guard case .outputs = expected[0] else { return }
    func attempt(_ limit: Int) -> Outcome {
      do throws(ApusError) {
        // Another model, as packed weights that are there already may not count again.
        let model = try Model(bytes: given.model)
        let interpreter = try Interpreter(model: model, options: options { $0.memoryLimit = limit })
        return interpreter.outcome(of: given.sets[0])
      } catch {
        return .failed("\(error)")
      }
    }
    var (low, high) = (-1, 1 << 12)
    while case .failed(let reason) = attempt(high) {
      guard high < 1 << 30 else { return note("a large limit", expected[0], .failed(reason)) }
      (low, high) = (high, high * 4)
    }
    while high - low > 1 {
      let middle = (low + high) / 2
      switch attempt(middle) {
      case .outputs: high = middle
      case .failed(let reason):
        if !reason.contains("limit") { note("a limit of \(middle)", expected[0], .failed(reason)) }
        low = middle
      }
    }
    let outcome = attempt(high)
    if outcome != expected[0] { note("the smallest limit, \(high)", expected[0], outcome) }
  }

  // MARK: Disagreements

  private mutating func note(_ name: String, _ expected: Outcome, _ found: Outcome) {
    disagreements.append("\(name): \(OutcomeDifference(expected, found))")
  }
}

extension Ways {
  /// The values of every tensor after a run of the first kernel set with the first set of data.
  static func tensors(of given: Case) throws(ApusError) -> [(index: Int, output: Output)] {
    var options = Interpreter.Options()
    options.kernels = given.kernels.first.map(KernelSetName.init(rawValue:))
    options.preservesAllTensors = true
    let interpreter = try Interpreter(model: Model(bytes: given.model), options: options)
    try interpreter.fill(given.sets[0])
    try interpreter.invoke()
    return interpreter.allTensors()
  }
}
