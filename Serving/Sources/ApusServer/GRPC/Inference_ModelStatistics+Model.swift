// SPDX-License-Identifier: Apache-2.0
import ApusServing
import InferenceProtocol

extension Inference_ModelStatistics {
  /// The counts of a model.
  init(_ model: ServedModel) {
    let counts = model.statistics.snapshot
    func duration(_ total: ModelStatistics.Total) -> Inference_StatisticDuration {
      .with {
        $0.count = total.count
        $0.ns = total.nanoseconds
      }
    }
    self = .with {
      $0.name = model.name
      $0.version = model.version
      $0.lastInference = counts.lastInference
      $0.inferenceCount = counts.inferenceCount
      $0.executionCount = counts.executionCount
      $0.inferenceStats = .with {
        $0.success = duration(counts.success)
        $0.fail = duration(counts.fail)
        $0.queue = duration(counts.queue)
        $0.computeInput = duration(counts.computeInput)
        $0.computeInfer = duration(counts.computeInfer)
        $0.computeOutput = duration(counts.computeOutput)
        $0.cacheHit = .init()
        $0.cacheMiss = .init()
      }
      $0.batchStats = counts.batches.sorted { $0.key < $1.key }.map { size, batch in
        .with {
          $0.batchSize = UInt64(size)
          $0.computeInput = duration(batch.computeInput)
          $0.computeInfer = duration(batch.computeInfer)
          $0.computeOutput = duration(batch.computeOutput)
        }
      }
    }
  }
}
