// SPDX-License-Identifier: Apache-2.0
import Apus
import Foundation

/// One run of jobs on an instance, with answers to each of them.
struct Execution {
  private let model: ServedModel
  private let jobs: [Job]
  private let instance: ModelInstance
  private let cancellation: Cancellation

  init(_ model: ServedModel, _ jobs: [Job], _ instance: ModelInstance, _ cancellation: Cancellation) {
    self.model = model
    self.jobs = jobs
    self.instance = instance
    self.cancellation = cancellation
  }

  func run(from start: ContinuousClock.Instant) {
    let requests = jobs.compactMap { job -> InferenceRequest? in
      if case .tensors(let request) = job.work { request } else { nil }
    }
    if let job = jobs.first, case .picture(let task) = job.work {
      run(task, for: job, start)
    } else if requests.count == jobs.count {
      run(requests, for: jobs, start)
    }
  }

  private func run(_ requests: [InferenceRequest], for jobs: [Job], _ start: ContinuousClock.Instant) {
    let total = requests.reduce(0) { $0 + $1.batch }
    do throws(ApusError) {
      let (outputs, warnings, timings) = try instance.run(requests, cancellation: cancellation)
      let hasBatch = outputs.allSatisfy { $0.shape.first == total }
      guard jobs.count == 1 || hasBatch else {
        throw ApusError(.internalError, "the outputs of \(total) items have another first dimension")
      }
      model.statistics.recordExecution(
        items: total, requests: jobs.count, input: timings.input, infer: timings.infer, output: timings.output
      )
      var item = 0
      for (number, (job, request)) in zip(jobs, requests).enumerated() {
        let items = jobs.count == 1 ? 0..<total : item..<item + request.batch
        item += request.batch
        let answer = try InferenceAnswer(
          to: request, of: model, outputs: outputs, items: items, total: total, warnings: warnings[number],
          cancellation: cancellation)
        succeed(job, .tensors(answer), start, items: request.batch)
      }
    } catch {
      // One bad picture, or index, must not cost the others their answers.
      if jobs.count > 1, error.code != .cancelled {
        if error.code == .internalError { model.allow(Joining(count: 1, reason: error.message)) }
        for (job, request) in zip(jobs, requests) where !job.isDone { run([request], for: [job], start) }
      } else {
        for job in jobs { job.finish(.failure(ServingError(ofRequest: error))) }
      }
    }
  }

  private func run(_ task: PictureTask, for job: Job, _ start: ContinuousClock.Instant) {
    do throws(ApusError) {
      let answer = try task.run(on: instance, cancellation: cancellation)
      let timings = answer.timings
      model.statistics.recordExecution(
        items: 1, requests: 1, input: timings.preprocess,
        infer: timings.inference,
        output: timings.postprocess)
      succeed(job, .picture(answer), start, items: 1)
    } catch {
      job.finish(.failure(ServingError(ofRequest: error)))
    }
  }

  private func succeed(_ job: Job, _ outcome: Job.Outcome, _ start: ContinuousClock.Instant, items: Int) {
    guard !job.isDone else { return }
    let now = ContinuousClock.now
    model.statistics.recordSuccess(
      now - job.readiness, queue: max(.zero, start - job.readiness), items: items,
      at: UInt64(max(0, Date().timeIntervalSince1970 * 1_000)))
    job.finish(.success(outcome))
  }
}
