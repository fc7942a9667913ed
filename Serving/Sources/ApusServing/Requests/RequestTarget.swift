// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import Foundation
import NIOCore

/// The entry of the fuzzers in `Fuzzing/`: the way of a request from its bytes to the bytes of its answer,
/// without a network and on one thread.
@_spi(Fuzzing) public final class RequestTarget {
  private let instances: [ModelInstance]
  private let pictures: ModelInstance

  /// Prepares the models of a folder, in the order of their names, and the embedded one.
  public init(modelsIn folder: String?) throws(ApusError) {
    let limits = ImageLimits(maximumPixelCount: 1 << 16)
    func instance(_ source: ModelSource) throws(ApusError) -> ModelInstance {
      let instance = ModelInstance(
        of: try ServedModel(source, maximumBatch: 8), options: Interpreter.Options(), imageLimits: limits)
      _ = try instance.interpreter(for: instance.served.inputs.map(\.defaultShape))
      return instance
    }
    pictures = try instance(.embedded)
    var instances: [ModelInstance] = []
    if let folder {
      for source in try ModelFolder.sources(in: folder) { instances.append(try instance(source)) }
    }
    self.instances = instances + [pictures]
  }

  /// A model; any number names one.
  private func instance(_ number: UInt8) -> ModelInstance { instances[Int(number) % instances.count] }

  /// A body as it comes over HTTP. The first byte chooses the model, the next three how the body travels: whole, as JSON of
  /// that length with binary tensors behind it, raw, or compressed.
  public func body(_ bytes: [UInt8]) {
    guard bytes.count >= 4 else { return }
    let instance = instance(bytes[0])
    var body = ByteChunks(ByteBuffer(bytes: bytes[4...]))
    let length = Int(bytes[2]) | Int(bytes[3]) << 8
    do throws(ServingError) {
      switch bytes[1] & 0x30 {
      case 0x10: body = try Compression.gzip.decompressed(body, limit: 1 << 16)
      case 0x20: body = try Compression.deflate.decompressed(body, limit: 1 << 16)
      default: break
      }
      if bytes[1] & 1 == 0 {
        answer(try InferenceJSON.request(header: body.array, tail: ByteChunks()), by: instance)
      } else if length == 0 {
        answer(try instance.served.rawRequest(body), by: instance)
      } else if length <= body.count {
        let header = body.removeFirst(length)
        answer(try InferenceJSON.request(header: header.array, tail: body), by: instance)
      }
    } catch { check(error) }
  }

  /// A request of either surface, for the model that a number names.
  public func answer(_ description: RequestDescription, byModel number: UInt8) {
    answer(description, by: instance(number))
  }

  private func answer(_ description: RequestDescription, by instance: ModelInstance) {
    do throws(ServingError) {
      let request = try instance.served.check(description)
      let answer = try Self.run(request, on: instance)
      for output in answer.outputs {
        let count = output.shape.reduce(1, *)
        if let size = output.datatype.byteCount {
          precondition(
            output.elements.readableBytes == count * size, "an output has another size than its shape")
        }
      }
      let (body, headerLength) = InferenceJSON.body(of: answer, to: request, from: instance.served)
      let json = Data(body.readableBytesView.prefix(headerLength ?? body.readableBytes))
      precondition((try? JSONSerialization.jsonObject(with: json)) != nil, "an answer is not JSON")
    } catch { check(error) }
  }

  private static func run(
    _ request: InferenceRequest, on instance: ModelInstance
  ) throws(ServingError) -> InferenceAnswer {
    do throws(ApusError) {
      let cancellation = Cancellation()
      let (outputs, warnings, _) = try instance.run([request], cancellation: cancellation)
      return try InferenceAnswer(
        to: request, of: instance.served, outputs: outputs, items: 0..<request.batch, total: request.batch,
        warnings: warnings[0], cancellation: cancellation)
    } catch { throw ServingError(ofRequest: error) }
  }

  /// An encoded picture: it is decoded and written into the embedded model's input; with a first byte that is a multiple
  /// of 16, its objects are looked for, too.
  public func picture(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let file = ByteChunks(ByteBuffer(bytes: bytes[1...]))
    do throws(ApusError) {
      if first & 0x0F == 0 {
        let task = PictureTask(.detect, settings: .init(), file: file, form: first == 0 ? .annotated : .json)
        let answer = try task.run(on: pictures, cancellation: Cancellation())
        let json = Data(answer.body.readableBytesView)
        precondition(
          first == 0 || (try? JSONSerialization.jsonObject(with: json)) != nil, "an answer is not JSON")
      } else {
        let interpreter = try pictures.interpreter(for: pictures.served.inputs.map(\.defaultShape))
        try pictures.write(picture: file, toItem: 0, ofInput: 0, of: interpreter)
      }
    } catch { check(ServingError(ofRequest: error)) }
  }

  /// Checks that a client's request never counts as the server's failure.
  private func check(_ error: ServingError) {
    precondition(error.kind != .internalFailure, "a request is answered with: \(error.message)")
    precondition(!error.message.isEmpty, "an error has no message")
  }
}
