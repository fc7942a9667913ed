// SPDX-License-Identifier: Apache-2.0
import Apus

extension ModelInterface {
  /// The access level of the type, and the place of its model.
  public struct SourceOptions: Sendable {
    /// Whether other modules may use it.
    public var isPublic = false
    /// Whether the model is among the resources of the type's target; otherwise a path is given.
    public var isResource = true

    /// Makes the options of the plugin: internal, with a resource.
    public init() {}
  }

  /// The type as a file of Swift.
  public func source(_ options: SourceOptions = SourceOptions()) -> String {
    let access = options.isPublic ? "public " : ""
    var lines = [
      "// Made from \(SwiftName.comment(fileName)) by apus generate. Do not edit: it is made anew when the model changes.",
      "import Apus",
    ]
    if task != nil || !labels.isEmpty { lines.append("import ApusVision") }
    if options.isResource { lines.append("import Foundation") }
    lines += ["", "/// The model `\(SwiftName.comment(fileName))`."]
    if let description { lines += ["///", "/// \(SwiftName.comment(description))"] }
    if let task {
      lines += ["///", "/// It is one for `\(task.rawValue)`, which assumes:"]
      lines += assumptions.map { "/// - \(SwiftName.comment($0))" }
    }
    if signatures.count > 1 {
      let names = signatures.map { "`\(SwiftName.comment($0))`" }.joined(separator: ", ")
      lines += [
        "///",
        "/// Its signatures are \(names). Inputs and outputs are those of "
          + (signature.map { "`\(SwiftName.comment($0))`." } ?? "none of them, but of the main function."),
      ]
    }
    lines += [
      "///", "/// An instance is for one thread at a time; models share their weights.",
      "\(access)final class \(typeName) {",
    ]
    lines += constants(access, options)
    if isTyped { lines += values("Input", "The inputs of the model.", inputs, access, isInput: true) }
    if isTyped { lines += values("Output", "The outputs of the model.", outputs, access, isInput: false) }
    if !labels.isEmpty { lines += hasCases ? labelCases(access) : labelNames(access) }
    lines += functions(access, options)
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  /// Whether each input and output has elements that Swift has, too.
  private var isTyped: Bool { (inputs + outputs).allSatisfy { $0.element != nil } }

  private func constants(_ access: String, _ options: SourceOptions) -> [String] {
    var lines = [
      "  /// The SHA-256 of the file from which this was made.",
      "  \(access)static let sha256 = \(SwiftName.literal(sha256))",
      "  /// Runs the model; its inputs and outputs are there as tensors, too.",
      "  \(access)let interpreter: Interpreter",
    ]
    if options.isResource {
      lines += [
        "", "  /// The model's file among the resources of this module.",
        "  \(access)static func modelPath() throws(ApusError) -> String {",
        "    let name = \(SwiftName.literal(fileName))",
        "    let folders: [String?] = [nil, \"Models\", \"Resources\"]",
        "    for folder in folders {",
        "      if let url = Bundle.module.url(forResource: name, withExtension: nil, subdirectory: folder) { return url.path }",
        "    }",
        "    throw ApusError(.unreadableFile, \"\\(name) is not among the resources of its target\")",
        "  }",
      ]
    }
    return lines
  }

  private func values(_ type: String, _ about: String, _ values: [Value], _ access: String, isInput: Bool)
    -> [String]
  {
    var lines = ["", "  /// \(about)", "  \(access)struct \(type): Sendable {"]
    for value in values {
      lines += [
        "    /// `\(SwiftName.comment(value.name))`: \(value.type.rawValue) \(shape(value))\(real(value)).",
        "    \(access)\(isInput ? "var" : "let") \(value.member): [\(value.element ?? "UInt8")]",
      ]
    }
    if isInput {
      let parameters = values.map { "\($0.member): [\($0.element ?? "UInt8")]" }.joined(separator: ", ")
      lines += ["", "    /// Makes an input.", "    \(access)init(\(parameters)) {"]
      lines += values.map { "      self.\($0.member) = \($0.member)" }
      lines.append("    }")
    } else {
      let names = realNames(values)
      for (value, name) in zip(values, names) {
        guard let (scale, zeroPoint) = value.scale else { continue }
        lines += [
          "", "    /// The real numbers of `\(value.member.filter { $0 != "`" })`.",
          "    \(access)var \(name): [Float] {",
          "      \(value.member).map { Float(Int32($0) - (\(zeroPoint))) * \(literal(scale)) }", "    }",
        ]
      }
    }
    lines.append("  }")
    return lines
  }

  /// The names of the real numbers of quantized outputs, none of which is that of an output; empty for outputs without a scale.
  private func realNames(_ values: [Value]) -> [String] {
    var taken = Set(values.map(\.member))
    return values.map { value in
      guard value.scale != nil else { return "" }
      let stem = "real\(SwiftName.capitalized(value.member))"
      var (name, number) = (stem, 2)
      while !taken.insert(name).inserted {
        name = "\(stem)_\(number)"
        number += 1
      }
      return name
    }
  }

  private func shape(_ value: Value) -> String {
    let usual = value.shape.map(String.init).joined(separator: "×")
    guard value.isOpen else { return usual.isEmpty ? "scalar" : usual }
    let open = value.signature.map { $0 < 0 ? "?" : "\($0)" }.joined(separator: "×")
    return "\(open), \(usual) unless `Options.inputShapes` says otherwise"
  }

  private func real(_ value: Value) -> String {
    guard let (scale, zeroPoint) = value.scale else { return "" }
    return ", real = (value − \(zeroPoint)) × \(scale)"
  }

  private func literal(_ scale: Float) -> String {
    scale.isFinite ? "Float(bitPattern: 0x\(String(scale.bitPattern, radix: 16)))" : "0"
  }

  private func labelCases(_ access: String) -> [String] {
    var lines = [
      "", "  /// The classes of the model, in their order.",
      "  \(access)enum Label: Int, CaseIterable, Sendable {",
    ]
    let members = SwiftName.members(
      labels.enumerated().map { SwiftName.hasWords($1) ? $1 : "class \($0)" },
      apartFrom: ["name", "names", "allCases", "rawValue", "hashValue"])
    lines += members.enumerated().map { "    case \($1) = \($0)" }
    lines += [
      "", "    /// The name as the model or its file of labels has it.",
      "    \(access)var name: String { Self.names[rawValue] }",
      "", "    private static let names: [String] = [",
    ]
    lines += labels.map { "      \(SwiftName.literal($0))," }
    lines += ["    ]", "  }"]
    return lines
  }

  private var hasCases: Bool { labels.count <= Self.maximumCases }

  /// The names of many classes: one literal, as a compiler takes its time for thousands of them.
  private func labelNames(_ access: String) -> [String] {
    let names = labels.map { label in
      "    " + SwiftName.literal(label.replacing(/\R/, with: " ")).dropFirst().dropLast()
    }
    return [
      "", "  /// The names of the model's \(labels.count) classes, in their order.",
      "  \(access)static let labelNames: [String] = \"\"\"",
    ] + names + [
      "    \"\"\".split(separator: \"\\n\", omittingEmptySubsequences: false).map(String.init)"
    ]
  }

  private func functions(_ access: String, _ options: SourceOptions) -> [String] {
    // A caller may choose the size of an open axis, but not how many there are.
    let isOpen = (inputs + outputs).contains(where: \.isOpen)
    let shapes = (inputs + outputs).map { value in
      "\"\(value.type.rawValue) \(isOpen ? value.signature : value.shape)\""
    }.joined(separator: ", ")
    let found = isOpen ? "shapeSignature" : "shape.dimensions"
    var lines = [
      "", "  /// Prepares a model for runs.", "  ///",
      "  /// - Throws: `invalidArgument` if it is not the one from which this was made; errors of `Interpreter`.",
      "  \(access)init(model: Model, options: Interpreter.Options = .init()) throws(ApusError) {",
      "    interpreter = try Interpreter(model: model, options: options, signature: \(signature.map(SwiftName.literal) ?? "nil"))",
      "    let found = (interpreter.inputs + interpreter.outputs).map { \"\\($0.type.rawValue) \\($0.\(found))\" }",
      "    let expected: [String] = [\(shapes)]",
      "    guard found == expected else {",
      "      throw ApusError(",
      "        .invalidArgument, \"the model has tensors \\(found), not \\(expected): make \(typeName) anew with apus generate\")",
      "    }", "  }",
    ]
    if options.isResource {
      lines += [
        "", "  /// Prepares the model of this module's resources.",
        "  \(access)convenience init(options: Interpreter.Options = .init()) throws(ApusError) {",
        "    try self.init(model: Model(contentsOfFile: Self.modelPath()), options: options)", "  }",
      ]
    }
    lines +=
      isTyped
      ? run(access)
      : [
        "", "  // An input or output has elements that Swift has no type for: use `interpreter`.",
      ]
    if let task {
      let takesLabels = [.detector, .segmenter, .classifier].contains(task)
      // A class without a name is none with an empty one, and class 0 is the first of them.
      let names = hasCases ? "Label.allCases.map(\\.name)" : "labelNames"
      let named = labels.contains("") ? "\(names).map { $0.isEmpty ? nil : $0 }" : names
      let given =
        takesLabels && isLabelled && !labels.isEmpty ? ", labels: LabelMap(\(named), offset: 0)" : ""
      lines += [
        "", "  /// The task that takes the model.",
        "  \(access)static func task(model: Model, options: \(task.rawValue).Options = .init()) throws(ApusError) -> \(task.rawValue) {",
        "    try \(task.rawValue)(model: model\(given), options: options)", "  }",
      ]
      if options.isResource {
        lines += [
          "", "  /// The task with the model of this module's resources.",
          "  \(access)static func task(options: \(task.rawValue).Options = .init()) throws(ApusError) -> \(task.rawValue) {",
          "    try task(model: Model(contentsOfFile: modelPath()), options: options)", "  }",
        ]
      }
    }
    return lines
  }

  private func run(_ access: String) -> [String] {
    var lines = [
      "", "  /// Runs the model once.", "  ///",
      "  /// - Throws: `invalidArgument` for an input of another number of elements; what `Interpreter.invoke` throws.",
      "  \(access)func run(_ input: Input, cancellation: Cancellation? = nil) throws(ApusError) -> Output {",
    ]
    lines += inputs.enumerated().map { "    try interpreter.copy(input.\($1.member), toInputAt: \($0))" }
    lines.append("    try interpreter.invoke(cancellation: cancellation)")
    let arguments = outputs.enumerated().map {
      "\(SwiftName.argument($1.member)): interpreter.output(at: \($0))"
    }
    lines.append("    return \(outputs.isEmpty ? "" : "try ")Output(\(arguments.joined(separator: ", ")))")
    lines.append("  }")
    return lines
  }
}
