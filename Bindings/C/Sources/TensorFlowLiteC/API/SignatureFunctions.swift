// SPDX-License-Identifier: Apache-2.0

import Apus

@c(TfLiteInterpreterGetSignatureCount)
public func signatureCount(_ interpreter: OpaquePointer?) -> Int32 {
  onInterpreter(interpreter, failure: 0) { Int32(clamping: $0.signatureNames.count) }
}

@c(TfLiteInterpreterGetSignatureKey)
public func signatureKey(_ interpreter: OpaquePointer?, _ index: Int32) -> UnsafePointer<CChar>? {
  onInterpreter(interpreter, failure: nil) { $0.signatureNames.string(index) }
}

@c(TfLiteInterpreterGetSignatureRunner)
public func signatureRunner(
  _ interpreter: OpaquePointer?, _ key: UnsafePointer<CChar>?
) -> OpaquePointer? {
  onInterpreter(interpreter, failure: nil) { handle throws(Refusal) in
    // Without a name it is the first signature, or the main subgraph of a model that has none.
    var signature = handle.signatures.first
    if let key {
      let name = String(cString: key)
      signature = handle.signatures.first { $0.key == name }
      guard signature != nil else {
        let known = handle.signatures.map(\.key).joined(separator: ", ")
        throw Refusal("the model has no signature \(name)" + (known.isEmpty ? "" : ", only: \(known)"))
      }
    }
    return HandleTable.shared.add(try RunnerHandle(handle, signature))
  }
}

@c(TfLiteSignatureRunnerDelete)
public func runnerDelete(_ runner: OpaquePointer?) { HandleTable.shared.delete(runner, RunnerHandle.self) }

@c(TfLiteSignatureRunnerGetInputCount)
public func runnerInputCount(_ runner: OpaquePointer?) -> Int {
  onRunner(runner, failure: 0) { $0.inputNames.count }
}

@c(TfLiteSignatureRunnerGetInputName)
public func runnerInputName(_ runner: OpaquePointer?, _ index: Int32) -> UnsafePointer<CChar>? {
  onRunner(runner, failure: nil) { $0.inputNames.string(index) }
}

@c(TfLiteSignatureRunnerGetOutputCount)
public func runnerOutputCount(_ runner: OpaquePointer?) -> Int {
  onRunner(runner, failure: 0) { $0.outputNames.count }
}

@c(TfLiteSignatureRunnerGetOutputName)
public func runnerOutputName(_ runner: OpaquePointer?, _ index: Int32) -> UnsafePointer<CChar>? {
  onRunner(runner, failure: nil) { $0.outputNames.string(index) }
}

@c(TfLiteSignatureRunnerResizeInputTensor)
public func runnerResizeInput(
  _ runner: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ dimensions: UnsafePointer<Int32>?,
  _ count: Int32
) -> Int32 {
  statusOnRunner(runner) { runner throws(Refusal) in
    try runner.session.resizeInput(
      runner.input(name), to: CArrays.integers(dimensions, count: count), isStrict: true)
  }
}

/// Sets the shape of an input, whatever the file says of it: LiteRT's runners in Python do so.
@c(ApusSignatureRunnerResizeInputTensor)
public func runnerResizeInputFreely(
  _ runner: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ dimensions: UnsafePointer<Int32>?,
  _ count: Int32
) -> Int32 {
  statusOnRunner(runner) { runner throws(Refusal) in
    try runner.session.resizeInput(runner.input(name), to: CArrays.integers(dimensions, count: count))
  }
}

@c(TfLiteSignatureRunnerAllocateTensors)
public func runnerAllocate(_ runner: OpaquePointer?) -> Int32 {
  statusOnRunner(runner) { runner throws(Refusal) in try runner.session.allocate() }
}

@c(TfLiteSignatureRunnerGetInputTensor)
public func runnerInput(
  _ runner: OpaquePointer?, _ name: UnsafePointer<CChar>?
) -> UnsafeMutableRawPointer? {
  onRunner(runner, failure: nil) { runner throws(Refusal) in
    try runner.session.input(runner.input(name)).structure
  }
}

@c(TfLiteSignatureRunnerGetOutputTensor)
public func runnerOutput(_ runner: OpaquePointer?, _ name: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
  onRunner(runner, failure: nil) { runner throws(Refusal) in
    UnsafeRawPointer(try runner.session.output(runner.output(name)).structure)
  }
}

@c(TfLiteSignatureRunnerInvoke)
public func runnerInvoke(_ runner: OpaquePointer?) -> Int32 {
  statusOnRunner(runner) { runner throws(Refusal) in try runner.interpreter.invoke(runner.session) }
}

@c(TfLiteSignatureRunnerCancel)
public func runnerCancel(_ runner: OpaquePointer?) -> Int32 {
  call(runner, RunnerHandle.self, failure: Status.error, reporter: \.interpreter.reporter) {
    runner throws(Refusal) in
    try runner.interpreter.cancel()
    return Status.ok
  }
}
