// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What writes the code of one function; equal generators write the same.
///
/// Generators are `Hashable`, but the protocol is not: to set that up for each type of generator takes longer than to make
/// a function.
package protocol CodeGenerator: Sendable {
  /// The code of a function of one argument, the address of its arguments; nil if registers do not suffice.
  func generate() -> [UInt8]?

  /// The address of the function, which is made once for the process; nil where it cannot be placed. It can run after
  /// the next ``ExecutableMemory/seal()``.
  /// `withinLimit: false` is for the few functions that a run cannot do without.
  func place(withinLimit: Bool) -> UnsafeRawPointer?

  /// Whether another generator is the same.
  func equals(_ other: any CodeGenerator) -> Bool

  /// A number that equal generators share.
  var hash: Int { get }
}

// There are no others, but as requirements these are compiled for each type of generator.
extension CodeGenerator where Self: Hashable {
  package func equals(_ other: any CodeGenerator) -> Bool {
    if let other = other as? Self { return self == other }
    return false
  }

  package var hash: Int {
    var hasher = Hasher()
    hash(into: &hasher)
    return hasher.finalize()
  }
}

extension CodeGenerator {
  package func place(withinLimit: Bool) -> UnsafeRawPointer? {
    unsafe CodeCache.function(self, withinLimit: withinLimit)
  }

  /// The address of the function, as long as the limit for code is not reached.
  package func place() -> UnsafeRawPointer? { unsafe place(withinLimit: true) }
}

/// Places a generator's code and returns its address; nil where that is refused. The code can run after the next
/// ``ExecutableMemory/seal()``.
package typealias CodePlacement = @Sendable (any CodeGenerator) -> UnsafeRawPointer?

/// The functions generated so far, by what they do: made once for the process and shared.
enum CodeCache {
  private static let functions = Mutex(Functions())

  /// A function and the generator that wrote it.
  private struct Function: Sendable {
    let generator: any CodeGenerator
    let hash: Int
    /// Zero where the code could not be placed.
    let address: Int
  }

  /// Functions that are found by their generators.
  private struct Functions {
    private var all: [Function] = []
    /// Where functions of a hash are, of all but the first ones.
    private var places: [Int: [Int]] = [:]
    /// A model has some tens of functions: comparing each hash is faster than to make a dictionary of them.
    private static let comparedCount = 256
    /// Refusals beyond these are not remembered: hostile models can ask for any number of functions.
    private static let refusalLimit = 4_096
    private var refusalCount = 0

    /// The address of a generator's function; zero if that was refused, nil if nobody asked for it yet.
    func address(_ generator: any CodeGenerator, hash: Int) -> Int? {
      place(generator, hash: hash).map { all[$0].address }
    }

    /// Remembers a function, in place of a refusal of the same.
    mutating func remember(_ function: Function) {
      if let place = place(function.generator, hash: function.hash) {
        all[place] = function
        return
      }
      if function.address == 0 {
        refusalCount += 1
        guard refusalCount <= Self.refusalLimit else { return }
      }
      if all.count >= Self.comparedCount { places[function.hash, default: []].append(all.count) }
      all.append(function)
    }

    private func place(_ generator: any CodeGenerator, hash: Int) -> Int? {
      for index in 0..<min(all.count, Self.comparedCount)
      where all[index].hash == hash && generator.equals(all[index].generator) {
        return index
      }
      guard all.count > Self.comparedCount else { return nil }
      for index in places[hash] ?? [] where generator.equals(all[index].generator) { return index }
      return nil
    }
  }

  /// The address of the function that a generator writes; nil where it cannot be placed.
  fileprivate static func function(_ generator: any CodeGenerator, withinLimit: Bool) -> UnsafeRawPointer? {
    let hash = generator.hash
    if let known = functions.withLock({ $0.address(generator, hash: hash) }), known != 0 || withinLimit {
      return unsafe UnsafeRawPointer(bitPattern: known)
    }
    if withinLimit, ExecutableMemory.isFull { return nil }
    let place = unsafe generator.generate().flatMap {
      unsafe ExecutableMemory.append($0, withinLimit: withinLimit)
    }
    let made = Function(generator: generator, hash: hash, address: Int(bitPattern: place))
    let address = functions.withLock { functions in
      if let known = functions.address(generator, hash: hash), known != 0 { return known }
      functions.remember(made)
      return made.address
    }
    return unsafe UnsafeRawPointer(bitPattern: address)
  }
}
