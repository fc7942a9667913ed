// SPDX-License-Identifier: Apache-2.0

/// Options of control flow, variables, random numbers and StableHLO; each field has its number in `schema.fbs`.
extension OperatorOptions {
  /// `IfOptions`.
  struct IfOptions {
    let fields: Fields
    var thenSubgraph: Int { get throws(ApusError) { try fields.int32(0) } }
    var elseSubgraph: Int { get throws(ApusError) { try fields.int32(1) } }
  }

  /// `WhileOptions`.
  struct WhileOptions {
    let fields: Fields
    var conditionSubgraph: Int { get throws(ApusError) { try fields.int32(0) } }
    var bodySubgraph: Int { get throws(ApusError) { try fields.int32(1) } }
  }

  /// `CallOnceOptions`.
  struct CallOnceOptions {
    let fields: Fields
    var subgraph: Int { get throws(ApusError) { try fields.int32(0) } }
  }

  /// `VarHandleOptions`.
  struct VarHandleOptions {
    let fields: Fields
    var container: String { get throws(ApusError) { try fields.string(0) } }
    var name: String { get throws(ApusError) { try fields.string(1) } }
  }

  /// `RandomOptions`.
  struct RandomOptions {
    let fields: Fields
    var seed: Int64 { get throws(ApusError) { try fields.int64(0) } }
    var seed2: Int64 { get throws(ApusError) { try fields.int64(1) } }
  }

  /// `StablehloScatterOptions`.
  struct StableHLOScatterOptions {
    let fields: Fields
    var updateWindowAxes: [Int] { get throws(ApusError) { try fields.int64s(1) } }
    var insertedAxes: [Int] { get throws(ApusError) { try fields.int64s(2) } }
    var indexedAxes: [Int] { get throws(ApusError) { try fields.int64s(3) } }
    var vectorAxis: Int64 { get throws(ApusError) { try fields.int64(4) } }
    var bodySubgraph: Int { get throws(ApusError) { try fields.int32(6) } }
  }

  /// `StablehloPadOptions`.
  struct StableHLOPadOptions {
    let fields: Fields
    var low: [Int] { get throws(ApusError) { try fields.int64s(0) } }
    var high: [Int] { get throws(ApusError) { try fields.int64s(1) } }
    var interior: [Int] { get throws(ApusError) { try fields.int64s(2) } }
  }

  /// `StablehloReduceWindowOptions`.
  struct StableHLOReduceWindowOptions {
    let fields: Fields
    var window: [Int] { get throws(ApusError) { try fields.int64s(0) } }
    var strides: [Int] { get throws(ApusError) { try fields.int64s(1) } }
    var baseDilations: [Int] { get throws(ApusError) { try fields.int64s(2) } }
    var windowDilations: [Int] { get throws(ApusError) { try fields.int64s(3) } }
    var padding: [Int] { get throws(ApusError) { try fields.int64s(4) } }
    var bodySubgraph: Int { get throws(ApusError) { try fields.int32(5) } }
  }

  /// `StablehloGatherOptions`.
  struct StableHLOGatherOptions {
    let fields: Fields
    var offsetAxes: [Int] { get throws(ApusError) { try fields.int64s(0) } }
    var collapsedAxes: [Int] { get throws(ApusError) { try fields.int64s(1) } }
    var indexedAxes: [Int] { get throws(ApusError) { try fields.int64s(2) } }
    var vectorAxis: Int64 { get throws(ApusError) { try fields.int64(3) } }
    var sliceSizes: [Int] { get throws(ApusError) { try fields.int64s(4) } }
  }

  /// `StablehloRngBitGeneratorOptions`.
  struct StableHLORngBitGeneratorOptions {
    let fields: Fields
    var algorithm: Int { get throws(ApusError) { try fields.int8(0) } }
  }

  /// `ReduceWindowOptions`.
  struct ReduceWindowOptions {
    let fields: Fields
    var function: Int { get throws(ApusError) { try fields.int32(0) } }
  }

  /// `StablehloCompositeOptions`.
  struct StableHLOCompositeOptions {
    let fields: Fields
    var subgraph: Int { get throws(ApusError) { try fields.int32(1) } }
  }

  /// `StablehloCaseOptions`.
  struct StableHLOCaseOptions {
    let fields: Fields
    var subgraphs: [Int] { get throws(ApusError) { try fields.int32s(0) } }
  }
}
