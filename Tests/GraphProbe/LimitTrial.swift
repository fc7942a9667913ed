// SPDX-License-Identifier: Apache-2.0

import Apus
import Dispatch
import Synchronization

/// Prepares and runs a model under a limit of time and one of memory, and measures by how much either is exceeded.
struct LimitTrial {
  /// A preparation or a run.
  struct Phase {
    /// Why it ended early; empty if it did not.
    var reason = ""
    var wallNanoseconds = 0
    /// Wall time and processor time after the limit of time: from the deadline to the end.
    var lateWallNanoseconds = 0
    var lateProcessorNanoseconds = 0
    /// By how much resident memory grew, at most.
    var grownByteCount = 0
  }

  private let given: Case
  private let kernels: String
  private let timeLimit: Duration

  init(_ given: Case, kernels: String) {
    self.given = given
    self.kernels = kernels
    timeLimit = .milliseconds(given.limits.milliseconds)
  }

  /// The preparation, and the run if there was one. Memory counts from before the preparation.
  func result() throws(ApusError) -> [Phase] {
    let model = try Model(bytes: given.model)
    var options = Interpreter.Options()
    if !kernels.isEmpty { options.kernels = KernelSetName(rawValue: kernels) }
    options.timeLimit = timeLimit
    options.memoryLimit = given.limits.byteCount
    options.threadCount = given.limits.threadCount
    for (position, values) in (given.sets.first ?? []).enumerated() {
      options.inputShapes[position] = values.shape
    }
    let prepared = options
    ProcessUse.resetPeak()
    let before = ProcessUse.residentByteCount
    var interpreter: Interpreter?
    let preparation = phase(before) { () throws(ApusError) in
      interpreter = try Interpreter(model: model, options: prepared)
    }
    guard let interpreter else { return [preparation] }
    try fill(interpreter)
    let run = phase(before) { () throws(ApusError) in try interpreter.invoke() }
    return [preparation, run]
  }

  /// Does some work, beside a thread that notes at the deadline how much processor time was spent until then.
  private func phase(_ before: Int, _ work: () throws(ApusError) -> Void) -> Phase {
    var phase = Phase()
    let spent = Mutex<Int?>(nil)
    let ended = DispatchSemaphore(value: 0)
    let watched = DispatchSemaphore(value: 0)
    let nanoseconds = given.limits.milliseconds * 1_000_000
    DispatchQueue.global().async {
      if ended.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .timedOut {
        let now = ProcessUse.processorNanoseconds
        spent.withLock { $0 = now }
      }
      watched.signal()
    }
    let start = ContinuousClock.now
    do throws(ApusError) {
      try work()
    } catch {
      phase.reason = "\(error)"
    }
    let wall = ContinuousClock.now - start
    let processor = ProcessUse.processorNanoseconds
    ended.signal()
    watched.wait()
    phase.wallNanoseconds = Int(wall / .nanoseconds(1))
    phase.lateWallNanoseconds = max(Int((wall - timeLimit) / .nanoseconds(1)), 0)
    if let atDeadline = spent.withLock({ $0 }) {
      phase.lateProcessorNanoseconds = max(processor - atDeadline, 0)
    }
    phase.grownByteCount = max(ProcessUse.peakByteCount - before, 0)
    return phase
  }

  /// Gives inputs what the case has for them, or numbers of their type: floats from −1 to 1, any bytes, integers below a bound.
  private func fill(_ interpreter: Interpreter) throws(ApusError) {
    let bound = UInt64(max(given.limits.integerBound, 1))
    for (position, input) in interpreter.inputs.enumerated() {
      let values = given.sets.first.flatMap { position < $0.count ? $0[position].bytes : nil } ?? []
      try interpreter.withInputBytes(at: position) { (span: inout MutableRawSpan) throws(ApusError) in
        unsafe span.withUnsafeMutableBytes { (buffer: UnsafeMutableRawBufferPointer) in
          guard values.isEmpty else { return unsafe buffer.copyBytes(from: values.prefix(buffer.count)) }
          var state: UInt64 = 0x9E37_79B9_7F4A_7C15
          func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
          }
          func fill<T>(_ type: T.Type, _ element: () -> T) {
            let elements = unsafe buffer.bindMemory(to: type)
            for index in elements.indices { unsafe elements[index] = element() }
          }
          switch input.type {
          case .float32: fill(Float.self) { Float(Int32(truncatingIfNeeded: next() >> 32)) * 0x1p-31 }
          case .int32, .uint32: fill(UInt32.self) { UInt32(truncatingIfNeeded: (next() >> 32) % bound) }
          case .int64, .uint64: fill(UInt64.self) { (next() >> 32) % bound }
          case .bool: fill(UInt8.self) { UInt8(truncatingIfNeeded: next() >> 40 & 1) }
          case .float16, .bfloat16, .float64, .complex64, .complex128: break
          default: fill(UInt8.self) { UInt8(truncatingIfNeeded: next() >> 40) }
          }
        }
      }
    }
  }
}
