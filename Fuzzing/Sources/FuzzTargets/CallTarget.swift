// SPDX-License-Identifier: Apache-2.0

import Apus
import TensorFlowLiteC

/// Calls of the C library in any order, on handles that live, were deleted, are of another kind or never were.
///
/// Memory of the caller's is as large as the call says, as C cannot check that; AddressSanitizer watches its ends, and whatever the library
/// hands out is read to its end.
public enum CallTarget: FuzzTarget {
  public static let name = "calls"

  public static func run(_ bytes: [UInt8]) {
    let (calls, model) = parts(of: bytes)
    // A model that takes long would leave no time for calls.
    guard let read = try? Model(bytes: model), (try? FuzzedRun(read, kernels: nil).outputs()) != nil else {
      return
    }
    var player = CallPlayer(calls: ByteSource(calls), model: model)
    player.play()
  }

  public static func mutate(_ bytes: inout [UInt8], using random: inout FuzzRandom) -> Bool {
    let (calls, model) = parts(of: bytes)
    guard !calls.isEmpty, random.below(4) > 0 else {
      var changed = model
      guard ModelMutation.apply(to: &changed, using: &random) else { return false }
      bytes.replaceSubrange((bytes.count - model.count)..., with: changed)
      return true
    }
    for _ in 0..<1 + random.below(8) {
      bytes[2 + random.below(calls.count)] = UInt8(truncatingIfNeeded: random.next())
    }
    return true
  }

  /// The bytes that decide on calls, whose number the first two bytes say, and those of the model.
  private static func parts(of bytes: [UInt8]) -> (calls: [UInt8], model: [UInt8]) {
    guard bytes.count >= 2 else { return ([], []) }
    let count = min(Int(bytes[0]) | Int(bytes[1]) << 8, bytes.count - 2)
    return (Array(bytes[2..<2 + count]), Array(bytes[(2 + count)...]))
  }
}

/// Plays calls, and keeps what they return.
private struct CallPlayer {
  private enum Kind: Int, CaseIterable { case model, options, interpreter, runner, registration, builder }

  private var source: ByteSource
  private let model: [UInt8]
  /// The handles of each kind that live.
  private var live = [[OpaquePointer]](repeating: [], count: Kind.allCases.count)
  /// Handles that were deleted, and numbers that never were one.
  private var dead: [OpaquePointer?] = [
    nil, OpaquePointer(bitPattern: 16), OpaquePointer(bitPattern: 0xDEAD_BEEF),
  ]
  /// Tensors of interpreters that live, or lived.
  private var tensors: [UnsafeMutableRawPointer] = []

  /// More would make executions slow.
  private static let maximumLive = 4

  init(calls: ByteSource, model: [UInt8]) { (source, self.model) = (calls, model) }

  mutating func play() {
    // So that there is something to call from the start.
    makeModel(exactly: true)
    keep(optionsCreate(), .options)
    optionsSetErrorReporter(live[Kind.options.rawValue].first, silence, nil)
    keep(
      interpreterCreate(live[Kind.model.rawValue].first, live[Kind.options.rawValue].first), .interpreter)
    while !source.isEmpty { call() }
    for kind in Kind.allCases {
      for handle in live[kind.rawValue] { delete(handle, kind) }
    }
  }

  // MARK: Arguments

  /// A handle, mostly of the kind that is asked for.
  private mutating func handle(_ kind: Kind) -> OpaquePointer? {
    let choice = source.byte()
    let own = live[kind.rawValue]
    if choice < 216, !own.isEmpty { return own[Int(choice) % own.count] }
    if choice < 236 { return dead[Int(choice) % dead.count] }
    let others = live[source.below(live.count)]
    return others.isEmpty ? tensor().map(OpaquePointer.init) : others[Int(choice) % others.count]
  }

  private mutating func tensor() -> UnsafeMutableRawPointer? {
    let choice = source.byte()
    guard choice < 240, !tensors.isEmpty else {
      return dead[Int(choice) % dead.count].map(UnsafeMutableRawPointer.init)
    }
    return tensors[Int(choice) % tensors.count]
  }

