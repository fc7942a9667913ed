// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import Testing

@Suite("ThreadPolicy")
struct ThreadPolicyTests {
  @Test("runs with little work use one thread, others all that were asked for", arguments: [1, 2, 5])
  func runs(count: Int) {
    let team = ThreadTeam(count: count)
    #expect(team.forRun(nanoseconds: 0).count == 1)
    #expect(team.forRun(nanoseconds: ThreadPolicy.minimumRunNanoseconds - 1).count == 1)
    #expect(team.forRun(nanoseconds: ThreadPolicy.minimumRunNanoseconds).count == count)
    #expect(team.forRun(nanoseconds: .max).count == count)
  }

  @Test("work of about a microsecond is left to one thread")
  func work() {
    let team = ThreadTeam(count: 3)
    #expect(team.fitting(nanoseconds: ThreadPolicy.minimumNanoseconds - 1).count == 1)
    #expect(team.fitting(nanoseconds: ThreadPolicy.minimumNanoseconds).count == 3)
  }

  @Test("the choice is the same in the first run and in the thousandth")
  func history() {
    let team = ThreadTeam(count: 2)
    let counts = (0..<1_000).map { run in
      let work = run % 2 == 0 ? 100_000 : 10_000
      let team = team.forRun(nanoseconds: work)
      return [team.count, team.fitting(nanoseconds: 3_000).count]
    }
    #expect(counts == (0..<1_000).map { $0 % 2 == 0 ? [2, 2] : [1, 1] })
  }

  @Test("no count overflows an estimate")
  func estimates() {
    #expect(ThreadPolicy.nanoseconds(multiplyAccumulates: 6_400, elements: 80) == 110)
    #expect(ThreadPolicy.nanoseconds(multiplyAccumulates: .max, elements: .max) > 1 << 50)
  }
}
