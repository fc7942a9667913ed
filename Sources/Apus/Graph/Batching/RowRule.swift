// SPDX-License-Identifier: Apache-2.0

/// How an operator treats the first axis of tensors whose rows are the items of a batch.
///
/// Whether it keeps the items apart follows from its shapes, options and constants: ``RowProof`` has the
/// conditions of each rule.
enum RowRule {
  /// Anything may move anywhere.
  case mixed
  /// Elements of equal places, operands of lower rank repeated.
  case elements
  /// As ``elements``; a condition of rank 1 may choose whole rows.
  case choice
  /// The last axis, normalized.
  case lastAxis
  /// Pixels of each image, which the first input has; others say how large results are.
  case images
  /// Products of windows of each image with a filter; the input with the images.
  case windows(images: Int)
  /// Products of rows with a filter: FULLY_CONNECTED.
  case filteredRows
  /// Products of matrices: BATCH_MATMUL.
  case matrices
  /// All elements, in their order: a reshape or copy.
  case sameOrder
  /// Axes in another order.
  case transposition
  /// Tensors one after the other along an axis; whether the axis is a new one.
  case joining(isNewAxis: Bool)
  /// Parts along an axis: of this input, cut along the axis that an input or the options have.
  case parts(of: Int, axis: RowAxis)
  case slice
  case stridedSlice
  /// Elements around each row: PAD and its kin.
  case padding
  /// Folding along axes.
  case folding
  /// Along one axis or several, which the second input has.
  case along
  /// The largest elements of the last axis.
  case largest
  case gathering
  /// Rows of a table by index; the inputs with indices and table.
  case lookup(indices: Int, table: Int)
  case gatheringVectors
  case oneHot
  case tiling
  case broadcast
  case fill
  /// Matrices with the last axis as diagonal.
  case diagonal

  /// Where an operator has its axis.
  enum RowAxis {
    case input(Int)
    /// The options of UNPACK.
    case unpackOption
  }

  /// Whether equal rows may be made of what does not depend on the batch.
  var makesRows: Bool {
    switch self {
    case .broadcast, .fill: true
    default: false
    }
  }
}