  /// Dimensions, mostly small ones: what they say is allocated.
  private mutating func withDimensions(_ body: (UnsafePointer<Int32>?, Int32) -> Void) {
    let dimensions = (0..<source.below(6)).map { _ in
      let choice = source.byte()
      return choice < 250 ? Int32(choice % 5) : [-1, .max, .min, 0][Int(choice) % 4]
    }
    let count = source.byte() < 250 ? Int32(dimensions.count) : -1
    dimensions.withUnsafeBufferPointer { body(source.byte() < 250 ? $0.baseAddress : nil, count) }
  }

  /// A name that the interpreter may have, or not.
  private mutating func withName(_ body: (UnsafePointer<CChar>?) -> Void) {
    switch source.below(5) {
    case 0: body(nil)
    case 1: "".withCString(body)
    case 2: "serving_default".withCString(body)
    case 3: String(decoding: source.rest(source.below(9)), as: UTF8.self).withCString(body)
    default: body(signatureKey(handle(.interpreter), source.number()))
    }
  }

  // MARK: Results

  private mutating func keep(_ handle: OpaquePointer?, _ kind: Kind) {
    guard let handle else { return }
    live[kind.rawValue].append(handle)
    if live[kind.rawValue].count > Self.maximumLive { delete(live[kind.rawValue].removeFirst(), kind) }
  }

  private mutating func keep(_ tensor: UnsafeMutableRawPointer?) {
    guard let tensor, !tensors.contains(tensor) else { return }
    tensors.append(tensor)
    if tensors.count > 16 { tensors.removeFirst() }
  }

  private func read(_ text: UnsafePointer<CChar>?) { _ = text.map { String(cString: $0) } }

  /// Reads all of a tensor's memory, and writes it.
  private func touch(_ tensor: UnsafeMutableRawPointer?) {
    let count = tensorByteCount(tensor)
    guard let data = tensorData(tensor), count > 0 else { return }
    let bytes = UnsafeMutableRawBufferPointer(start: data, count: count)
    let sum = bytes.reduce(0) { $0 &+ $1 }
    if tensorType(tensor) == 1 { bytes[count - 1] = sum }
  }

  // MARK: Calls

  private mutating func makeModel(exactly isWhole: Bool) {
    let count = isWhole ? model.count : Int(source.number()) & 0xFFFF
    // The model's bytes are gone after the call.
    let bytes = Array(model.prefix(count))
    let made = bytes.withUnsafeBytes { modelCreateWithErrorReporter($0.baseAddress, $0.count, silence, nil) }
    keep(made, .model)
  }

  private mutating func delete(_ handle: OpaquePointer?, _ kind: Kind) {
    switch kind {
    case .model: modelDelete(handle)
    case .options: optionsDelete(handle)
    case .interpreter: interpreterDelete(handle)
    case .runner: runnerDelete(handle)
    case .registration: operatorDelete(handle)
    case .builder: tensorBuilderDelete(handle)
    }
    guard let handle else { return }
    for kind in live.indices { live[kind].removeAll { $0 == handle } }
    dead.append(handle)
    if dead.count > 24 { dead.remove(at: 3) }
  }

