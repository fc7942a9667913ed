// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Synchronization
import Testing

/// One model, many interpreters on many threads, made and destroyed and cancelled while others run.
///
/// `APUS_SOAK_SECONDS` makes it last longer.
@Suite struct ConcurrencyTests {
  private static let seconds =
    ProcessInfo.processInfo.environment["APUS_SOAK_SECONDS"].flatMap(Double.init) ?? 2

  /// Models to share: a product of the tests' own, and real ones where they are.
  private static let models: [String] = {
    guard let folder = ProcessInfo.processInfo.environment["APUS_TEST_DATA"] else { return [""] }
    let names = [
      "mlperftiny_vww_96_int8", "keras_lstm_mnist_ptq", "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      "mediapipe_selfie_segmentation", "tflm_micro_speech_lstm",
    ]
    return [""] + names.map { "\(folder)/models/\($0).tflite" }
  }()

  private static func model(_ path: String) throws -> Model {
    guard path.isEmpty else { return try Model(contentsOfFile: path) }
    let size: Int32 = 64
    return try TestModel(
      tensors: ["a", "b", "c"].map { .init(name: $0, shape: [size, size]) },
      operators: [.init(code: .batchMatMul, inputs: [0, 1], outputs: [2])], inputs: [0, 1],
      outputs: [2]
    ).model()
  }

  /// Fills the inputs with the same bytes, runs and copies the outputs.
  private static func answer(_ interpreter: Interpreter, _ cancellation: Cancellation? = nil)
    throws(ApusError)
    -> [[UInt8]]
  {
    for position in interpreter.inputs.indices {
      let isFloat = interpreter.inputs[position].type == .float32
      try interpreter.withInputBytes(at: position) { span in
        for offset in 0..<span.byteCount {
          // Floats get small positive exponents.
          let byte = UInt8(truncatingIfNeeded: offset &* 7 &+ position)
          span.storeBytes(of: isFloat && offset % 4 == 3 ? 0x3E : byte, toByteOffset: offset, as: UInt8.self)
        }
      }
    }
    interpreter.resetVariables()
    try interpreter.invoke(cancellation: cancellation)
    var answers: [[UInt8]] = []
    for position in interpreter.outputs.indices {
      answers.append(
        try interpreter.withOutputBytes(at: position) { span in span.withUnsafeBytes { Array($0) } })
    }
    return answers
  }

  @Test("every interpreter gives the same, whatever others do", arguments: models)
  func sharing(path: String) throws {
    let model = try Self.model(path)
    let expected = try Self.answer(Interpreter(model: model))
    let end = Date(timeIntervalSinceNow: Self.seconds)
    let outcome = Mutex((runs: 0, cancelled: 0, failures: [String]()))
    let group = DispatchGroup()
    for thread in 0..<6 {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        var round = thread
        while Date() < end {
          round += 1
          do throws(ApusError) {
            var options = Interpreter.Options()
            options.threadCount = 1 + round % 4
            let interpreter = try Interpreter(model: model, options: options)
            for _ in 0..<3 {
              let found = try Self.answer(interpreter)
              outcome.withLock {
                $0.runs += 1
                if found != expected {
                  $0.failures.append("thread \(thread), round \(round): another answer")
                }
              }
            }
            // Another thread cancels the run at any time; the next run is right.
            let flag = Cancellation()
            let delay = Double(round % 20) * 1e-5
            Thread.detachNewThread {
              Thread.sleep(forTimeInterval: delay)
              flag.cancel()
            }
            do throws(ApusError) { _ = try Self.answer(interpreter, flag) } catch {
              outcome.withLock {
                $0.cancelled += 1
                if error.code != .cancelled { $0.failures.append(error.message) }
              }
            }
            let again = try Self.answer(interpreter)
            if again != expected {
              outcome.withLock { $0.failures.append("after a cancelled run: another answer") }
            }
          } catch {
            outcome.withLock { $0.failures.append(error.message) }
          }
        }
      }
    }
    group.wait()
    outcome.withLock {
      #expect($0.failures.isEmpty, "\($0.failures.prefix(3))")
      #expect($0.runs > 0)
    }
  }
}
