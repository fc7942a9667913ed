// SPDX-License-Identifier: Apache-2.0

/// The type of a function that C declares as `void (*)(context, const char *format, ...)`.
///
/// Swift cannot define variadic functions. On Linux, x86-64 and arm64 pass variadic arguments as any others: integers and pointers in
/// registers of their own, then floats in theirs, the rest on the stack. So a function with that many parameters of both kinds receives
/// them in order. Parameters that the caller did not pass contain whatever is there; the format says how many count.
typealias VariadicReport =
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafePointer<CChar>?,
    Int, Int, Int, Int,
    Double, Double, Double, Double, Double, Double, Double, Double,
    Int, Int, Int, Int, Int, Int
  ) -> Void

/// Formats a message of an operator's, and reports it.
let reportVariadically: VariadicReport = {
  context, format, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r in
  guard let format else { return }
  var arguments = PassedArguments(
    words: [a, b, c, d], floats: [e, f, g, h, i, j, k, l], stack: [m, n, o, p, q, r])
  let message = String(format: format, &arguments)
  onContext(context, failure: ()) { $0.reporter.report(message) }
}

/// Arguments as the parameters of a function received them.
private struct PassedArguments: VariableArguments {
  private var words: [Int]
  private var floats: [Double]
  private var stack: [Int]

  init(words: [Int], floats: [Double], stack: [Int]) {
    self.words = words
    self.floats = floats
    self.stack = stack
    #if arch(arm64)
      // Two more registers, which are the first words of the stack on x86-64.
      self.words += stack.prefix(2)
      self.stack.removeFirst(2)
    #endif
  }

  mutating func nextWord() -> Int? {
    if !words.isEmpty { return words.removeFirst() }
    return stack.isEmpty ? nil : stack.removeFirst()
  }

  mutating func nextFloat() -> Double? {
    if !floats.isEmpty { return floats.removeFirst() }
    return stack.isEmpty ? nil : Double(bitPattern: UInt64(bitPattern: Int64(stack.removeFirst())))
  }
}
