// SPDX-License-Identifier: Apache-2.0

/// The arguments of a variadic function in C, in order.
protocol VariableArguments {
  /// The next integer or pointer; nil if there can be no more.
  mutating func nextWord() -> Int?
  /// The next float; nil if there can be no more.
  mutating func nextFloat() -> Double?
}

/// A `va_list` of a client, which every supported ABI passes as a pointer.
struct ArgumentList: VariableArguments {
  private let list: UnsafeMutableRawPointer

  init(_ list: UnsafeMutableRawPointer) { self.list = list }

  #if os(Linux) && arch(x86_64)
    // Two offsets into the saved registers, then the arguments on the stack, then the saved registers.
    mutating func nextWord() -> Int? { next(offset: 0, end: 48, stride: 8) }

    mutating func nextFloat() -> Double? {
      next(offset: 4, end: 176, stride: 16).map { Double(bitPattern: UInt64(bitPattern: Int64($0))) }
    }

    private func next(offset place: Int, end: UInt32, stride: UInt32) -> Int? {
      let offset = list.load(fromByteOffset: place, as: UInt32.self)
      if offset < end, let saved = list.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) {
        list.storeBytes(of: offset + stride, toByteOffset: place, as: UInt32.self)
        return saved.load(fromByteOffset: Int(offset), as: Int.self)
      }
      guard let stack = list.load(fromByteOffset: 8, as: UnsafeRawPointer?.self) else { return nil }
      list.storeBytes(of: stack + 8, toByteOffset: 8, as: UnsafeRawPointer.self)
      return stack.load(as: Int.self)
    }
  #elseif os(Linux) && arch(arm64)
    // The arguments on the stack, the ends of the saved registers, and offsets back from these ends.
    mutating func nextWord() -> Int? { next(end: 8, offset: 24, stride: 8) }

    mutating func nextFloat() -> Double? {
      next(end: 16, offset: 28, stride: 16).map { Double(bitPattern: UInt64(bitPattern: Int64($0))) }
    }

    private func next(end: Int, offset place: Int, stride: Int32) -> Int? {
      let offset = list.load(fromByteOffset: place, as: Int32.self)
      if offset < 0, let saved = list.load(fromByteOffset: end, as: UnsafeRawPointer?.self) {
        list.storeBytes(of: offset + stride, toByteOffset: place, as: Int32.self)
        return saved.load(fromByteOffset: Int(offset), as: Int.self)
      }
      guard let stack = list.load(as: UnsafeRawPointer?.self) else { return nil }
      list.storeBytes(of: stack + 8, as: UnsafeRawPointer.self)
      return stack.load(as: Int.self)
    }
  #else
    // The pointer is to the arguments themselves, which the function cannot move on: one argument is enough here.
    mutating func nextWord() -> Int? { nil }
    mutating func nextFloat() -> Double? { nil }
  #endif

  /// Calls a function with a `va_list` of words.
  static func with(_ words: [Int], _ body: (UnsafeMutableRawPointer?) -> Void) {
    var words = words
    words.withUnsafeMutableBytes { arguments in
      #if os(Linux) && arch(x86_64)
        var list = (UInt64(48) | UInt64(176) << 32, arguments.baseAddress, nil as UnsafeMutableRawPointer?)
        withUnsafeMutableBytes(of: &list) { body($0.baseAddress) }
      #elseif os(Linux) && arch(arm64)
        var list = (
          arguments.baseAddress, nil as UnsafeMutableRawPointer?, nil as UnsafeMutableRawPointer?, Int32(0),
          Int32(0)
        )
        withUnsafeMutableBytes(of: &list) { body($0.baseAddress) }
      #else
        body(arguments.baseAddress)
      #endif
    }
  }
}
