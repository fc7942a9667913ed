// SPDX-License-Identifier: Apache-2.0
import Apus

/// A task's assumptions about a model: enough to reproduce its results with other means.
public struct TaskAssumptions: Codable, Hashable, Sendable {
  /// How a picture becomes the model's input.
  public struct Input: Codable, Hashable, Sendable {
    /// The tensor's name.
    public let name: String
    /// The tensor's type.
    public let type: String
    /// The tensor's shape.
    public let shape: [Int]
    /// `NHWC` or `NCHW`.
    public let layout: String
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// `rgb`, `bgr` or `gray`.
    public let channels: String
    /// The policy for pictures of other proportions.
    public let fit: String
    /// How pixels are computed.
    public let resampling: String
    /// The number that a pixel `v` becomes, as an expression.
    public let value: String
    /// Where the normalization comes from.
    public let valueSource: String

    /// Describes an input.
    public init(
      name: String, type: String, shape: [Int], layout: String, width: Int, height: Int, channels: String,
      fit: String, resampling: String, value: String, valueSource: String
    ) {
      self.name = name
      self.type = type
      self.shape = shape
      self.layout = layout
      self.width = width
      self.height = height
      self.channels = channels
      self.fit = fit
      self.resampling = resampling
      self.value = value
      self.valueSource = valueSource
    }
  }

  /// An output and its role.
  public struct Output: Codable, Hashable, Sendable {
    /// Its position among the model's outputs.
    public let index: Int
    /// The tensor's name.
    public let name: String
    /// The tensor's type.
    public let type: String
    /// The tensor's shape.
    public let shape: [Int]
    /// How integers become real numbers; nil for floats.
    public let value: String?
    /// The output's content, in words.
    public let role: String

    /// Describes an output.
    public init(index: Int, name: String, type: String, shape: [Int], value: String? = nil, role: String) {
      self.index = index
      self.name = name
      self.type = type
      self.shape = shape
      self.value = value
      self.role = role
    }
  }

  /// Where names of classes come from.
  public struct Labels: Codable, Hashable, Sendable {
    /// The file, or who gave them.
    public let source: String
    /// The rows.
    public let count: Int
    /// How many label rows precede class 0.
    public let offset: Int

    /// Describes labels.
    public init(source: String, count: Int, offset: Int) {
      self.source = source
      self.count = count
      self.offset = offset
    }
  }

  /// The task's name.
  public let task: String
  /// The kind of model.
  public let kind: String
  /// Why the model was taken for one of that kind.
  public let reason: String
  /// Every reading of the model with its source: those of the outputs, then of the picture, then of the labels.
  public private(set) var readings: [Assumption]
  /// The input.
  public let input: Input
  /// The outputs that are used.
  public let outputs: [Output]
  /// The names of classes; nil if there are none.
  public let labels: Labels?
  /// The postprocessing steps, in order.
  public let steps: [String]
  /// Warnings about the model; usually empty.
  public private(set) var warnings: [String]

  /// Makes what a task of one's own assumes.
  public init(
    task: String, kind: String, reason: String, readings: [Assumption] = [], input: Input,
    outputs: [Output] = [], labels: Labels? = nil, steps: [String] = [], warnings: [String] = []
  ) {
    self.task = task
    self.kind = kind
    self.reason = reason
    self.readings = readings
    self.input = input
    self.outputs = outputs
    self.labels = labels
    self.steps = steps
    self.warnings = warnings
  }

