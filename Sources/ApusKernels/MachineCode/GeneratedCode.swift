import Synchronization

/// What writes the code of one function; equal generators write the same.
package protocol CodeGenerator: Hashable, Sendable {
  /// The code of a function of one argument, the address of its arguments; nil only if the generator is wrong.
  func generate() -> [UInt8]?

  /// The address of the function, which is made once for the process; nil where it cannot be placed. It can run after
  /// the next ``ExecutableMemory/seal()``.
  /// Where few are made of need, the limit for code may be passed.
  func place(withinLimit: Bool) -> UnsafeRawPointer?
}

extension CodeGenerator {
  // There is no other, but as a requirement it is compiled for each type of generator.
  package func place(withinLimit: Bool) -> UnsafeRawPointer? {
    GeneratedCode.function(self, withinLimit: withinLimit)
  }

  /// The address of the function, as long as the limit for code is not reached.
  package func place() -> UnsafeRawPointer? { place(withinLimit: true) }
}

/// Places a generator's code, and answers its address; nil where that is refused. The code can run after the next
/// ``ExecutableMemory/seal()``.
package typealias CodePlacement = @Sendable (any CodeGenerator) -> UnsafeRawPointer?

/// The functions generated so far, by what they do: made once for the process and shared.
enum GeneratedCode {
  private static let functions = Mutex<[Function]>([])

  /// A function and the generator that wrote it.
  private struct Function: @unchecked Sendable {
    let generator: any CodeGenerator
    let hash: Int
    /// Nil where the code could not be placed.
    let address: UnsafeRawPointer?
  }

  /// The address of the function that a generator writes; nil where it cannot be placed.
  fileprivate static func function<Generator: CodeGenerator>(
    _ generator: Generator, withinLimit: Bool
  ) -> UnsafeRawPointer? {
    // A model has some tens of functions: looking at each hash is faster than to make a dictionary of them.
    let hash = generator.hashValue
    func known(_ functions: [Function]) -> Function? {
      for index in functions.indices
      where functions[index].hash == hash && functions[index].generator as? Generator == generator {
        return functions[index]
      }
      return nil
    }
    if let known = functions.withLock({ known($0) }), withinLimit || known.address != nil {
      return known.address
    }
    let made = Function(
      generator: generator, hash: hash,
      address: generator.generate().flatMap { ExecutableMemory.append($0, withinLimit: withinLimit) })
    return functions.withLock { functions in
      if let known = known(functions), known.address != nil { return known.address }
      functions.append(made)
      return made.address
    }
  }
}
