// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

extension ServedModel {
  /// A detector of objects with an interpreter of its own, for work that does not wait in the model's queue.
  ///
  /// - Parameter threads: Threads that one run may use.
  /// - Throws: what stops the task, such as `invalidArgument` if the model is no detector.
  public func objectDetector(threads: Int) throws(ApusError) -> ObjectDetector {
    var options = ObjectDetector.Options()
    options.interpreter.threadCount = threads
    return try ObjectDetector(model: model, labels: givenLabels, options: options)
  }

  /// How aligned faces become embeddings by this model: what a gallery of them says. Takes as long as reading the model.
  ///
  /// - Throws: what stops the task, such as `invalidArgument` if the model is no embedder.
  public func facePreparation() throws(ApusError) -> String {
    try ImageEmbedder(model: model).preparation(alignsFaces: true)
  }
}
