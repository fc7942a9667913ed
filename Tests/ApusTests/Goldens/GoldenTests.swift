import Apus
import Testing

/// Every operator answers as the reference does, whatever the kernels and the number of threads.
@Suite struct GoldenTests {
  private static let threadCounts = [1, 2, 3]
  private static let kernelSets = Runtime.kernelSets.filter(\.isSupported).map(\.name)

  @Test("each operator answers as the reference", arguments: GoldenArchive.ofThisBuild)
  func answersAsTheReference(archive: GoldenArchive) throws {
    let contents = try archive.open()
    var failures: [String] = []
    for name in contents.cases {
      do {
        let model = try contents.model(of: name)
        let inputs = try contents.arrays("input", of: name)
        let outputs = try contents.arrays("output", of: name)
        for kernels in Self.kernelSets {
          for threads in Self.threadCounts {
            do {
              try Self.run(
                model, inputs: inputs, outputs: outputs, kernels: kernels, threads: threads)
            } catch {
              throw GoldenFailure("with \(kernels) on \(threads) threads: \(error)")
            }
          }
        }
      } catch {
        failures.append("\(name) \(error)")
      }
    }
    let list = failures.prefix(10).joined(separator: "\n")
    #expect(
      failures.isEmpty, "\(archive.name): \(failures.count) of \(contents.cases.count) cases differ\n\(list)")
  }

  @Test(
    "each operator has at least ten goldens for each common type", arguments: Runtime.operators.map(\.name))
  func hasGoldens(name: String) throws {
    let description = try #require(Runtime.operators.first { $0.name == name })
    let contents = try GoldenArchive(name: name).open()
    let common = description.types.filter { [.float32, .uint8, .int8].contains($0) }
    for type in common.map(\.rawValue) {
      let count = contents.cases.count { $0.hasPrefix("\(type)_") }
      #expect(count >= 10, "\(name) has \(count) goldens for \(type)")
    }
    #expect(contents.cases.count >= 10)
  }

  /// Of the largest magnitude. Cases whose answer the reference itself does not know as well are no goldens.
  private static let tolerance = 1e-4

  private static func run(
    _ model: Model, inputs: [NumPyFile], outputs: [NumPyFile], kernels: String, threads: Int
  ) throws {
    var options = Interpreter.Options()
    options.threadCount = threads
    options.kernels = kernels
    let interpreter = try Interpreter(model: model, options: options)
    guard interpreter.inputs.count == inputs.count, interpreter.outputs.count == outputs.count else {
      throw GoldenFailure("has \(interpreter.inputs.count) inputs and \(interpreter.outputs.count) outputs")
    }
    for (position, array) in inputs.enumerated()
    where interpreter.inputs[position].shape.dimensions != array.shape {
      try interpreter.resizeInput(at: position, to: TensorShape(array.shape))
    }
    for (position, array) in inputs.enumerated() {
      try interpreter.withInputBytes(at: position) { (bytes: inout MutableRawSpan) throws(ApusError) in
        guard bytes.byteCount == array.bytes.count else {
          throw ApusError(
            .invalidArgument, "input \(position) has \(bytes.byteCount) bytes, not \(array.bytes.count)")
        }
        for (index, byte) in array.bytes.enumerated() {
          bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
      }
    }
    // The second run finds memory as the first left it.
    for _ in 0..<2 {
      interpreter.resetVariables()
      try interpreter.invoke()
      for (position, expected) in outputs.enumerated() {
        try compare(interpreter, output: position, with: expected)
      }
    }
  }

  private static func compare(
    _ interpreter: Interpreter, output position: Int, with expected: NumPyFile
  )
    throws
  {
    let tensor = interpreter.outputs[position]
    guard tensor.shape.dimensions == expected.shape else {
      throw GoldenFailure("output \(position) is \(tensor.shape), not \(TensorShape(expected.shape))")
    }
    let bytes = try interpreter.withOutputBytes(at: position) { span in
      span.withUnsafeBytes { Array($0) }
    }
    guard bytes.count == expected.bytes.count else {
      throw GoldenFailure("output \(position) has \(bytes.count) bytes, not \(expected.bytes.count)")
    }
    let found = NumPyFile(type: expected.type, shape: expected.shape, bytes: bytes)
    guard let wanted = expected.floats, let values = found.floats else {
      let width = expected.elementByteCount
      if let index = zip(bytes, expected.bytes).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        let first = index / width * width
        throw GoldenFailure(
          "output \(position) has \(bytes[first..<first + width]), not \(expected.bytes[first..<first + width]), "
            + "at \(index / width) of \(bytes.count / width) (\(expected.type))")
      }
      return
    }
    let magnitude = wanted.filter(\.isFinite).map(abs).max() ?? 0
    for index in wanted.indices {
      let (value, want) = (values[index], wanted[index])
      let isEqual = value == want || value.isNaN && want.isNaN || abs(value - want) <= tolerance * magnitude
      guard isEqual else { throw GoldenFailure("output \(position) has \(value), not \(want), at \(index)") }
    }
  }
}
