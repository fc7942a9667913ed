// SPDX-License-Identifier: Apache-2.0
import ApusServing

/// The server's descriptions of itself and its models, as JSON.
enum Descriptions {
  /// The platform in metadata.
  static let platform = "apus_tflite"

  static func server(named name: String, _ writer: inout JSONWriter) {
    writer.object { writer in
      writer.field("name", name)
      writer.field("version", ServerState.version)
      writer.key("extensions")
      writer.array { writer in for name in ServerState.extensions { writer.string(name) } }
    }
  }

  static func metadata(of model: ServedModel, versions: [String], _ writer: inout JSONWriter) {
    writer.object { writer in
      writer.field("name", model.name)
      writer.key("versions")
      writer.array { writer in for version in versions { writer.string(version) } }
      writer.field("platform", platform)
      for (role, tensors) in [("inputs", model.describedInputs), ("outputs", model.describedOutputs)] {
        writer.key(role)
        writer.array { writer in
          for tensor in tensors {
            writer.object { writer in
              writer.field("name", tensor.name)
              writer.field("datatype", tensor.datatype.rawValue)
              writer.field("shape", tensor.shape)
            }
          }
        }
      }
    }
  }

  static func configuration(
    of model: ServedModel, _ scheduling: Scheduler.Configuration, _ writer: inout JSONWriter
  ) {
    writer.object { writer in
      writer.field("name", model.name)
      writer.field("platform", platform)
      writer.field("backend", ServerState.name)
      writer.field("max_batch_size", model.batches ? model.maximumBatch : 0)
      for (role, tensors) in [("input", model.describedInputs), ("output", model.describedOutputs)] {
        writer.key(role)
        writer.array { writer in
          for (position, tensor) in tensors.enumerated() {
            writer.object { writer in
              writer.field("name", tensor.name)
              writer.field("data_type", tensor.datatype.configurationName)
              if role == "input" {
                writer.field("format", isNHWC(model, input: position) ? "FORMAT_NHWC" : "FORMAT_NONE")
              }
              // The batch is not among the dimensions of a configuration.
              writer.field("dims", model.batches ? Array(tensor.shape.dropFirst()) : tensor.shape)
            }
          }
        }
      }
      writer.key("instance_group")
      writer.array { writer in
        writer.object { writer in
          writer.field("name", model.name)
          writer.field("kind", "KIND_CPU")
          writer.field("count", scheduling.instances)
        }
      }
      if model.batches {
        writer.key("dynamic_batching")
        writer.object { writer in
          writer.field("preferred_batch_size", [model.joining.count])
          writer.field("max_queue_delay_microseconds", Int(scheduling.queueDelay / .microseconds(1)))
        }
      }
      joining(of: model, &writer)
    }
  }

  /// Whether requests share runs, and why not, or not more: parameters, which a configuration may have any of.
  private static func joining(of model: ServedModel, _ writer: inout JSONWriter) {
    writer.key("parameters")
    writer.object { writer in
      for (name, text) in parameters(of: model) {
        writer.key(name)
        writer.object { writer in writer.field("string_value", text) }
      }
    }
  }

  /// Whether a configuration says that an input is a picture. The three dimensions of that format are without the batch, so that it is for
  /// models that take batches.
  static func isNHWC(_ model: ServedModel, input position: Int) -> Bool {
    model.batches && model.takesPictures(atInput: position)
  }

  /// The parameters of a model's configuration: how many items may share a run, and why there are no more; and what a `config.pbtxt` sets
  /// that is not heeded.
  static func parameters(of model: ServedModel) -> [(name: String, value: String)] {
    let joining = model.joining
    let ignored = model.source.ignoredSettings.joined(separator: ", ")
    return [("joins", "\(joining.count)")] + (joining.reason.map { [("joins_reason", $0)] } ?? [])
      + (ignored.isEmpty ? [] : [("ignored_settings", ignored)])
  }

  // MARK: Statistics

  static func statistics(of models: [ServedModel], _ writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("model_stats")
      writer.array { writer in
        for model in models {
          writer.object { writer in statistics(of: model, &writer) }
        }
      }
    }
  }

  private static func statistics(of model: ServedModel, _ writer: inout JSONWriter) {
    let counts = model.statistics.snapshot
    writer.field("name", model.name)
    writer.field("version", model.version)
    writer.field("last_inference", counts.lastInference)
    writer.field("inference_count", counts.inferenceCount)
    writer.field("execution_count", counts.executionCount)
    writer.key("inference_stats")
    writer.object { writer in
      for (name, total) in [
        ("success", counts.success), ("fail", counts.fail), ("queue", counts.queue),
        ("compute_input", counts.computeInput), ("compute_infer", counts.computeInfer),
        ("compute_output", counts.computeOutput), ("cache_hit", .init()), ("cache_miss", .init()),
      ] {
        write(total, name, &writer)
      }
    }
    writer.key("batch_stats")
    writer.array { writer in
      for (size, batch) in counts.batches.sorted(by: { $0.key < $1.key }) {
        writer.object { writer in
          writer.field("batch_size", size)
          write(batch.computeInput, "compute_input", &writer)
          write(batch.computeInfer, "compute_infer", &writer)
          write(batch.computeOutput, "compute_output", &writer)
        }
      }
    }
  }

  private static func write(_ total: ModelStatistics.Total, _ name: String, _ writer: inout JSONWriter) {
    writer.key(name)
    writer.object { writer in
      writer.field("count", total.count)
      writer.field("ns", total.nanoseconds)
    }
  }

  // MARK: Repository

  static func index(of entries: [ModelRepository.Entry], onlyReady: Bool, _ writer: inout JSONWriter) {
    writer.array { writer in
      for entry in entries where entry.model != nil || !onlyReady {
        writer.object { writer in
          writer.field("name", entry.source.name)
          writer.field("version", entry.source.version)
          writer.field("state", entry.model == nil ? "UNAVAILABLE" : "READY")
          writer.field("reason", entry.reason)
        }
      }
    }
  }

  /// Whether the body of an index request asks for models that are ready alone.
  static func wantsReadyOnly(_ body: [UInt8]) throws(ServingError) -> Bool {
    guard !body.isEmpty else { return false }
    return try InferenceJSON.object(body).bool("ready") ?? false
  }
}
