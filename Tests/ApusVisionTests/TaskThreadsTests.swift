// SPDX-License-Identifier: Apache-2.0

import ApusVision
import Dispatch
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct TaskThreadsTests {
  /// Numbers in the order in which work noted them.
  private final class Notes: Sendable {
    private let values = Mutex<[Int]>([])
    func add(_ value: Int) { values.withLock { $0.append(value) } }
    var all: [Int] { values.withLock { $0 } }
  }

  @Test("one thread does work in the order of its coming, each once", arguments: [1, 63, 64, 65, 1_000])
  func keepsOrder(count: Int) {
    let (threads, notes, done) = (TaskThreads(limit: 1), Notes(), DispatchGroup())
    for number in 0..<count {
      done.enter()
      threads.run {
        notes.add(number)
        done.leave()
      }
    }
    done.wait()
    #expect(notes.all == Array(0..<count))
  }

  @Test("as many pieces of work run at once as the limit says, and no more", arguments: [1, 2, 3])
  func heedsItsLimit(limit: Int) {
    let threads = TaskThreads(limit: limit)
    let running = Mutex((now: 0, most: 0))
    let (begun, ends, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
    for _ in 0..<(4 * limit) {
      done.enter()
      threads.run {
        running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        begun.signal()
        ends.wait()
        running.withLock { $0.now -= 1 }
        done.leave()
      }
    }
    for _ in 0..<limit { begun.wait() }
    #expect(begun.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
    for _ in 0..<(4 * limit) { ends.signal() }
    done.wait()
    #expect(running.withLock { $0.most } == limit)
  }

  @Test("work that comes while work runs, and after all has ended, is done")
  func takesWorkLater() {
    let (threads, notes) = (TaskThreads(limit: 1), Notes())
    for round in 0..<3 {
      let done = DispatchSemaphore(value: 0)
      threads.run {
        threads.run {
          notes.add(2 * round + 1)
          done.signal()
        }
        notes.add(2 * round)
      }
      done.wait()
    }
    #expect(notes.all == Array(0..<6))
  }

  @Test("many threads give work at once, and each piece is done once")
  func takesWorkFromManyThreads() {
    let (threads, notes, done) = (TaskThreads(limit: 2), Notes(), DispatchGroup())
    DispatchQueue.concurrentPerform(iterations: 8) { part in
      for number in 0..<200 {
        done.enter()
        threads.run {
          notes.add(part * 200 + number)
          done.leave()
        }
      }
    }
    done.wait()
    #expect(notes.all.sorted() == Array(0..<1_600))
  }
}
