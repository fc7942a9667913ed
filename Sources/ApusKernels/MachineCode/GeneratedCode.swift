import Synchronization

/// The functions generated so far, by what they do: made once for the process and shared.
enum GeneratedCode {
  private static let functions = Mutex<[AnyKey: UnsafeAddress]>([:])

  /// A key of any generator, compared by type and value.
  private struct AnyKey: Hashable, @unchecked Sendable {
    let value: AnyHashable
  }

  private struct UnsafeAddress: @unchecked Sendable {
    let address: UnsafeRawPointer?
  }

  /// The address of the function that a generator writes; nil where it cannot be placed.
  static func function(_ generator: any CodeGenerator) -> UnsafeRawPointer? {
    function(for: generator, generate: generator.generate)
  }

  /// The address of the function that `generate` writes for `key`; nil where it cannot be placed.
  static func function(for key: some Hashable, generate: () -> [UInt8]?) -> UnsafeRawPointer? {
    let key = AnyKey(value: AnyHashable(key))
    if let known = functions.withLock({ $0[key] }) { return known.address }
    let made = UnsafeAddress(address: generate().flatMap { ExecutableMemory.place($0) })
    return functions.withLock { functions in
      if let known = functions[key] { return known.address }
      functions[key] = made
      return made.address
    }
  }
}
