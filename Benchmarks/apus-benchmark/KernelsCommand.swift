// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusCodeGeneration
import ApusConsole
import ApusKernels
import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `apus-benchmark kernels`: each kernel set on the layers of real models.
struct KernelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels",
    abstract: "Measures kernel sets on the layers of real models, after checking their results.")

  @Option(name: .long, help: "Measure only this kernel set.")
  var kernels: String?

  @Option(name: .long, help: "A file of layers, see Benchmarks/Shapes.")
  var shapes = "Benchmarks/Shapes/shapes.txt"

  @Option(name: .long, help: "Measure only layers of this type: uint8, int8 or float32.")
  var type: String?

  @Flag(help: "Print each layer, not only the sums.")
  var layers = false

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    try Runtime.checkKernels(named: kernels.map(KernelSetName.init(rawValue:)))
    let sets = KernelSet.supported.filter { kernels == nil || $0.name == kernels }
    guard type == nil || type.flatMap(LayerShape.Scheme.init) != nil else {
      throw ApusError(.invalidArgument, "--type is \(type ?? ""), not uint8, int8 or float32")
    }
    let text: String
    do { text = String(decoding: try Data(contentsOf: URL(filePath: shapes)), as: UTF8.self) } catch {
      throw ApusError(.unreadableFile, "\(shapes): cannot be read; --shapes names a file of layers")
    }
    let shapes = try LayerShape.shapes(in: text, path: shapes).filter {
      type == nil || $0.scheme.rawValue == type
    }
    let machine = try MachinePeak()
    var report = KernelsReport()
    report.peaks = InstructionPeak.allCases.compactMap { instruction in
      machine.instructions[instruction].map { .init(instruction: instruction.name, gmacsPerSecond: $0) }
    }
    for (position, shape) in shapes.enumerated() {
      Output.progress("\(position + 1) of \(shapes.count): \(shape.text) \(shape.scheme)")
      let measurement = try LayerMeasurement(shape)
      for set in sets {
        let time = try measurement.milliseconds(by: set)
        let rate = time.map { Double(shape.multiplyAccumulates) / max($0, 1e-9) / 1e6 }
        let peak = machine.peak(of: KernelSetName(rawValue: set.name), isFloat: shape.scheme == .float32)
        report.layers.append(
          .init(
            kernels: set.name, kind: shape.kind.rawValue, type: shape.scheme.rawValue, shape: shape.text,
            rows: shape.rows, depth: shape.depth, columns: shape.outputChannels, count: shape.count,
            macs: shape.multiplyAccumulates, group: shape.group.name, medianMs: time, gmacsPerSecond: rate,
            peakShare: rate.map { $0 / peak }))
      }
    }
    report.addSums(sets: sets, machine: machine)
    if json { try Output.writeJSON(report) } else { Output.write(report.text(everyLayer: layers)) }
  }
}
