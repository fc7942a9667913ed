// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import NIOCore

/// One of a model's runners: interpreters over the shared weights, used by one thread at a time.
final class ModelInstance {
  /// How long the stages of a run took.
  struct Timings {
    var input = Duration.zero
    var infer = Duration.zero
    var output = Duration.zero
  }

  /// An output as the engine computed it; its bytes are empty if no request asked for it.
  struct RawOutput {
    let shape: [Int]
    let bytes: ByteBuffer
  }

  let served: ServedModel
  /// The cache of vision tasks between pictures.
  var tasks = TaskCache()
  private let options: Interpreter.Options
  private let imageLimits: ImageLimits
  private let warn: @Sendable (TaskWarning) -> Void
  private var prepared: [(shapes: [[Int]], interpreter: Interpreter)] = []

  /// Interpreters for other shapes are kept up to this number and this many bytes of tensors.
  private static let maximumPrepared = 8
  private static let maximumArenaBytes = 512 << 20

  /// Makes an instance that has prepared nothing yet.
  ///
  /// - Parameter warn: Gets what tasks find suspicious about the model, each once for all of its instances.
  init(
    of served: ServedModel, options: Interpreter.Options, imageLimits: ImageLimits,
    warn: @escaping @Sendable (TaskWarning) -> Void = { _ in }
  ) {
    self.served = served
    self.options = options
    self.imageLimits = imageLimits
    self.warn = warn
  }

  /// Says what a task warns of, if that was not said of the model before.
  func report(_ task: VisionTaskKind, _ assumptions: TaskAssumptions, isOfSettings: Bool) {
    for warning in served.newWarnings(task, assumptions, isOfSettings: isOfSettings) { warn(warning) }
  }

  /// The options for interpreters of this instance.
  var interpreterOptions: Interpreter.Options { options }

  /// The limits for pictures.
  var pictureLimits: ImageLimits { imageLimits }

  /// An interpreter for inputs of these shapes: a kept one, or a new one.
  func interpreter(for shapes: [[Int]]) throws(ApusError) -> Interpreter {
    if let index = prepared.lastIndex(where: { $0.shapes == shapes }) {
      if index != prepared.count - 1 { prepared.append(prepared.remove(at: index)) }
      return prepared[prepared.count - 1].interpreter
    }
    var options = options
    for (position, shape) in shapes.enumerated() where shape != served.inputs[position].defaultShape {
      options.inputShapes[position] = TensorShape(shape)
    }
    if prepared.count == Self.maximumPrepared { prepared.removeFirst() }
    let interpreter = try Interpreter(model: served.model, options: options)
    while !prepared.isEmpty, arenaBytes + interpreter.memoryPlan.arenaByteCount > Self.maximumArenaBytes {
      prepared.removeFirst()
    }
    prepared.append((shapes, interpreter))
    return interpreter
  }

  private var arenaBytes: Int { prepared.reduce(0) { $0 + $1.interpreter.memoryPlan.arenaByteCount } }

  /// Runs several requests as one batch.
  ///
  /// - Returns: The outputs of the whole batch, the warnings about the pictures of each request, and the timings.
  func run(_ requests: [InferenceRequest], cancellation: Cancellation) throws(ApusError) -> (
    outputs: [RawOutput], warnings: [[String]], timings: Timings
  ) {
    let clock = ContinuousClock()
    let start = clock.now
    var shapes = requests[0].inputs.map(\.shape)
    if requests.count > 1 {
      let items = requests.reduce(0) { $0 + $1.batch }
      for position in shapes.indices { shapes[position][0] = items }
    }
    let interpreter = try interpreter(for: shapes)
    // A server's requests are strangers to each other: what a model remembers ends with each run.
    interpreter.resetVariables()
    var item = 0
    var warnings: [[String]] = []
    for request in requests {
      warnings.append([])
      for (position, input) in request.inputs.enumerated() {
        warnings[warnings.count - 1] += try fill(position, with: input, at: item, in: interpreter)
      }
      item += request.batch
    }
    let filled = clock.now
    try interpreter.invoke(cancellation: cancellation)
    let done = clock.now
    let outputs = try self.outputs(of: interpreter, for: requests)
    return (
      outputs, warnings, Timings(input: filled - start, infer: done - filled, output: clock.now - done)
    )
  }

