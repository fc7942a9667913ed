// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

@Suite("SharingTrial")
struct SharingTrialTests {
  /// How many of so many runs use all threads, where a run takes so long with them and without.
  private func sharedRuns(of count: Int, shared: Int, alone: Int, trial: inout SharingTrial) -> Int {
    var now = 0
    var result = 0
    for _ in 0..<count {
      let shares = trial.begin(at: now)
      now += shares ? shared : alone
      trial.end(at: now)
      result += shares ? 1 : 0
    }
    return result
  }

  @Test("the faster way is kept, whichever it is", arguments: [(10, 20), (20, 10), (10, 10)])
  func choice(shared: Int, alone: Int) {
    var trial = SharingTrial(threadCount: 2)
    let runs = sharedRuns(of: 10_000, shared: 1_000 * shared, alone: 1_000 * alone, trial: &trial)
    #expect(shared < alone ? runs > 9_700 : runs < 300)
  }

  @Test("what becomes slower is given up")
  func change() {
    var trial = SharingTrial(threadCount: 2)
    _ = sharedRuns(of: 10_000, shared: 10_000, alone: 20_000, trial: &trial)
    let runs = sharedRuns(of: 20_000, shared: 40_000, alone: 20_000, trial: &trial)
    #expect(runs < 5_000)
  }

  @Test("long runs always use all threads, and those of one thread are not tried", arguments: [1, 2])
  func noTrial(threads: Int) {
    var trial = SharingTrial(threadCount: threads)
    #expect(sharedRuns(of: 1_000, shared: 3_000_000, alone: 2_000_000, trial: &trial) == 1_000)
  }
}
