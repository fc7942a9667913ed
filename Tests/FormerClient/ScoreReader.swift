// SPDX-License-Identifier: Apache-2.0

// Client code in the manner of apps that were written for TensorFlowLiteSwift in Swift 5: one import, which brings Foundation along.
import TensorFlowLite

typealias FileInfo = (folder: String, name: String, extension: String)

enum ScoreReaderError: Error {
  case notEnoughBytes(Int)
  case unknownType(Tensor.DataType)
}

/// Feeds bytes to a model and reads numbers, whatever the model's types.
class ScoreReader: NSObject {
  let threadCount: Int
  let threadCountLimit = 10
  private(set) var lastInferenceTime: TimeInterval = 0
  private var interpreter: Interpreter
  private lazy var queue = DispatchQueue(label: "scores")

  init?(file: FileInfo, threadCount: Int = 1) {
    let path = URL(fileURLWithPath: file.folder)
      .appendingPathComponent(file.name).appendingPathExtension(file.extension).path
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    self.threadCount = threadCount
    var options = Interpreter.Options()
    options.threadCount = threadCount
    options.isXNNPackEnabled = true
    do {
      interpreter = try Interpreter(modelPath: path, options: options)
      try interpreter.allocateTensors()
    } catch let error {
      NSLog("Failed to create the interpreter with error: %@", error.localizedDescription)
      return nil
    }
    super.init()
  }

  var inputShape: [Int] { (try? interpreter.input(at: 0).shape.dimensions) ?? [] }

  func scores(of bytes: Data) throws -> [Float] {
    let outputTensor: Tensor
    do {
      let inputTensor = try interpreter.input(at: 0)
      let data = try prepared(bytes, for: inputTensor)
      let start = Date()
      try interpreter.copy(data, toInputAt: 0)
      try interpreter.invoke()
      lastInferenceTime = Date().timeIntervalSince(start) * 1000
      outputTensor = try interpreter.output(at: 0)
    } catch InterpreterError.invalidTensorDataCount(let provided, let required) {
      throw ScoreReaderError.notEnoughBytes(required - provided)
    }
    switch outputTensor.dataType {
    case .uInt8:
      guard let quantization = outputTensor.quantizationParameters else { return [] }
      return [UInt8](outputTensor.data).map { quantization.scale * Float(Int($0) - quantization.zeroPoint) }
    case .float32:
      return [Float32](unsafeData: outputTensor.data) ?? []
    default:
      throw ScoreReaderError.unknownType(outputTensor.dataType)
    }
  }

  func scores(of bytes: Data, completion: @escaping (Result<[Float], Error>) -> Void) {
    queue.async { completion(Result { try self.scores(of: bytes) }) }
  }

  private func prepared(_ bytes: Data, for tensor: Tensor) throws -> Data {
    tensor.dataType == .uInt8 ? bytes : Data(copyingBufferOf: bytes.map { Float($0) / 255.0 })
  }
}

/// As apps choose among accelerators.
func makeInterpreter(path: String, accelerated: Bool) throws -> Interpreter {
  var delegates: [Delegate]?
  if accelerated {
    var options = CoreMLDelegate.Options()
    options.enabledDevices = .all
    if let delegate = CoreMLDelegate(options: options) {
      delegates = [delegate]
    } else {
      var metal = MetalDelegate.Options()
      metal.isPrecisionLossAllowed = true
      metal.waitType = .aggressive
      delegates = [MetalDelegate(options: metal)]
    }
  }
  return try Interpreter(modelPath: path, options: nil, delegates: delegates)
}

extension Data {
  init<T>(copyingBufferOf array: [T]) { self = array.withUnsafeBufferPointer(Data.init) }

  func toArray<T>(type: T.Type) -> [T] where T: ExpressibleByIntegerLiteral {
    var array = [T](repeating: 0, count: self.count / MemoryLayout<T>.stride)
    _ = array.withUnsafeMutableBytes { copyBytes(to: $0) }
    return array
  }
}

extension Array {
  init?(unsafeData: Data) {
    guard unsafeData.count % MemoryLayout<Element>.stride == 0 else { return nil }
    self = unsafeData.withUnsafeBytes { .init($0.bindMemory(to: Element.self)) }
  }
}

extension Tensor.DataType {
  var byteCount: Int? {
    switch self {
    case .bool, .uInt8: return 1
    case .int16, .float16: return 2
    case .int32, .float32: return 4
    case .int64, .float64: return 8
    default: return nil
    }
  }
}

extension TensorFlowLite.Tensor {
  var elementCount: Int { shape.dimensions.reduce(1, *) }
}
