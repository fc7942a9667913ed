import ApusFormat

/// What the engine knows of one operator before it meets a model.
struct OperatorRegistration: Sendable {
  /// The schema's name, or the custom operator's.
  let name: String
  /// Whether the operator is outside the schema's list.
  let isCustom: Bool
  /// The versions whose features are implemented.
  let versions: ClosedRange<Int>
  /// The types that the first input may have.
  let types: [ElementType]
  /// Whether equal inputs give equal outputs, so that results of constants may be kept.
  let isPure: Bool
  /// Checks a node and makes a runnable operator of it.
  let prepare: @Sendable (Node) throws(ApusError) -> any Operator

  /// Registers a builtin operator.
  init(
    _ code: OperatorCode, versions: ClosedRange<Int>, types: [ElementType], isPure: Bool = true,
    _ prepare: @escaping @Sendable (Node) throws(ApusError) -> any Operator
  ) {
    name = code.schemaName
    isCustom = false
    self.versions = versions
    self.types = types
    self.isPure = isPure
    self.prepare = prepare
  }

  /// Registers a custom operator.
  init(
    custom name: String, versions: ClosedRange<Int> = 1...1, types: [ElementType], isPure: Bool = true,
    _ prepare: @escaping @Sendable (Node) throws(ApusError) -> any Operator
  ) {
    self.name = name
    isCustom = true
    self.versions = versions
    self.types = types
    self.isPure = isPure
    self.prepare = prepare
  }
}

/// The operators of this build: one line each.
enum OperatorRegistry {
  private static let builtin = byName(all.filter { !$0.isCustom })
  private static let custom = byName(all.filter(\.isCustom))

  private static func byName(_ registrations: [OperatorRegistration]) -> [String: OperatorRegistration] {
    Dictionary(registrations.map { ($0.name, $0) }) { first, _ in first }
  }

  /// The registration for an operator code of a file; nil if there is none.
  static func registration(for code: OperatorCodeEntry) -> OperatorRegistration? {
    code.code == .custom ? custom[code.name] : builtin[code.name]
  }

  private static let quantized8: [ElementType] = [.uint8, .int8]
  private static let common: [ElementType] = [.float32, .uint8, .int8]

  /// Every operator, in alphabetical order.
  static let all: [OperatorRegistration] = [
    .init(.conv2D, versions: 1...8, types: common, Conv2D.prepare),
    .init(.depthwiseConv2D, versions: 1...7, types: common, DepthwiseConv2D.prepare),
    .init(.fullyConnected, versions: 1...14, types: common, FullyConnected.prepare),
    .init(custom: "TFLite_Detection_PostProcess", types: [.float32, .uint8], DetectionPostProcess.prepare),
  ]
}
