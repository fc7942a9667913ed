// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Writes the code of one function. Equal generators write equal code.
///
/// Conformers are `Hashable`, but the protocol does not require it: setting up that conformance at run time takes longer,
/// for each type of generator, than generating a function.
@usableFromInline package protocol CodeGenerator: Sendable {
  /// The code of a function of one argument, the address of its arguments; nil if registers do not suffice.
  func generate() -> [UInt8]?

  /// The address of the function, which is generated once for the process; nil if it cannot be placed. It can run after
  /// the next ``ExecutableMemory/seal()``.
  ///
  /// - Parameter withinLimit: false for the few functions that a run requires even beyond the limit for code.
  func place(withinLimit: Bool) -> UnsafeRawPointer?

  /// Whether another generator is equal, and of the same type.
  func equals(_ other: any CodeGenerator) -> Bool

  /// A hash value: equal for equal generators.
  var hash: Int { get }
}

// All generators are `Hashable`. As requirements, these two are compiled for each type of generator.
extension CodeGenerator where Self: Hashable {
  @inlinable package func equals(_ other: any CodeGenerator) -> Bool {
    if let other = other as? Self { return self == other }
    return false
  }

  @inlinable package var hash: Int {
    var hasher = Hasher()
    hash(into: &hasher)
    return hasher.finalize()
  }
}

extension CodeGenerator {
  package func place(withinLimit: Bool) -> UnsafeRawPointer? {
    unsafe CodeCache.function(self, withinLimit: withinLimit)
  }

  /// The address of the function; nil if it cannot be placed within the limit for code.
  package func place() -> UnsafeRawPointer? { unsafe place(withinLimit: true) }
}

/// Places a generator's code and returns its address, or nil if the system refuses. The code can run after the next
/// ``ExecutableMemory/seal()``.
package typealias CodePlacement = @Sendable (any CodeGenerator) -> UnsafeRawPointer?

/// The functions generated so far, by their generators: one for equal generators in the whole process.
enum CodeCache {
  private static let functions = Mutex(Functions())

  /// A function and the generator that wrote it.
  private struct Function: Sendable {
    let generator: any CodeGenerator
    let hash: Int
    /// The address; zero if the code could not be placed.
    let address: Int
  }

  /// Functions that are found by their generators.
  private struct Functions {
    private var all: [Function] = []
    /// The indices in `all` by hash, for functions beyond the first ``comparedCount``.
    private var places: [Int: [Int]] = [:]
    /// A model has tens of functions: comparing each hash is faster than building a dictionary.
    private static let comparedCount = 256
    /// The maximum number of refusals that are remembered: hostile models can request any number of functions.
    private static let refusalLimit = 4_096
    private var refusalCount = 0

    /// The address of a generator's function; zero if it was refused, nil if it was never requested.
    func address(_ generator: any CodeGenerator, hash: Int) -> Int? {
      place(generator, hash: hash).map { all[$0].address }
    }

    /// Remembers a function; it replaces an earlier refusal.
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

  /// The address of the function that a generator writes; nil if it cannot be placed.
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
