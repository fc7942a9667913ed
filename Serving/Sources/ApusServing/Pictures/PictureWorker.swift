// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import NIOCore

/// Runs one vision task on encoded pictures, one after the other, and returns a line of JSON for each.
///
/// An answer does not depend on the pictures before it. A worker belongs to one thread.
public final class PictureWorker {
  private let kind: VisionTaskKind
  private let settings: PictureTask.Settings
  private let instance: ModelInstance

  /// Prepares a task for a model.
  ///
  /// - Parameters:
  ///   - timeLimit: How long the model may take to be prepared; nil for any time.
  ///   - warn: Gets what is suspicious about the model and the settings, each once.
  /// - Throws: what stops the model or the task.
  public init(
    _ kind: VisionTaskKind, source: ModelSource, settings: PictureTask.Settings, threads: Int,
    timeLimit: Duration? = nil,
    imageLimits: ImageLimits = ImageLimits(maximumPixelCount: 1 << 26),
    warn: @escaping @Sendable (TaskWarning) -> Void
  ) throws(ApusError) {
    self.kind = kind
    self.settings = settings
    var options = Interpreter.Options()
    options.threadCount = threads
    options.timeLimit = timeLimit
    instance = ModelInstance(
      of: try ServedModel(source, maximumBatch: 1), options: options, imageLimits: imageLimits,
      warn: warn)
    _ = try instance.tasks.task(kind, settings, on: instance)
  }

  /// The answer to a picture: the results with its number, or the reason why there are none.
  public func line(id: UInt32, picture file: [UInt8], cancellation: Cancellation) -> ByteBuffer {
    do throws(ApusError) {
      let task = PictureTask(
        kind, settings: settings, file: ByteChunks(ByteBuffer(bytes: file)), form: .json)
      var json = try task.run(on: instance, cancellation: cancellation).body
      json.moveReaderIndex(forwardBy: 1)
      var line = ByteBuffer(string: "{\"id\":\(id),")
      line.writeImmutableBuffer(json)
      line.writeString("\n")
      return line
    } catch {
      return Self.line(
        id: id, error: error.code == .cancelled ? "the deadline passed" : error.message)
    }
  }

  /// The answer to a picture that was not looked at.
  public static func line(id: UInt32, error: String) -> ByteBuffer {
    var writer = JSONWriter()
    writer.object { writer in
      writer.field("id", id)
      writer.field("error", error)
    }
    var line = writer.buffer
    line.writeString("\n")
    return line
  }
}
