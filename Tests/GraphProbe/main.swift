// SPDX-License-Identifier: Apache-2.0

// Runs graphs that Tools/goldens/graphs.py sends over standard input, in many ways, and returns the results over standard output.
// With "--kernels" it lists the kernel sets of this machine instead.
import Apus

if CommandLine.arguments.dropFirst().first == "--kernels" {
  for set in Runtime.kernelSets where set.isSupported { print(set.name) }
} else {
  let pipe = Pipe()
  while let frame = pipe.receive() {
    pipe.send(answer(to: Case(frame)))
  }
}

func answer(to given: Case) -> [UInt8] {
  var answer = FrameWriter()
  do throws(ApusError) {
    if given.ways.contains("tensors") {
      let tensors = try Ways.tensors(of: given)
      answer.add(2)
      answer.add(tensors.count)
      for (index, output) in tensors {
        answer.add(index)
        add(output, to: &answer)
      }
      return answer.bytes
    }
    if given.ways.contains("rows") {
      answer.add(3)
      answer.add(given.kernels.count)
      for kernels in given.kernels {
        var trial = try RowTrial(given, kernels: kernels)
        answer.add(kernels)
        answer.add(trial.result())
      }
      return answer.bytes
    }
    if given.ways.contains("limits") {
      let phases = try LimitTrial(given, kernels: given.kernels.first ?? "").result()
      answer.add(4)
      answer.add(phases.count)
      for phase in phases {
        answer.add(phase.reason)
        for nanoseconds in [
          phase.wallNanoseconds, phase.lateWallNanoseconds, phase.lateProcessorNanoseconds,
        ] { answer.add(nanoseconds / 1000) }
        answer.add(phase.grownByteCount >> 10)
      }
      return answer.bytes
    }
    let (runs, disagreements) = try given.order.isEmpty ? usual(given) : ordered(given)
    answer.add(0)
    answer.add(runs.count)
    for run in runs {
      answer.add(run.kernels)
      answer.add(run.set)
      switch run.outcome {
      case .outputs(let outputs):
        answer.add(outputs.count)
        for output in outputs { add(output, to: &answer) }
      case .failed(let reason):
        answer.add(-1)
        answer.add(reason)
      }
    }
    answer.add(disagreements.count)
    for disagreement in disagreements { answer.add(disagreement) }
  } catch {
    answer = FrameWriter()
    answer.add(1)
    answer.add("\(error)")
  }
  return answer.bytes
}

func usual(_ given: Case) throws(ApusError) -> ([(kernels: String, set: Int, outcome: Outcome)], [String]) {
  var ways = try Ways(given)
  try ways.runAll()
  return (ways.runs, ways.disagreements)
}

func ordered(_ given: Case) throws(ApusError) -> ([(kernels: String, set: Int, outcome: Outcome)], [String]) {
  var trial = try SequenceTrial(given)
  trial.runAll()
  return (trial.runs, trial.disagreements)
}

func add(_ output: Output, to answer: inout FrameWriter) {
  answer.add(output.type.rawValue)
  answer.add(output.shape.count)
  for dimension in output.shape { answer.add(dimension) }
  answer.add(output.bytes)
}
