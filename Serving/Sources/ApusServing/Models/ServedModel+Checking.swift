// SPDX-License-Identifier: Apache-2.0
import ApusImages
import NIOCore

extension ServedModel {
  /// Checks a request against the model: names, types, shapes, counts and parameters.
  ///
  /// Errors repeat the words of Triton, which clients and tests look for, behind the place.
  ///
  /// - Throws: the first thing that is wrong, with its place.
  public func check(_ description: RequestDescription) throws(ServingError) -> InferenceRequest {
    try Self.refuseSequence(description.parameters)
    var found: [InferenceRequest.Input?] = Array(repeating: nil, count: inputs.count)
    var batch: Int?
    for (index, input) in description.inputs.enumerated() {
      let place = "inputs[\(index)]"
      guard let position = inputPositions[input.name] else {
        throw ServingError.bad(
          "unexpected inference input '\(input.name)' for model '\(name)', which has only: \(inputs.known)"
        ).at(place)
      }
      guard found[position] == nil else {
        throw ServingError.bad("input '\(input.name)' already exists in request").at(place)
      }
      let checked: InferenceRequest.Input
      do { checked = try check(input, position) } catch { throw error.at("\(place) ('\(input.name)')") }
      found[position] = checked
      if batches {
        let items = checked.shape[0]
        guard batch == nil || batch == items else {
          throw ServingError.bad("the batch is \(items), but \(batch ?? 0) in the inputs before").at(place)
        }
        batch = items
      }
    }
    var checked: [InferenceRequest.Input] = []
    for input in found {
      guard let input else { throw missing(found) }
      checked.append(input)
    }
    return InferenceRequest(
      id: description.id, inputs: checked, outputs: try outputs(of: description), batch: batch ?? 1,
      priority: try Self.priority(description.parameters), timeout: try Self.timeout(description.parameters))
  }

  /// The error for a request without some of the inputs.
  private func missing(_ found: [InferenceRequest.Input?]) -> ServingError {
    let names = { (isFound: Bool) in
      zip(self.inputs, found).filter { ($1 != nil) == isFound }.map { "'\($0.0.name)'" }
        .joined(separator: ",")
    }
    return .bad(
      "expected \(inputs.count) inputs but got \(found.count { $0 != nil }) inputs for model '\(name)'. "
        + "Got input(s) [\(names(true))], but missing required input(s) [\(names(false))]. "
        + "Please provide all required input(s).")
  }

  /// A request of a body that is one input's data alone: all shapes are implied.
  public func rawRequest(_ body: ByteChunks) throws(ServingError) -> RequestDescription {
    guard inputs.count == 1, let input = inputs.first else {
      throw .bad(
        "Raw request must only have 1 input (found 1) to be deduced but got \(inputs.count) inputs in "
          + "'\(name)' model configuration")
    }
    var shape = input.shape
    if batches {
      shape[0] = 1
    } else if !hasOpenLength, let first = input.defaultShape.first {
      shape[0] = first
    }
    if isPicture(body, instead: input) {
      return RequestDescription(
        inputs: [.init(name: input.name, datatype: "BYTES", shape: [1], data: .strings([body]))],
        isBinary: true)
    }
    let open = shape.indices.filter { shape[$0] < 0 }
    if open.count == 1, let axis = open.first {
      let bytes = shape.reduce(input.datatype.byteCount ?? 1) { $1 < 0 ? $0 : $0 &* $1 }
      guard bytes > 0, body.count.isMultiple(of: bytes), body.count > 0 else {
        throw .bad("\(body.count) bytes are no multiple of \(bytes), which one step of \(shape) takes")
      }
      shape[axis] = body.count / bytes
    } else if !open.isEmpty {
      throw .bad(
        "The shape of the raw input '\(input.name)' can not be deduced because there are more than one "
          + "variable-sized dimension: \(shape)")
    }
    return RequestDescription(
      inputs: [.init(name: input.name, datatype: input.datatype.rawValue, shape: shape, data: .raw(body))],
      isBinary: true)
  }

