// SPDX-License-Identifier: Apache-2.0
import ApusServing

/// The metrics of all loaded models and of cameras in Prometheus' text format.
struct PrometheusText {
  private let models: [(model: ServedModel, counts: ModelStatistics.Snapshot, waiting: Int)]
  private(set) var text = ""

  init(_ state: ServerState) {
    models = state.repository.entries.compactMap(\.model).map {
      ($0, $0.statistics.snapshot, state.scheduler.waitingCount(of: $0))
    }
    counters()
    family("nv_inference_pending_request_count", "Requests that wait for a run", "gauge") { entry in
      [("", UInt64(entry.waiting))]
    }
    histogram()
    cameras(state.cameras)
  }

  private mutating func cameras(_ cameras: [LiveCamera]) {
    guard !cameras.isEmpty else { return }
    let reports = cameras.map { ($0.settings.name, $0.report) }
    let families: [(String, String, String, (LiveCamera.Report) -> Int)] = [
      ("up", "Whether the camera delivers", "gauge", { $0.state == "running" ? 1 : 0 }),
      ("frames_total", "Frames that arrived", "counter", \.frames),
      ("answered_total", "Frames that were looked at", "counter", \.answered),
      ("failed_total", "Frames that were looked at without an answer", "counter", \.failed),
      ("dropped_total", "Frames that newer ones replaced", "counter", \.dropped),
      ("damaged_total", "Frames that came damaged or cut short", "counter", \.damaged),
      ("late_total", "Answers 150 ms after their frames or later", "counter", \.late),
      ("restarts_total", "Restarts of the source", "counter", \.restarts),
    ]
    for (name, help, type, value) in families {
      begin("apus_camera_\(name)", help, type)
      // A camera's name has letters, digits, - and _ alone.
      for (camera, report) in reports {
        text += "apus_camera_\(name){camera=\"\(camera)\"} \(value(report))\n"
      }
    }
    let name = "apus_camera_last_picture_timestamp_seconds"
    begin(name, "When the newest picture arrived, in seconds since 1970", "gauge")
    for case (let camera, let time?) in reports.map({ ($0.0, $0.1.lastPicture) }) {
      text += "\(name){camera=\"\(camera)\"} \(CameraText.seconds(time))\n"
    }
  }

  private typealias Entry = (model: ServedModel, counts: ModelStatistics.Snapshot, waiting: Int)

  private mutating func counters() {
    family("nv_inference_request_success", "Answered requests", "counter") { [("", $0.counts.success.count)] }
    family("nv_inference_request_failure", "Failed requests by reason", "counter") { entry in
      ModelStatistics.Reason.allCases.map { (",reason=\"\($0.rawValue)\"", entry.counts.failures[$0] ?? 0) }
    }
    family("nv_inference_count", "Answered items", "counter") { [("", $0.counts.inferenceCount)] }
    family("nv_inference_exec_count", "Runs of a model", "counter") { [("", $0.counts.executionCount)] }
    let durations: [(String, String, (ModelStatistics.Snapshot) -> ModelStatistics.Total)] = [
      ("request", "Time of answered requests, waiting included", \.success),
      ("queue", "Time that answered requests waited", \.queue),
      ("compute_input", "Time spent filling inputs", \.computeInput),
      ("compute_infer", "Time spent running models", \.computeInfer),
      ("compute_output", "Time spent reading outputs", \.computeOutput),
    ]
    for (name, help, total) in durations {
      family("nv_inference_\(name)_duration_us", "\(help), in microseconds", "counter") { entry in
        [("", total(entry.counts).nanoseconds / 1_000)]
      }
    }
  }

  private mutating func histogram() {
    let name = "nv_inference_first_response_histogram_ms"
    begin(name, "Time of answered requests, in milliseconds", "histogram")
    for entry in models {
      let labels = labels(of: entry.model)
      var sum: UInt64 = 0
      for (bound, count) in zip(ModelStatistics.latencyBounds, entry.counts.latencies) {
        sum += count
        text += "\(name)_bucket{\(labels),le=\"\(bound)\"} \(sum)\n"
      }
      sum += entry.counts.latencies[ModelStatistics.latencyBounds.count]
      text += "\(name)_bucket{\(labels),le=\"+Inf\"} \(sum)\n"
      text += "\(name)_sum{\(labels)} \(Double(entry.counts.success.nanoseconds) / 1e6)\n"
      text += "\(name)_count{\(labels)} \(sum)\n"
    }
  }

  private mutating func family(
    _ name: String, _ help: String, _ type: String, _ values: (Entry) -> [(labels: String, value: UInt64)]
  ) {
    begin(name, help, type)
    for entry in models {
      for (extra, value) in values(entry) { text += "\(name){\(labels(of: entry.model))\(extra)} \(value)\n" }
    }
  }

  private mutating func begin(_ name: String, _ help: String, _ type: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  private func labels(of model: ServedModel) -> String {
    // The format escapes line breaks alone; other characters that are not drawn are written as in JSON.
    let name = PrintableText.escaped(model.name).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "model=\"\(name)\",version=\"\(model.version)\""
  }
}
