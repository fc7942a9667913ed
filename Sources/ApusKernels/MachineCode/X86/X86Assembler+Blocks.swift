/// How generated functions of ``GeneratedArguments`` begin and end.
extension X86Assembler {
  private static let kept: [General] = [.rbx, .rbp, .r12, .r13, .r14, .r15]

  /// Saves the registers that a function must keep; `r8` becomes the first row, `r14` the first output, and `r15` the
  /// count of blocks.
  mutating func enter() {
    for register in Self.kept { push(register) }
    load(.r8, .init(.rdi, GeneratedArguments.offset(\.rows)))
    load(.r14, .init(.rdi, GeneratedArguments.offset(\.output)))
    load(.r15, .init(.rdi, GeneratedArguments.offset(\.blocks)))
  }

  /// Restores them and returns.
  mutating func leave() {
    zeroUpper()
    for register in Self.kept.reversed() { pop(register) }
    `return`()
  }
}