  /// Whether a raw body is a picture's file: it begins like one and is not as long as the tensor.
  private func isPicture(_ body: ByteChunks, instead input: TensorSpecification) -> Bool {
    guard pictureInputs[0] != nil, let first = body.chunks.first else { return false }
    let start = Array(first.readableBytesView.prefix(12))
    let elements = input.defaultShape.reduce(input.datatype.byteCount ?? 1) { $0 &* $1 }
    guard body.count != elements else { return false }
    return ImageFileFormat(detecting: start) != nil
  }

  // MARK: Inputs

  private func check(_ input: RequestDescription.Input, _ position: Int) throws(ServingError)
    -> InferenceRequest.Input
  {
    let expected = inputs[position]
    for name in input.parameters.keys where name.hasPrefix("shared_memory") {
      throw .bad("shared memory is not supported")
    }
    guard let datatype = DataType(rawValue: input.datatype) else {
      throw .bad("there is no datatype '\(input.datatype)'")
    }
    let count = try Self.elementCount(of: input.shape)
    if datatype == .bytes, pictureInputs[position] != nil {
      return try checkPictures(input, expected, count)
    }
    guard datatype == expected.datatype, let size = datatype.byteCount else {
      let also = pictureInputs[position] == nil ? "" : " or BYTES with encoded pictures"
      throw .bad(
        "inference input '\(expected.name)' data-type is '\(input.datatype)', but model '\(name)' expects "
          + "'\(expected.datatype.rawValue)'\(also)")
    }
    let (bytes, overflows) = count.multipliedReportingOverflow(by: size)
    guard !overflows else {
      throw .bad("byte size overflow for input '\(expected.name)': \(count) elements of \(size) bytes")
    }
    if batches, let items = input.shape.first, items > maximumBatch {
      throw .bad(
        "inference request batch-size must be <= \(maximumBatch) for '\(name)', and the batch is \(items)")
    }
    if let expected = expected.mismatch(of: input.shape, isOpen: batches || hasOpenLength) {
      throw .bad("unexpected shape for input '\(input.name)' for model '\(name)'. \(expected)")
    }
    let elements: ByteChunks
    switch input.data {
    case .missing: throw .bad("there is no data")
    case .strings: throw .bad("the data are strings, not \(expected.datatype.rawValue)")
    case .raw(let chunks):
      guard chunks.count == bytes else {
        throw .bad(
          "input byte size mismatch for input '\(expected.name)' for model '\(name)'. "
            + "Expected \(bytes), got \(chunks.count)")
      }
      elements = chunks
    case .elements(let buffer, let found):
      guard found == count else {
        throw .bad("data has \(found) elements, but the shape \(input.shape) has \(count)")
      }
      elements = ByteChunks(buffer)
    }
    return .init(shape: input.shape, contents: .elements(elements))
  }

  /// The number of elements of a shape that a client sent.
  public static func elementCount(of shape: [Int]) throws(ServingError) -> Int {
    var count = 1
    for size in shape {
      guard size >= 0 else { throw .bad("the shape \(shape) has a negative dimension") }
      let (product, overflows) = count.multipliedReportingOverflow(by: size)
      guard !overflows else {
        throw .bad("the shape \(shape) causes total element count to exceed maximum size of \(Int.max)")
      }
      count = product
    }
    return count
  }

  private func checkPictures(
    _ input: RequestDescription.Input, _ expected: TensorSpecification, _ count: Int
  ) throws(ServingError) -> InferenceRequest.Input {
    guard input.shape.count == 1 || (input.shape.count == 2 && input.shape[1] == 1) else {
      throw .bad("the shape of pictures is \(input.shape), not [N]")
    }
    let most = batches ? maximumBatch : expected.defaultShape[0]
    guard count >= 1, batches ? count <= most : count == most else {
      throw .bad("there are \(count) pictures, not \(batches ? "1 to \(most)" : "\(most)")")
    }
    let files: [ByteChunks]
    switch input.data {
    case .missing: throw .bad("there is no data")
    case .elements: throw .bad("the data are numbers, not encoded pictures")
    case .strings(let strings): files = strings
    case .raw(let chunks): files = try Self.strings(in: chunks, upTo: count)
    }
    guard files.count == count else {
      throw .bad("data has \(files.count) elements, but the shape \(input.shape) has \(count)")
    }
    var shape = expected.shape
    shape[0] = count
    return .init(shape: shape, contents: .pictures(files))
  }

