// SPDX-License-Identifier: Apache-2.0

// Every failure is an ApusError: a code for the program, a sentence for people, and never a trap.
import Apus

func attempt(_ what: String, _ body: () throws(ApusError) -> Void) {
  do throws(ApusError) {
    try body()
  } catch {
    switch error.code {
    case .unreadableFile, .malformedModel: print("\(what): another file is needed:", error)
    case .unsupportedOperator: print("\(what): cannot run:", error.reasons.joined(separator: "; "))
    case .resourceLimit: print("\(what): too large:", error)
    default: print("\(what):", error)
    }
  }
}

attempt("a missing file") { () throws(ApusError) in
  _ = try Model(contentsOfFile: "missing.tflite")
}
attempt("a text") { () throws(ApusError) in
  _ = try Model(bytes: Array("not a model".utf8))
}
attempt("an unknown operator") { () throws(ApusError) in
  _ = try Interpreter(model: Model(contentsOfFile: "Models/scale.tflite"))
}
attempt("a wrong count") { () throws(ApusError) in
  let interpreter = try Interpreter(model: Model(contentsOfFile: "Models/weighted.tflite"))
  try interpreter.copy([1, 2, 3] as [Int8], toInputAt: 0)
}
attempt("little memory") { () throws(ApusError) in
  var options = Interpreter.Options()
  options.memoryLimit = 16
  _ = try Interpreter(model: Model(contentsOfFile: "Models/difference.tflite"), options: options)
}
