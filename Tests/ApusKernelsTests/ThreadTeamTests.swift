// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("ThreadTeam")
struct ThreadTeamTests {
  /// Counts how often each tile is done, and notes a worker number out of range or used twice at a time.
  final class Tally: Sendable {
    let counts: Mutex<[Int]>
    let faults = Atomic<Int>(0)
    let atWork: [Cell]

    final class Cell: Sendable {
      let isTaken = Atomic<Bool>(false)
    }

    init(tiles: Int, workers: Int) {
      counts = Mutex(Array(repeating: 0, count: tiles))
      atWork = (0..<workers).map { _ in Cell() }
    }

    func enter(tile: Int, worker: Int) {
      guard worker < atWork.count, tile < counts.withLock({ $0.count }) else {
        faults.wrappingAdd(1, ordering: .relaxed)
        return
      }
      if atWork[worker].isTaken.exchange(true, ordering: .acquiring) {
        faults.wrappingAdd(1, ordering: .relaxed)
      }
      counts.withLock { $0[tile] += 1 }
      atWork[worker].isTaken.store(false, ordering: .releasing)
    }
  }

  struct Counting: TileWork {
    let tally: Tally

    func run(tile: Int, worker: Int) {
      tally.enter(tile: tile, worker: worker)
    }
  }

  struct Nesting: TileWork {
    let team: ThreadTeam
    let tallies: [Tally]

    func run(tile: Int, worker: Int) {
      team.run(tiles: 17, Counting(tally: tallies[tile]))
    }
  }

  @Test("every tile is done exactly once", arguments: 1...8)
  func everyTileOnce(count: Int) {
    let team = ThreadTeam(count: count)
    for tiles in [0, 1, 2, 3, 7, 64, 1_000] {
      let tally = Tally(tiles: tiles, workers: count)
      team.run(tiles: tiles, Counting(tally: tally))
      #expect(tally.counts.withLock { $0.allSatisfy { $0 == 1 } })
      #expect(tally.faults.load(ordering: .relaxed) == 0)
    }
  }

  @Test("a run inside a run does every tile exactly once", arguments: [1, 2, 5])
  func nested(count: Int) {
    let team = ThreadTeam(count: count)
    let tallies = (0..<9).map { _ in Tally(tiles: 17, workers: count) }
    team.run(tiles: 9, Nesting(team: team, tallies: tallies))
    for tally in tallies {
      #expect(tally.counts.withLock { $0.allSatisfy { $0 == 1 } })
      #expect(tally.faults.load(ordering: .relaxed) == 0)
    }
  }

  @Test("callers on several threads each get all their tiles done")
  func concurrentCallers() async {
    await withTaskGroup(of: Int.self) { group in
      for caller in 0..<6 {
        group.addTask {
          var wrong = 0
          for round in 0..<200 {
            let team = ThreadTeam(count: 1 + (caller + round) % 4)
            let tally = Tally(tiles: 33, workers: team.count)
            team.run(tiles: 33, Counting(tally: tally))
            wrong += tally.counts.withLock { $0.allSatisfy { $0 == 1 } } ? 0 : 1
            wrong += tally.faults.load(ordering: .relaxed)
          }
          return wrong
        }
      }
      for await wrong in group { #expect(wrong == 0) }
    }
  }

  @Test("workers that fell asleep wake again, or need not", arguments: [0, 10_000, 1_000_000])
  func sleepers(nanoseconds: Int) {
    for round in 0..<40 {
      let team = ThreadTeam(count: 3).fitting(nanoseconds: nanoseconds)
      // Now and then more tiles than are done before others are woken.
      let tiles = round % 4 == 0 ? 5_000 : 50
      let tally = Tally(tiles: tiles, workers: 3)
      team.run(tiles: tiles, Counting(tally: tally))
      #expect(tally.counts.withLock { $0.allSatisfy { $0 == 1 } })
      usleep(2_000)
    }
  }

  @Test("a team's count is brought into range")
  func count() {
    #expect(ThreadTeam(count: -1).count == 1)
    #expect(ThreadTeam(count: 0).count == 1)
    #expect(ThreadTeam(count: 1_000).count == ThreadTeam.maximumCount)
  }
}
