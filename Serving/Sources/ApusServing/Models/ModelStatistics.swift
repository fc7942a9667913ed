// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The counts and times of a model since it was loaded.
public final class ModelStatistics: Sendable {
  /// A number of events and the time that they took.
  public struct Total: Sendable {
    /// How many.
    public var count: UInt64 = 0
    /// All of their time.
    public var nanoseconds: UInt64 = 0

    /// Makes a total of nothing.
    public init() {}

    /// Adds events, each of which took the whole duration.
    mutating func add(_ duration: Duration, count events: UInt64 = 1) {
      count += events
      nanoseconds &+= duration.wholeNanoseconds &* events
    }
  }

  /// Why a request failed.
  public enum Reason: String, CaseIterable, Sendable {
    /// The queue was full.
    case rejected = "REJECTED"
    /// The client went away or the deadline passed.
    case canceled = "CANCELED"
    /// The model's run failed.
    case backend = "BACKEND"
    /// Anything else: mostly something wrong in the request.
    case other = "OTHER"
  }

  /// Executions with as many items.
  public struct Batch: Sendable {
    /// Filling inputs.
    public var computeInput = Total()
    /// Running the model.
    public var computeInfer = Total()
    /// Reading outputs.
    public var computeOutput = Total()
  }

  /// The counts at one moment.
  public struct Snapshot: Sendable {
    /// Answered requests, from the moment when they were read as a whole to their answer.
    public var success = Total()
    /// Failed requests.
    public var fail = Total()
    /// Failed requests by reason.
    public var failures: [Reason: UInt64] = [:]
    /// Waiting.
    public var queue = Total()
    /// Filling inputs, decoding pictures among it. Each request of a shared run counts the run's whole time, as in Triton: the time
    /// divided by the count is what a request takes.
    public var computeInput = Total()
    /// Running the model, for each request of a shared run its whole time.
    public var computeInfer = Total()
    /// Reading outputs, for each request of a shared run its whole time.
    public var computeOutput = Total()
    /// Answered items.
    public var inferenceCount: UInt64 = 0
    /// Runs of the model.
    public var executionCount: UInt64 = 0
    /// When the last request was answered, in milliseconds since 1970.
    public var lastInference: UInt64 = 0
    /// Executions by their number of items.
    public var batches: [Int: Batch] = [:]
    /// Answered requests by the first bound of ``ModelStatistics/latencyBounds`` that they did not pass.
    public var latencies = [UInt64](repeating: 0, count: ModelStatistics.latencyBounds.count + 1)
  }

  /// The upper bounds of the latency histogram, in milliseconds.
  public static let latencyBounds: [Double] = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]

  private let counts = Mutex(Snapshot())

  /// The counts now.
  public var snapshot: Snapshot { counts.withLock { $0 } }

  func recordSuccess(_ duration: Duration, queue: Duration, items: Int, at milliseconds: UInt64) {
    counts.withLock { counts in
      counts.success.add(duration)
      counts.queue.add(queue)
      counts.inferenceCount += UInt64(items)
      counts.lastInference = milliseconds
      let time = Double(duration.wholeNanoseconds) / 1e6
      let bucket = Self.latencyBounds.firstIndex { time <= $0 } ?? Self.latencyBounds.count
      counts.latencies[bucket] += 1
    }
  }

  /// Counts a request that failed.
  public func recordFailure(_ error: ServingError, _ duration: Duration) {
    let reason: Reason =
      switch error.kind {
      case .queueFull, .unavailable: .rejected
      case .cancelled, .deadlineExceeded: .canceled
      case .internalFailure: .backend
      default: .other
      }
    counts.withLock { counts in
      counts.fail.add(duration)
      counts.failures[reason, default: 0] += 1
    }
  }

  func recordExecution(items: Int, requests: Int, input: Duration, infer: Duration, output: Duration) {
    counts.withLock { counts in
      counts.executionCount += 1
      let requests = UInt64(requests)
      counts.computeInput.add(input, count: requests)
      counts.computeInfer.add(infer, count: requests)
      counts.computeOutput.add(output, count: requests)
      counts.batches[items, default: Batch()].computeInput.add(input)
      counts.batches[items, default: Batch()].computeInfer.add(infer)
      counts.batches[items, default: Batch()].computeOutput.add(output)
    }
  }
}

extension Duration {
  /// The duration in nanoseconds; 0 for a negative one.
  var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    return seconds < 0 ? 0 : UInt64(seconds) &* 1_000_000_000 &+ UInt64(max(0, attoseconds) / 1_000_000_000)
  }

  /// The duration in milliseconds.
  public var milliseconds: Double { Double(wholeNanoseconds) / 1e6 }
}
