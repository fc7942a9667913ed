// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An object that a client holds a pointer to.
protocol HandleObject: AnyObject, Sendable {
  /// The type's name in C, for messages.
  static var typeName: String { get }
}

/// All pointers that clients hold, and what they stand for. A pointer that is not in the table is refused, never followed.
///
/// Models, options, interpreters, runners, operators and delegates have no fields that clients read. Their pointers lie in
/// inaccessible pages (`PROT_NONE`), and each is given out once, so a freed one is never mistaken for a new one. The same holds for the
/// structures of ``StructureMemory``, whose fields clients read.
final class HandleTable: Sendable {
  /// The process's table.
  static let shared = HandleTable()

  private struct State {
    var objects: [UInt: any HandleObject] = [:]
    var next: UInt = 0
    var end: UInt = 0
  }

  private let state = Mutex(State())
  private static let stride: UInt = 16
  private static let reservation = 1 << 26

  /// Gives an object a pointer of its own; nil if the system refuses addresses.
  func add(_ object: any HandleObject) -> OpaquePointer? {
    state.withLock { state in
      if state.next == state.end {
        let memory = mmap(
          nil, Self.reservation, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        state.next = UInt(bitPattern: memory)
        state.end = state.next + UInt(Self.reservation)
      }
      let address = state.next
      state.next += Self.stride
      state.objects[address] = object
      return OpaquePointer(bitPattern: address)
    }
  }

  /// Enters an object whose fields clients read, under its address in ``StructureMemory``.
  func add(_ object: any HandleObject, at address: UnsafeMutableRawPointer) {
    state.withLock { $0.objects[UInt(bitPattern: address)] = object }
  }

  /// Forgets an address.
  func remove(_ address: UnsafeMutableRawPointer) {
    let removed = state.withLock { $0.objects.removeValue(forKey: UInt(bitPattern: address)) }
    withExtendedLifetime(removed) {}
  }

  /// The object behind a client's pointer.
  func object<T: HandleObject>(_ pointer: OpaquePointer?, _ type: T.Type = T.self) throws(Refusal) -> T {
    try object(address: UInt(bitPattern: pointer), type)
  }

  /// The object behind a client's pointer.
  func object<T: HandleObject>(_ pointer: UnsafeRawPointer?, _ type: T.Type = T.self) throws(Refusal) -> T {
    try object(address: UInt(bitPattern: pointer), type)
  }

  private func object<T: HandleObject>(address: UInt, _ type: T.Type) throws(Refusal) -> T {
    guard address != 0 else { throw Refusal("the \(T.typeName) is NULL") }
    guard let object = state.withLock({ $0.objects[address] }) else {
      throw Refusal(
        "0x\(String(address, radix: 16)) is no \(T.typeName) of this library, or a deleted one")
    }
    // Every class of handles is final, so that comparing types is enough, and faster than a cast.
    guard ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(T.self) else {
      throw Refusal(
        "0x\(String(address, radix: 16)) is a \(Swift.type(of: object).typeName), not a \(T.typeName)")
    }
    return unsafeDowncast(object, to: T.self)
  }

  /// Takes an object out of the table. NULL is no error, as for `free`.
  func delete<T: HandleObject>(_ pointer: OpaquePointer?, _ type: T.Type) {
    guard let pointer else { return }
    do throws(Refusal) {
      let object = try object(pointer, type)
      _ = state.withLock { $0.objects.removeValue(forKey: UInt(bitPattern: pointer)) }
      withExtendedLifetime(object) {}
    } catch { ErrorReporter.standard.report(error.message) }
  }
}
