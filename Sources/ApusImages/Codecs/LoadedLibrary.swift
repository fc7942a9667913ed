// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// A library of the system that is used where it is present: building needs no package for it.
///
/// It stays loaded for the whole process.
@safe struct LoadedLibrary: Sendable {
  private nonisolated(unsafe) let handle: UnsafeMutableRawPointer

  /// Loads the first of these files that the system finds; nil if there is none.
  init?(_ names: [String]) {
    for name in names {
      if let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        unsafe self.handle = unsafe handle
        return
      }
    }
    return nil
  }

  /// A function of the library, whose type the caller knows from its header; nil if it has none of that name.
  func function<F>(_ name: String, _ type: F.Type = F.self) -> F? {
    guard let address = unsafe dlsym(handle, name) else { return nil }
    return unsafe unsafeBitCast(address, to: type)
  }
}
