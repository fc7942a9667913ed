// SPDX-License-Identifier: Apache-2.0
import Apus

/// The input of a task's model as the task fills it: with its normalization, order of channels, fit and resampling.
///
/// It writes pictures for interpreters of one's own, which then compute what the task's answers are made of.
///
/// ```swift
/// let classifier = try ImageClassifier(model: model)
/// let interpreter = try Interpreter(model: model)
/// try PictureInput(of: classifier)?.write(picture, to: interpreter)
/// try interpreter.invoke()
/// ```
public struct PictureInput: Sendable {
  private let input: ImageInput
  private let processor: ImageProcessor

  /// The input of a task; nil for a task of several models.
  public init?(of task: some VisionTask) {
    guard let pictures = (task as? any TaskOfOneModel)?.pictures else { return nil }
    (input, processor) = (pictures.input, pictures.processor)
  }

  /// Writes a picture into the first input of an interpreter.
  ///
  /// - Parameters:
  ///   - picture: The picture, of any size.
  ///   - interpreter: An interpreter of the task's model.
  ///   - item: The picture's place in the batch.
  ///   - count: How many pictures the interpreter's input takes.
  /// - Throws: `invalidArgument` for an item outside the batch, or an input that does not take `count` pictures.
  public func write(
    _ picture: ImageBuffer, to interpreter: Interpreter, item: Int = 0, of count: Int = 1
  ) throws(ApusError) {
    guard count > 0, (0..<count).contains(item) else {
      throw ApusError(.invalidArgument, "picture \(item) is not one of \(count), counted from 0")
    }
    _ = try input.write(
      picture, in: nil, by: processor, threads: 1, to: interpreter, slot: item, of: count, copies: 1)
  }
}

/// A task whose only model takes pictures.
protocol TaskOfOneModel {
  /// The model.
  var pictures: PictureModel { get }
}

extension ImageClassifier: TaskOfOneModel {}
extension ImageEmbedder: TaskOfOneModel {}
extension ImageSegmenter: TaskOfOneModel {}
extension ObjectDetector: TaskOfOneModel {}
extension FaceDetector: TaskOfOneModel {}
extension KeypointDetector: TaskOfOneModel {}
extension PictureTransformer: TaskOfOneModel {}
