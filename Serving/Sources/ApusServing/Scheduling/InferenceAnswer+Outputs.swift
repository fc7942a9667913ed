// SPDX-License-Identifier: Apache-2.0
import Apus
import NIOCore

extension InferenceAnswer {
  /// The part of a batch's outputs that belongs to one request.
  ///
  /// - Parameters:
  ///   - items: The request's items within the batch.
  ///   - total: The items of the batch.
  ///   - warnings: The warnings about the request's pictures.
  ///   - cancellation: What ends a long classification.
  init(
    to request: InferenceRequest, of model: ServedModel, outputs: [ModelInstance.RawOutput],
    items: Range<Int>,
    total: Int, warnings: [String], cancellation: Cancellation
  ) throws(ApusError) {
    if !warnings.isEmpty {
      let left = warnings.count - Self.maximumWarnings
      warning =
        (warnings.prefix(Self.maximumWarnings) + (left > 0 ? ["and \(left) more"] : []))
        .joined(separator: "; ")
    } else {
      warning = nil
    }
    var bytesLeft = Classification.maximumBytes
    self.outputs = try request.outputs.map { wanted throws(ApusError) in
      let described = model.outputs[wanted.position]
      let whole = outputs[wanted.position]
      var shape = whole.shape
      var bytes = whole.bytes
      if items.count < total {
        let itemBytes = bytes.readableBytes / total
        bytes =
          bytes.getSlice(
            at: bytes.readerIndex + items.lowerBound * itemBytes, length: items.count * itemBytes)
          ?? ByteBuffer()
        shape[0] = items.count
      }
      guard let classes = wanted.classes else {
        return Output(
          request: wanted, name: wanted.name, datatype: described.datatype, shape: shape, elements: bytes)
      }
      let (labels, labelShape) = try Classification(
        datatype: described.datatype, shape: shape, batches: model.batches, count: classes,
        labels: { model.labels(ofOutput: wanted.position, classes: $0) }
      ).strings(of: bytes, bytesLeft: &bytesLeft, cancellation: cancellation)
      return Output(
        request: wanted, name: wanted.name, datatype: .bytes, shape: labelShape, elements: labels)
    }
  }
}