  /// Copies between a tensor and memory of the size that is said.
  private mutating func copy() {
    let tensor = tensor()
    let choice = source.byte()
    let count = choice < 160 ? min(tensorByteCount(tensor), 1 << 16) : Int(choice)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: choice)
    let address = choice < 250 ? memory.baseAddress : nil
    if choice & 1 == 0 {
      _ = tensorCopyFromBuffer(tensor, address, count)
    } else {
      _ = tensorCopyToBuffer(tensor, address, count)
    }
  }

  private mutating func call() {
    switch source.below(50) {
    case 0: makeModel(exactly: source.byte() < 200)
    case 1: keep(optionsCreate(), .options)
    case 2: keep(optionsCopy(handle(.options)), .options)
    case 3: optionsSetThreadCount(handle(.options), Int32(source.below(5)) - 1)
    case 4: optionsSetErrorReporter(handle(.options), source.byte() < 200 ? silence : nil, nil)
    case 5: _ = optionsEnableCancellation(handle(.options), source.byte() < 128)
    case 6: optionsSetPreserveAllTensors(handle(.options), source.byte() < 128)
    case 7: optionsAddOperator(handle(.options), handle(.registration))
    case 8: optionsSetUseNNAPI(handle(.options), true)
    case 9, 10: keep(interpreterCreate(handle(.model), handle(.options)), .interpreter)
    case 11:
      let kind = Kind.allCases[source.below(Kind.allCases.count)]
      delete(handle(kind), kind)
    case 12: _ = interpreterInputCount(handle(.interpreter))
    case 13: _ = interpreterOutputCount(handle(.interpreter))
    case 14: _ = interpreterInputIndices(handle(.interpreter))?.pointee
    case 15: _ = interpreterInputIndex(handle(.interpreter), source.number())
    case 16, 17: keep(interpreterInput(handle(.interpreter), source.number()))
    case 18, 19:
      keep(
        interpreterOutput(handle(.interpreter), source.number()).map { UnsafeMutableRawPointer(mutating: $0) }
      )
    case 20: keep(interpreterTensor(handle(.interpreter), source.number()))
    case 21:
      let (interpreter, position) = (handle(.interpreter), source.number())
      withDimensions { _ = interpreterResizeInput(interpreter, position, $0, $1) }
    case 22:
      let (interpreter, position) = (handle(.interpreter), source.number())
      withDimensions { _ = interpreterResizeInputStrictly(interpreter, position, $0, $1) }
    case 23, 24, 25: _ = interpreterAllocate(handle(.interpreter))
    case 26, 27, 28: _ = interpreterInvoke(handle(.interpreter))
    case 29: _ = interpreterCancel(handle(.interpreter))
    case 30: _ = interpreterResetVariables(handle(.interpreter))
    case 31: keep(interpreterVariable(handle(.interpreter), source.number()))
    case 32: _ = interpreterEnsureReadable(handle(.interpreter), source.number())
    case 33: _ = signatureCount(handle(.interpreter))
    case 34: read(signatureKey(handle(.interpreter), source.number()))
    case 35:
      let interpreter = handle(.interpreter)
      var runner: OpaquePointer?
      withName { runner = signatureRunner(interpreter, $0) }
      keep(runner, .runner)
    case 36: read(runnerInputName(handle(.runner), source.number()))
    case 37:
      let runner = handle(.runner)
      var found: UnsafeMutableRawPointer?
      withName { found = runnerInput(runner, $0) }
      keep(found)
    case 38: _ = runnerAllocate(handle(.runner))
    case 39: _ = runnerInvoke(handle(.runner))
    case 40: read(tensorName(tensor()))
    case 41: _ = tensorDimension(tensor(), source.number())
    case 42: _ = (tensorRank(tensor()), tensorQuantization(tensor()))
    case 43, 44: copy()
    case 45: touch(tensor())
    case 46: keep(operatorCreate(source.number(), nil, source.number(), nil), .registration)
    case 47: keep(interpreterSubgraphTensor(handle(.interpreter), source.number(), source.number()))
    case 48:
      var inputs: UnsafeRawPointer?
      var outputs: UnsafeRawPointer?
      let interpreter = handle(.interpreter)
      for index in -1...interpreterOperatorCount(interpreter) {
        read(interpreterOperator(interpreter, index, &inputs, &outputs))
        _ = (inputs?.load(as: Int32.self), outputs?.load(as: Int32.self))
      }
    default: keep(tensorBuilderCreate(), .builder)
    }
  }
}

/// A reporter that says nothing.
private let silence:
  @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
    _, _, _ in
  }
