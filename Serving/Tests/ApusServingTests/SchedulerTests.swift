// SPDX-License-Identifier: Apache-2.0
import ApusServing
import NIOCore
import NIOPosix
import Testing

/// Queues, deadlines and ends, with the embedded model.
@Suite struct SchedulerTests {
  private struct Setting {
    let scheduler: Scheduler
    let model: ServedModel
    let request: InferenceRequest

    init(_ change: (inout Scheduler.Configuration) -> Void = { _ in }) throws {
      var configuration = Scheduler.Configuration()
      change(&configuration)
      scheduler = Scheduler(configuration, timers: MultiThreadedEventLoopGroup.singleton.any())
      model = try ServedModel(.embedded, maximumBatch: 8)
      try scheduler.prepare(model)
      let input = model.inputs[0]
      // An open first dimension is that of a batch.
      let shape = input.shape.map { max($0, 1) }
      let count = shape.reduce(1, *)
      request = try model.check(
        RequestDescription(
          inputs: [
            .init(
              name: input.name, datatype: input.datatype.rawValue, shape: shape,
              data: .raw(ByteChunks(ByteBuffer(repeating: 7, count: count * (input.datatype.byteCount ?? 1))))
            )
          ], isBinary: true))
    }

    func infer(presence: Presence? = nil, arrival: ContinuousClock.Instant = .now) async throws(ServingError)
      -> [ByteBuffer]
    {
      try await scheduler.infer(request, on: model, arrival: arrival, presence: presence).outputs.map(
        \.elements)
    }
  }

  @Test("many requests at once have the answer of one")
  func answers() async throws {
    let setting = try Setting { $0.instances = 2 }
    let expected = try await setting.infer()
    #expect(!expected.isEmpty)
    try await withThrowingTaskGroup(of: [ByteBuffer].self) { group in
      for _ in 0..<50 { group.addTask { try await setting.infer() } }
      for try await found in group { #expect(found == expected) }
    }
    #expect(setting.scheduler.waitingCount(of: setting.model) == 0)
    await setting.scheduler.stop()
  }

  @Test("a request whose deadline has passed is not run")
  func deadline() async throws {
    let setting = try Setting { $0.deadline = .seconds(5) }
    let error = await #expect(throws: ServingError.self) {
      // The embedded model's runs may be as brief as that no queue is needed: the deadline is held before.
      try await setting.infer(arrival: .now - .seconds(6))
    }
    #expect(error?.kind == .deadlineExceeded)
    await setting.scheduler.stop()
  }

  @Test("a full queue refuses")
  func fullQueue() async throws {
    let setting = try Setting { $0.maximumQueue = 0 }
    let error = await #expect(throws: ServingError.self) { try await setting.infer() }
    #expect(error?.kind == .queueFull)
    await setting.scheduler.stop()
  }

  @Test("a client that is gone is not waited for")
  func presence() async throws {
    let setting = try Setting()
    let presence = Presence()
    presence.leave()
    let error = await #expect(throws: ServingError.self) { try await setting.infer(presence: presence) }
    #expect(error?.kind == .cancelled)
    _ = try await setting.infer()
    await setting.scheduler.stop()
  }

  @Test("behind the end all is refused")
  func ending() async throws {
    let setting = try Setting()
    setting.scheduler.end()
    let error = await #expect(throws: ServingError.self) { try await setting.infer() }
    #expect(error?.kind == .unavailable)
    await setting.scheduler.stop()
  }

  @Test("a retired model answers what it was asked before, and is forgotten")
  func retiring() async throws {
    let setting = try Setting()
    setting.scheduler.retire(setting.model)
    _ = try await setting.infer()
    #expect(setting.scheduler.waitingCount(of: setting.model) == 0)
    await setting.scheduler.stop()
  }
}