  /// The elements of a `BYTES` tensor: a little-endian length of four bytes before each.
  ///
  /// - Throws: what is malformed, or more elements than expected, before all of them are looked for.
  static func strings(in chunks: ByteChunks, upTo count: Int) throws(ServingError) -> [ByteChunks] {
    var rest = chunks
    var result: [ByteChunks] = []
    while rest.count > 0 {
      guard result.count < count else { throw .bad("data has more than \(count) elements") }
      guard rest.count >= 4 else { throw .bad("element \(result.count) ends within its length") }
      let head = rest.removeFirst(4).array
      let length = head.reversed().reduce(0) { $0 << 8 | Int($1) }
      guard length <= rest.count else {
        throw .bad("element \(result.count) is said to have \(length) bytes, but \(rest.count) are left")
      }
      result.append(rest.removeFirst(length))
    }
    return result
  }

  // MARK: Outputs and parameters

  private func outputs(of description: RequestDescription) throws(ServingError) -> [InferenceRequest.Output] {
    let byDefault = try description.parameters.bool("binary_data_output") ?? false
    var wanted: [InferenceRequest.Output] = []
    var positions: Set<Int> = []
    for (index, output) in description.outputs.enumerated() {
      let place = "outputs[\(index)] ('\(output.name)')"
      guard let position = outputPositions[output.name] else {
        throw ServingError.bad(
          "unexpected inference output '\(output.name)' for model '\(name)', which has only: \(outputs.known)"
        ).at(place)
      }
      do throws(ServingError) {
        guard positions.insert(position).inserted else {
          throw .bad("output '\(output.name)' already exists in request")
        }
        for name in output.parameters.keys where name.hasPrefix("shared_memory") {
          throw .bad("shared memory is not supported")
        }
        var classes = try output.parameters.count("classification")
        if classes == 0 { classes = nil }
        let isBinary = try output.parameters.bool("binary_data") ?? byDefault
        wanted.append(
          .init(
            position: position, name: output.name, classes: classes,
            isBinary: isBinary || description.isBinary))
      } catch { throw error.at(place) }
    }
    if wanted.isEmpty {
      wanted = outputs.indices.map {
        .init(
          position: $0, name: outputs[$0].name, classes: nil, isBinary: byDefault || description.isBinary)
      }
    }
    for output in wanted where !output.isBinary && output.classes == nil {
      let described = outputs[output.position]
      guard described.datatype.isWrittenAsJSON else {
        throw .bad(
          "the output '\(described.name)' is \(described.datatype.rawValue), which JSON cannot hold: ask for binary_data"
        )
      }
    }
    return wanted
  }

  /// Refuses a request of a sequence: no model remembers the one before. 0, the empty text and false, which some clients always send,
  /// stand for no sequence.
  private static func refuseSequence(_ parameters: RequestParameters) throws(ServingError) {
    for name in ["sequence_id", "sequence_start", "sequence_end"] {
      switch parameters[name] {
      case nil, .integer(0), .text(""), .bool(false): continue
      default:
        throw .bad(
          "the parameter '\(name)' is not supported: there are no sequences, each request stands alone")
      }
    }
  }

  /// How urgent a request is: 1 is served first; without the parameter, or with 0, it is 2.
  private static func priority(_ parameters: RequestParameters) throws(ServingError) -> Int {
    let priority = try parameters.count("priority") ?? 0
    return priority == 0 ? 2 : priority
  }

  private static func timeout(_ parameters: RequestParameters) throws(ServingError) -> Duration? {
    guard let microseconds = try parameters.count("timeout"), microseconds > 0 else { return nil }
    return .microseconds(min(microseconds, 1 << 50))
  }
}
