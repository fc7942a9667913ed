extension OperatorCode {
  /// The table of the schema's `BuiltinOptions` that holds the operator's options; nil for an operator without any.
  package var optionsType: Int? { Self.entry(of: self, in: Self.optionsTypes) }

  /// The table of the schema's `BuiltinOptions2` that holds the operator's options; nil for an operator without any.
  package var options2Type: Int? { Self.entry(of: self, in: Self.options2Types) }

  private static func entry(of code: OperatorCode, in table: [Int8]) -> Int? {
    let index = Int(code.rawValue)
    return table.indices.contains(index) && table[index] > 0 ? Int(table[index]) : nil
  }

  /// A table by code, with zero where there is nothing: it is asked for each operator of a file.
  private static func table(_ entries: [(code: OperatorCode, type: Int8)]) -> [Int8] {
    var table: [Int8] = []
    for (code, type) in entries {
      let index = Int(code.rawValue)
      while table.count <= index { table.append(0) }
      table[index] = type
    }
    return table
  }

  private static let optionsTypes = table([
    (.conv2D, 1), (.depthwiseConv2D, 2), (.lshProjection, 4), (.averagePool2D, 5), (.l2Pool2D, 5),
    (.maxPool2D, 5),
    (.svdf, 6), (.rnn, 7), (.fullyConnected, 8), (.softmax, 9), (.concatenation, 10), (.add, 11),
    (.l2Normalization, 12),
    (.localResponseNormalization, 13), (.lstm, 14), (.resizeBilinear, 15), (.reshape, 17), (.skipGram, 18),
    (.spaceToDepth, 19), (.embeddingLookupSparse, 20), (.mul, 21), (.gather, 23), (.mean, 27),
    (.reduceAll, 27),
    (.reduceAny, 27), (.reduceMax, 27), (.reduceMin, 27), (.reduceProd, 27), (.sum, 27), (.sub, 28),
    (.div, 29),
    (.squeeze, 30), (.unidirectionalSequenceRNN, 31), (.stridedSlice, 32), (.split, 35), (.cast, 37),
    (.argMax, 40),
    (.transposeConv, 49), (.sparseToDense, 50), (.shape, 55), (.argMin, 57), (.fakeQuant, 58), (.pack, 59),
    (.oneHot, 61),
    (.unpack, 64), (.bidirectionalSequenceLSTM, 69), (.bidirectionalSequenceRNN, 70),
    (.unidirectionalSequenceLSTM, 71), (.resizeNearestNeighbor, 74), (.leakyRelu, 75), (.mirrorPad, 77),
    (.splitV, 79),
    (.unique, 80), (.reverseSequence, 87), (.if, 92), (.while, 93), (.depthToSpace, 94), (.batchMatMul, 101),
    (.cumsum, 102), (.callOnce, 103), (.conv3D, 106), (.conv3DTranspose, 106), (.hashtable, 107),
    (.varHandle, 111),
    (.multinomial, 114), (.randomStandardNormal, 114), (.randomUniform, 114), (.bucketize, 115), (.gelu, 116),
  ])

  private static let options2Types = table([
    (.stablehloScatter, 7), (.stablehloPad, 10), (.stablehloReduceWindow, 13), (.stablehloGather, 16),
    (.stablehloRngBitGenerator, 19), (.reduceWindow, 20), (.stablehloComposite, 21), (.stablehloCase, 23),
  ])
}
