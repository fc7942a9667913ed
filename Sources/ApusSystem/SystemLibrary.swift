// SPDX-License-Identifier: Apache-2.0

/// Libraries of the system that a report names.
package enum SystemLibrary {
  /// Loads the first of these libraries that the system has, and returns its file; nil if it has none of them.
  ///
  /// - Parameters:
  ///   - names: What `dlopen` is asked for.
  ///   - symbol: A function of the library. Without it, the library does not count.
  package static func file(of names: [String], with symbol: String) -> String? {
    for name in names {
      guard let handle = unsafe dlopen(name, RTLD_LAZY | RTLD_LOCAL) else { continue }
      guard let address = unsafe dlsym(handle, symbol) else {
        unsafe dlclose(handle)
        continue
      }
      return mappedFile(at: UInt(bitPattern: address)) ?? name
    }
    return nil
  }

  /// The file that is mapped at an address, as `/proc/self/maps` says; nil where there is no such list.
  private static func mappedFile(at address: UInt) -> String? {
    guard let list = unsafe fopen("/proc/self/maps", "r") else { return nil }
    defer { unsafe fclose(list) }
    var line = [CChar](repeating: 0, count: 8192)
    while unsafe fgets(&line, Int32(line.count), list) != nil {
      // 7f12a000-7f13b000 r-xp 00000000 08:01 1234   /usr/lib/libpng16.so.16.39.0
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let bounds = text.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard bounds.count == 2, bounds[0] <= address, address < bounds[1] else { continue }
      return text.firstIndex(of: "/").map { String(text[$0...].prefix { !$0.isNewline }) }
    }
    return nil
  }
}
