// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusInterfaces
import ApusVision
import ArgumentParser

/// `apus generate`: a Swift type for a model.
struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Makes a Swift type for a model: typed inputs and outputs, classes, the task that takes it.",
    discussion: """
      The plugin ApusModels does the same in each build, for every model of a target.
      A file birds.tflite.sha256, as sha256sum writes it, refuses another model.

      For example:
        apus generate birds.tflite --output Sources/App/Birds.swift
      """)

  @Argument(help: "The .tflite file.")
  var model: String

  @Option(name: .long, help: "The name of the type; by default the file's.")
  var name: String?

  @Option(name: .long, help: "A file of labels; by default those inside the model.")
  var labels: String?

  @Option(
    name: .long,
    help:
      "The signature whose function the type runs; by default the model's main function, as 'apus run' has it."
  )
  var signature: String?

  @Option(name: .long, help: "The file to write; by default standard output.")
  var output: String?

  @Flag(name: .customLong("public"), help: "Let other modules use the type.")
  var isPublic = false

  @Flag(help: "The model is no resource of a target: the type takes a model instead.")
  var withoutResource = false

  func run() throws {
    let output = output == "-" ? nil : output
    if let output {
      if let source = [model, labels].compactMap(\.self).first(where: { FileIdentity.areSame($0, output) }) {
        throw ValidationError("--output would replace '\(source)': choose another place")
      }
      try checkWritable(output)
    }
    let interface = try ModelInterface(
      modelFile: model, typeName: name, labelsFile: labels, signature: signature)
    try ModelPin.check(model, sha256: interface.sha256)
    var options = ModelInterface.SourceOptions()
    options.isPublic = isPublic
    options.isResource = !withoutResource
    TaskWarnings { interface.warnings }.write()
    let source = interface.source(options)
    guard let output else { return Output.write(String(source.dropLast())) }
    try writeWholeFile(Array(source.utf8), to: output)
  }
}
