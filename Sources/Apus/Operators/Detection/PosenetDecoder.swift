// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// Coral's `PosenetDecoderOp`: turns PoseNet's maps into poses, and BodyPix's maps also into masks.
///
/// Inputs: scores `1×H×W×17`, short displacements `1×H×W×34`, those between points `1×H×W×64`, and for masks long ones,
/// `1×33×33×34`; displacements are in pixels of the picture. Outputs: points `1×D×17×2` (row, column) in these pixels, their
/// scores `1×D×17`, scores of poses `1×D`, how many there are, and masks `1×D×33×33`. Slots beyond these are zero.
struct PosenetDecoder: Operator {
  /// A map: the input, and as floats in units of the map's pixels.
  private struct Map {
    let source: TensorSlot
    let scratch: TensorSlot
    let zeroPoint: Float
    let scale: Float
  }

  private let maps: [Map]
  private let outputs: [TensorSlot]
  private let scratch: TensorSlot
  private let poses: PoseDecoding
  private let masks: PoseMasks

  /// The maximum number of poses.
  private static let limit = 4096

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try PosenetDecoder(node)
  }

  private init(_ node: Node) throws(ApusError) {
    let hasMasks = node.inputCount == 4
    try node.expect(inputs: 3...4, outputs: hasMasks ? 5...5 : 4...4)
    let options = try node.flexBufferOptions()
    let most = Int(clamping: options.int64("max_detections"))
    let stride = Int(clamping: options.int64("stride"))
    guard (0...Self.limit).contains(most), (1...Int(Int32.max)).contains(stride) else {
      throw node.malformed(
        "max_detections is \(most) and stride \(stride), not up to \(Self.limit) and above 0")
    }
    let channels = PoseDecoding.channels
    let depths = [channels.scores, channels.short, channels.middle] + (hasMasks ? [channels.short] : [])
    var maps: [Map] = []
    for (position, depth) in depths.enumerated() {
      let slot = try node.input(position, types: [.float32, .uint8], rank: 4)
      let size: TensorShape =
        position == 3
        ? [1, PoseDecoding.maskSize, PoseDecoding.maskSize, depth]
        : [1, (maps.first?.source ?? slot).shape[1], (maps.first?.source ?? slot).shape[2], depth]
      guard slot.shape == size else { throw node.malformed("\(slot.name) is \(slot.shape), not \(size)") }
      let (scale, zeroPoint) = slot.type == .uint8 ? try node.quantization(of: slot) : (1, 0)
      let factor = position == 0 ? 1 : Float(1 / Double(stride))
      maps.append(
        Map(
          source: slot, scratch: try node.scratch(count: slot.shape.elementCount, width: 4),
          zeroPoint: Float(zeroPoint), scale: scale * factor))
    }
    let (height, width) = (maps[0].source.shape[1], maps[0].source.shape[2])
    let pixels = height.multipliedReportingOverflow(by: width)
    guard height > 0, width > 0, !pixels.overflow, pixels.partialValue <= 1 << 26 else {
      throw node.malformed("maps of \(height)×\(width) hold no poses that can be counted")
    }
    let threshold = Float(options.double("score_threshold"))
    let radius = Float(options.double("nms_radius"))
    guard threshold.isFinite, radius.isFinite else {
      throw node.malformed("score_threshold is \(threshold) and nms_radius \(radius)")
    }
    try node.check(
      plainWork: Double(pixels.partialValue) * Double(PoseDecoding.pointCount) * (64 + Double(most)))
    self.maps = maps
    let points = PoseDecoding.pointCount
    let shapes: [TensorShape] = [
      [1, most, points, 2], [1, most, points], [1, most], [1],
      [1, most, PoseDecoding.maskSize, PoseDecoding.maskSize],
    ]
    var outputs: [TensorSlot] = []
    for position in 0..<node.outputCount {
      outputs.append(try node.output(position, shape: shapes[position], types: [.float32]))
    }
    self.outputs = outputs
    poses = PoseDecoding(
      height: height, width: width, most: most, threshold: threshold, radius: radius / Float(stride),
      stride: Float(stride))
    masks = PoseMasks(stride: Float(stride))
    scratch = try node.scratch(byteCount: poses.scratchByteCount)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    for map in maps { read(map, tensors) }
    var points = tensors.write(outputs[0], as: Float.self)
    var pointScores = tensors.write(outputs[1], as: Float.self)
    var scores = tensors.write(outputs[2], as: Float.self)
    var count = tensors.write(outputs[3], as: Float.self)
    var scratch = tensors.writeBytes(scratch)
    let found = poses.run(
      scores: tensors.readBytes(maps[0].scratch), short: tensors.readBytes(maps[1].scratch),
      middle: tensors.readBytes(maps[2].scratch), points: &points, pointScores: &pointScores,
      scores: &scores, scratch: &scratch, threads: tensors.threads)
    count[0] = Float(found)
    guard maps.count == 4 else { return }
    var result = tensors.write(outputs[4], as: Float.self)
    masks.run(
      displacements: tensors.readBytes(maps[3].scratch), points: tensors.read(outputs[0]), count: found,
      to: &result)
  }

  /// Converts a map to floats.
  private func read(_ map: Map, _ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(map.scratch)
    if map.source.type == .uint8 {
      let values = tensors.read(map.source, as: UInt8.self)
      for index in values.indices {
        result.storeBytes(
          of: (Float(values[index]) - map.zeroPoint) * map.scale, toByteOffset: 4 * index, as: Float.self)
      }
    } else {
      let values = tensors.read(map.source, as: Float.self)
      for index in values.indices {
        result.storeBytes(of: values[index] * map.scale, toByteOffset: 4 * index, as: Float.self)
      }
    }
  }
}