  /// Collects what a task assumes.
  ///
  /// - Parameters:
  ///   - readings: How the task reads the outputs; the picture's and the labels' readings are added.
  ///   - labels: The names of classes; the outer nil if the task has no classes.
  init(
    task: String, kind: String, reason: String, pictures: PictureModel, roles: [Int: String],
    readings: [Assumption], labels: LabelSource?? = nil, steps: [String], warnings: [String] = []
  ) {
    self.task = task
    self.kind = kind
    self.reason = reason
    input = Input(pictures)
    self.readings =
      readings + pictures.readings
      + (labels.map { $0?.readings ?? [LabelSource.nothing(unread: pictures.unreadLabels)] } ?? [])
    outputs = roles.sorted { $0.key < $1.key }.compactMap { index, role in
      guard pictures.outputs.indices.contains(index) else { return nil }
      let tensor = pictures.outputs[index]
      let scale = tensor.type == .float32 ? nil : tensor.quantization
      return Output(
        index: index, name: tensor.name, type: tensor.type.rawValue, shape: tensor.shape.dimensions,
        value: scale.map { "\($0.scale) * (q - \($0.zeroPoint))" }, role: role)
    }
    self.labels = (labels ?? nil).map {
      Labels(source: $0.source, count: $0.map.rowCount, offset: $0.map.offset)
    }
    self.steps = steps
    self.warnings =
      warnings + pictures.warnings
      + (labels.map { $0?.warnings ?? LabelSource.warnings(ofUnread: pictures.unreadLabels) } ?? [])
  }
}

extension TaskAssumptions {
  /// With those of a model that works for this one, under its name.
  func with(_ other: TaskAssumptions, of name: String) -> TaskAssumptions {
    with(other.readings, warnings: other.warnings, of: name)
  }

  /// With how the scores of a detector are read, under the name of what it finds.
  func with(_ scores: AnchorScores, of name: String) -> TaskAssumptions {
    with([scores.assumption], warnings: scores.warnings, of: name)
  }

  /// With what else is suspicious.
  func with(warnings: [String]) -> TaskAssumptions { with([], warnings: warnings, of: "") }

  private func with(_ others: [Assumption], warnings: [String], of name: String) -> TaskAssumptions {
    var result = self
    result.readings += others.map {
      Assumption("\(name) \($0.subject)", $0.value, $0.source, reason: $0.reason, option: $0.option)
    }
    result.warnings += warnings
    return result
  }
}

extension TaskAssumptions.Input {
  init(_ pictures: PictureModel) {
    let (input, processor) = (pictures.input, pictures.processor)
    name = input.tensor.name
    type = input.tensor.type.rawValue
    shape = input.tensor.shape.dimensions
    layout = input.geometry.isPlanar ? "NCHW" : "NHWC"
    width = processor.width
    height = processor.height
    channels = processor.channels.rawValue
    let color = processor.fit.fill ?? .black
    let fill = "(\(color.red), \(color.green), \(color.blue))"
    fit =
      switch processor.fit {
      case .stretch: "stretch: each side is scaled by itself"
      case .centerCrop: "center-crop: the largest centered part with the input's proportions"
      case .letterbox: "letterbox: centered, proportions kept, filled with \(fill)"
      case .topLeftLetterbox: "letterbox: at the top left, proportions kept, filled with \(fill)"
      }
    resampling =
      switch processor.resampling {
      case .automatic: "bilinear, but area along a side that shrinks to less than half"
      case .bilinear: "bilinear, half-pixel centers, no antialiasing"
      case .area: "area: the mean over what a pixel covers"
      case .mediaPipe: "mediapipe: bilinear from the corner, in steps of 1/32 pixel, no antialiasing"
      case .nearest: "nearest"
      }
    value = Self.value(input)
    valueSource = input.pixels.source.text
  }

  private static func value(_ input: ImageInput) -> String {
    guard let normalization = input.normalization else {
      return input.tensor.type == .int8 ? "v - 128" : "v"
    }
    let real =
      switch normalization {
      case .unit: "v / 255"
      case .signed: "(v - 127.5) / 127.5"
      case .meanStd(let mean, let std): "(v - \(text(mean))) / \(text(std))"
      case .perImageStandardization: "(v - mean) / max(std, 1 / sqrt(N)), of the N values of the picture"
      }
    guard input.tensor.type != .float32, let scale = input.tensor.quantization else { return real }
    return "round((\(real)) / \(scale.scale)) + \(scale.zeroPoint)"
  }

  private static func text(_ values: [Float]) -> String {
    values.count == 1 ? "\(values[0])" : "\(values)"
  }
}
