import Synchronization

/// The functions generated so far, by what they do: made once for the process and shared.
enum GeneratedCode {
  private static let functions = Mutex<[Int: [Function]]>([:])

  /// A function and the generator that wrote it, of any type.
  private struct Function: @unchecked Sendable {
    let generator: Any
    /// Nil where the code could not be placed.
    let address: UnsafeRawPointer?
  }

  /// The address of the function that a generator writes; nil where it cannot be placed.
  static func function(_ generator: any CodeGenerator) -> UnsafeRawPointer? {
    function(for: generator, generate: generator.generate)
  }

  /// The address of the function that `generate` writes for `key`; nil where it cannot be placed.
  static func function<Key: Hashable & Sendable>(for key: Key, generate: () -> [UInt8]?) -> UnsafeRawPointer?
  {
    // Many types of keys share one table without the cost of `AnyHashable`, which asks for conformances each time.
    let hash = key.hashValue
    func known(_ functions: [Int: [Function]]) -> Function? {
      functions[hash]?.first { ($0.generator as? Key) == key }
    }
    if let known = functions.withLock({ known($0) }) { return known.address }
    let made = Function(generator: key, address: generate().flatMap { ExecutableMemory.place($0) })
    return functions.withLock { functions in
      if let known = known(functions) { return known.address }
      functions[hash, default: []].append(made)
      return made.address
    }
  }
}