  /// Fills a request's part of an input; returns warnings about its pictures.
  private func fill(
    _ position: Int, with input: InferenceRequest.Input, at item: Int, in interpreter: Interpreter
  ) throws(ApusError) -> [String] {
    var warnings: [String] = []
    switch input.contents {
    case .elements(let bytes):
      try interpreter.withInputBytes(at: position) { span throws(ApusError) in
        let offset = item == 0 ? 0 : item * (bytes.count / max(1, input.shape[0]))
        guard bytes.count <= span.byteCount - offset else {
          throw ApusError(
            .invalidArgument, "input \(position) takes \(span.byteCount) bytes, not \(offset + bytes.count)")
        }
        bytes.copy(into: &span, at: offset)
      }
    case .pictures(let files):
      for (index, file) in files.enumerated() {
        let name = "picture \(index) of '\(served.inputs[position].name)'"
        do {
          let warning = try write(picture: file, toItem: item + index, ofInput: position, of: interpreter)
          if let warning { warnings.append("\(name): \(warning)") }
        } catch {
          throw ApusError(error.code, "\(name): \(error.message)")
        }
      }
    }
    return warnings
  }

  /// Decodes a picture and writes it as one item of an input, as the model's task does; returns a warning about its file, if there is one.
  @discardableResult func write(
    picture file: ByteChunks, toItem item: Int, ofInput position: Int, of interpreter: Interpreter
  ) throws(ApusError) -> String? {
    guard let tensor = served.pictureInputs[position] else {
      throw ApusError(.invalidArgument, "input \(position) does not take pictures")
    }
    let reading =
      served.hasInputOfTasks
      ? try served.pictureReading { () throws(ApusError) in try PictureReading(of: self) } : .file
    switch reading {
    case .task(let input):
      let count = interpreter.inputs[position].shape[0]
      return try DecodedPixels.shared.withPicture(file.array, imageLimits) { picture throws(ApusError) in
        try input.write(picture, to: interpreter, item: item, of: count)
        return picture.warning
      }
    case .file:
      return try tensor.write(file, toItem: item, ofInput: position, of: interpreter, limits: imageLimits)
    }
  }

  /// The outputs of a run; those that a request asks for are copied, once for each tensor.
  private func outputs(
    of interpreter: Interpreter, for requests: [InferenceRequest]
  ) throws(ApusError) -> [RawOutput] {
    let tensors = interpreter.outputs
    try checkSize(of: requests, tensors)
    let wanted = Set(requests.flatMap { $0.outputs.map(\.position) })
    var copies: [Int: ByteBuffer] = [:]
    var outputs: [RawOutput] = []
    for position in tensors.indices {
      let tensor = tensors[position]
      var bytes = copies[tensor.index] ?? ByteBuffer()
      if wanted.contains(position), copies[tensor.index] == nil {
        bytes = try interpreter.withOutputBytes(at: position) { span in
          var buffer = ByteBufferAllocator().buffer(capacity: span.byteCount)
          buffer.writeBytes(span)
          return buffer
        }
        copies[tensor.index] = bytes
      }
      outputs.append(RawOutput(shape: tensor.shape.dimensions, bytes: bytes))
    }
    return outputs
  }

  /// The maximum number of bytes of the outputs that a request asks for, and of all outputs of a run that requests share.
  static let maximumOutputBytes = 256 << 20
  /// The maximum number of elements of an answer that are written as text: in JSON, or as classes.
  private static let maximumTextElements = 1 << 24

  /// Checks how much an answer takes before anything of it is copied: one tensor may be listed many times, and an element of a
  /// byte may become 20 characters.
  private func checkSize(of requests: [InferenceRequest], _ tensors: [Tensor]) throws(ApusError) {
    let items = max(1, requests.reduce(0) { $0 + $1.batch })
    for request in requests {
      var (bytes, textElements) = (0, 0)
      for output in request.outputs {
        // The engine computed the outputs: their counts do not overflow, nor do the sums of 1,024 of them.
        let whole = tensors[output.position].shape.elementCount
        let count = requests.count == 1 ? whole : whole / items * request.batch
        bytes += count * (served.outputs[output.position].datatype.byteCount ?? 1)
        if !output.isBinary || output.classes != nil { textElements += count }
      }
      guard textElements <= Self.maximumTextElements else {
        throw ApusError(
          .resourceLimit,
          "\(textElements) elements would be written as text, more than \(Self.maximumTextElements): ask for "
            + "binary data")
      }
      guard bytes <= Self.maximumOutputBytes else {
        throw ApusError(
          .resourceLimit, "the outputs take \(bytes) bytes, more than \(Self.maximumOutputBytes)")
      }
    }
  }
}
