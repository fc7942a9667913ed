// SPDX-License-Identifier: Apache-2.0
import Apus

/// The jobs that wait for a model, the jobs that run, and the free instances. The scheduler's lock guards it.
final class ModelQueue {
  /// An instance on its way between the pool of a model and the one thread that uses it.
  struct Lent: @unchecked Sendable {
    let instance: ModelInstance
  }

  let model: ServedModel
  /// By priority, then by arrival.
  var jobs: [Job] = []
  var running: [ObjectIdentifier: [Job]] = [:]
  var idle: [Lent] = []
  /// The time used, for turns between models.
  var used = Duration.zero
  var isWatched = false
  var isRetired = false
  private let hasFixedWork: Bool
  private var briefRuns = 0
  private var briefShapes: [[Int]] = []

  /// Makes an empty queue.
  ///
  /// - Parameter hasFixedWork: Whether the shapes of its inputs alone say what a run of the model does.
  init(_ model: ServedModel, hasFixedWork: Bool) {
    self.model = model
    self.hasFixedWork = hasFixedWork
  }

  /// Whether nothing waits or runs.
  var isEmpty: Bool { jobs.isEmpty && running.isEmpty }

  /// Puts a job behind those of its priority.
  func insert(_ job: Job) {
    // Mostly it goes to the end.
    var place = jobs.count
    while place > 0, jobs[place - 1].priority > job.priority { place -= 1 }
    jobs.insert(job, at: place)
  }

  /// Takes out what waits past its deadline; the result has what runs past it, too.
  func takeLate(_ now: ContinuousClock.Instant) -> [Job] {
    let isLate = { (job: Job) in job.deadline.map { $0 <= now } ?? false }
    let late = jobs.filter(isLate) + running.values.flatMap { $0.filter(isLate) }
    jobs.removeAll(where: isLate)
    return late
  }

  /// How long the queue waits for others to join its first request: zero if it can run now, nil if it is empty.
  func waitingTime(_ now: ContinuousClock.Instant, delay: Duration) -> Duration? {
    guard let first = jobs.first else { return nil }
    let limit = model.joining.count
    guard delay > .zero, limit > 1, first.mayJoin else { return .zero }
    var items = 0
    var oldest = first.readiness
    for job in jobs {
      items += job.items
      oldest = min(oldest, job.readiness)
    }
    return items >= limit ? .zero : max(.zero, oldest + delay - now)
  }

  /// Takes the first job and those that may run with it.
  func nextJobs(_ now: ContinuousClock.Instant, _ expired: inout [Job]) -> [Job] {
    var taken: [Job] = []
    var rest: [Job] = []
    var items = 0
    let limit = model.joining.count
    for job in jobs {
      if job.isDone { continue }
      if let deadline = job.deadline, deadline <= now {
        expired.append(job)
      } else if let first = taken.first {
        if items + job.items <= limit, first.mayJoin, job.mayJoin {
          taken.append(job)
          items += job.items
        } else {
          rest.append(job)
        }
      } else {
        taken.append(job)
        items = job.items
      }
    }
    jobs = rest
    return taken
  }

  // MARK: Brief runs

  /// Runs up to this long are brief: a change of threads and back takes about as long.
  private static let brief = Duration.microseconds(50)
  /// The number of successive brief runs of the same shapes after which the next run is expected to be brief.
  private static let enoughBriefRuns = 16

  /// Notes how long jobs took together.
  func note(_ jobs: [Job], took: Duration) {
    used += took
    guard hasFixedWork, took <= Self.brief, let shapes = jobs.first?.shapes, jobs.count == 1 else {
      briefRuns = 0
      return
    }
    if shapes != briefShapes {
      briefShapes = shapes
      briefRuns = 0
    }
    briefRuns += 1
  }

  /// Whether a run for a job is known to be brief: its work is fixed, and the last ones of its shapes were.
  func isBrief(_ job: Job) -> Bool {
    guard briefRuns >= Self.enoughBriefRuns, let shapes = job.shapes else { return false }
    return shapes == briefShapes
  }
}

extension Job {
  /// The shapes of a request's inputs, where they alone say what the request takes; nil for pictures, which must be decoded, and for
  /// classes, which must be sorted.
  fileprivate var shapes: [[Int]]? {
    guard case .tensors(let request) = work, request.outputs.allSatisfy({ $0.classes == nil }) else {
      return nil
    }
    var shapes: [[Int]] = []
    for input in request.inputs {
      guard case .elements = input.contents else { return nil }
      shapes.append(input.shape)
    }
    return shapes
  }

  /// Whether it may share a run: it is for tensors, of the shapes for which that is proved.
  fileprivate var mayJoin: Bool {
    guard case .tensors(let request) = work else { return false }
    return zip(request.inputs, model.inputs).allSatisfy {
      $0.shape.dropFirst() == $1.defaultShape.dropFirst()
    }
  }
}
