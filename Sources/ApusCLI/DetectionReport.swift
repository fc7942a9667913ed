import ApusVision

/// What `apus detect --json` prints for a picture.
struct DetectionReport: Encodable {
  struct Box: Encodable {
    let x: Float
    let y: Float
    let width: Float
    let height: Float
  }

  struct Object: Encodable {
    let label: String?
    let index: Int
    let score: Float
    let box: Box

    private enum CodingKeys: CodingKey {
      case label, index, score, box
    }

    // A synthesized encoding leaves the key out where there is no label.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(label, forKey: .label)
      try container.encode(index, forKey: .index)
      try container.encode(score, forKey: .score)
      try container.encode(box, forKey: .box)
    }
  }

  struct Milliseconds: Encodable {
    let preprocess: Double
    let inference: Double
    let postprocess: Double
  }

  let image: String
  let width: Int
  let height: Int
  let detections: [Object]
  let milliseconds: Milliseconds

  init(_ name: String, _ picture: ImageBuffer, _ detections: [Detection], _ timings: StageTimings) {
    image = name
    width = picture.uprightWidth
    height = picture.uprightHeight
    self.detections = detections.map { detection in
      let rect = detection.rect
      return Object(
        label: detection.label, index: detection.index, score: detection.score,
        box: Box(x: rect.x, y: rect.y, width: rect.width, height: rect.height))
    }
    milliseconds = Milliseconds(
      preprocess: timings.preprocess, inference: timings.inference, postprocess: timings.postprocess)
  }
}
