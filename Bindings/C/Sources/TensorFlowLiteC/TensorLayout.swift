// SPDX-License-Identifier: Apache-2.0

/// Where the fields of a `TfLiteTensor` lie, in bytes, on machines with 64-bit pointers.
///
/// The layout has been the same since TensorFlow 2.3. `Tests/layout.c` compares it with TensorFlow's own header.
enum TensorLayout {
  static let type = 0
  static let data = 8
  static let dims = 16
  static let scale = 24
  static let zeroPoint = 28
  static let allocationType = 32
  static let bytes = 40
  static let allocation = 48
  static let name = 56
  static let delegate = 64
  static let bufferHandle = 72
  static let dataIsStale = 76
  static let isVariable = 77
  static let quantizationType = 80
  static let quantizationParameters = 88
  static let sparsity = 96
  static let dimsSignature = 104
  static let size = 112
}

/// Where the fields of a `TfLiteContext` lie that operators of clients use.
enum ContextLayout {
  static let tensorCount = 0
  static let getExecutionPlan = 8
  static let tensors = 16
  static let implementation = 24
  static let resizeTensor = 32
  static let reportError = 40
  static let addTensors = 48
  static let getNodeAndRegistration = 56
  static let replaceNodeSubsets = 64
  static let recommendedThreadCount = 72
  static let getExternalContext = 80
  static let setExternalContext = 88
  static let allocatePersistentBuffer = 112
  static let allocateBufferForEval = 120
  static let requestScratchBuffer = 128
  static let getScratchBuffer = 136
  static let resizeTensorExplicit = 144
  static let previewDelegatePartitioning = 152
  static let getTensor = 160
  static let getEvalTensor = 168
  static let getModelMetadata = 176
  static let acquireSubgraphContext = 184
  static let releaseSubgraphContext = 192
  static let size = 200
}

/// Where the fields of a `TfLiteNode` lie.
enum NodeLayout {
  static let inputs = 0
  static let outputs = 8
  static let intermediates = 16
  static let temporaries = 24
  static let userData = 32
  static let builtinData = 40
  static let customInitialData = 48
  static let customInitialDataSize = 56
  static let delegate = 64
  static let mightHaveSideEffect = 72
  static let size = 80
}

/// Where the fields of a `TfLiteRegistration` lie that this library reads.
enum RegistrationLayout {
  static let initialize = 0
  static let free = 8
  static let prepare = 16
  static let invoke = 24
  static let builtinCode = 40
  static let customName = 48
  static let version = 56
}
