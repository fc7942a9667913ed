// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

extension ImageSegmenter {
  /// Of several outputs, such as one for each head, the likeliest that covers the picture and may be a mask.
  ///
  /// - Parameter given: The index of the output that the options choose.
  static func mask(of prepared: PreparedModel, _ labels: LabelMap?, given: Int?) throws(ApusError)
    -> (Grid, MaskReading?, MaskChoice)
  {
    if let given, !prepared.outputs.indices.contains(given) {
      throw ApusError(
        .invalidArgument,
        "the output index is \(given), but the model's last output is \(prepared.outputs.count - 1), counted from 0"
      )
    }
    let isNamed =
      labels != nil || prepared.export?.names != nil || prepared.export?.task == "semantic"
      || LabelMap(of: prepared.model) != nil
    let prototypes = PrototypeCheck(prepared)
    let asked = given.map { [$0] } ?? Array(prepared.outputs.indices)
    let candidates = asked.compactMap { output -> (grid: Grid, numbers: ClassNumbers?)? in
      let numbers = ClassNumbers(ofOutput: output, of: prepared.model)
      // Two classes may be read as a mask, if the caller says so.
      let areClasses = numbers.map { prepared.options.scores == nil || $0.count != 2 } ?? false
      let found = grid(prepared, output, areClasses: areClasses)
      if found?.form == .probability, mayBeClasses(prepared, output, labels) {
        return grid(prepared, output, areClasses: true).map { ($0, numbers) }
      }
      return found.map { ($0, numbers) }
    }
    // Rows of points, such as 20 poses of 17 points, only resemble a picture, and channels are where the input has them.
    func rank(_ grid: Grid) -> Int {
      guard prepared.geometry.hasProportions(height: grid.height, width: grid.width) else { return 2 }
      let isPlanar = grid.channels.perChannel > 1
      return grid.channels.count == 1 || isPlanar == prepared.geometry.isPlanar ? 0 : 1
    }
    let ordered = (0...2).flatMap { place in candidates.filter { rank($0.grid) == place } }
    var refusal: ApusError?
    var found: [(grid: Grid, mask: MaskReading?)] = []
    for (grid, numbers) in ordered {
      let output = grid.output
      if let first = found.first, rank(first.grid) < rank(grid) { break }
      do throws(ApusError) {
        if grid.form == .classes { try numbers?.check(prepared, output) }
        if grid.form == .scores { try MaskReading.refuseTruths(prepared, grid) }
        try prototypes.refuse(grid, names: labels?.rowCount)
        if numbers == nil { try MaskReading.refusePicture(prepared, grid, isNamed: isNamed) }
        if grid.form == .classes, let given = prepared.options.scores {
          throw ApusError(
            .invalidArgument,
            "scores are given as \(given.rawValue), but output \(output) has whole classes, which have no scores"
          )
        }
        let mask =
          grid.form == .probability
          ? try MaskReading(of: output, in: prepared, given: prepared.options.scores) : nil
        found.append((grid, mask))
      } catch {
        refusal = refusal ?? error
      }
    }
    let likeliest = MaskChoice.ordered(found.map(\.grid.output), of: prepared.outputs)
    if let choice = MaskChoice(likeliest, of: prepared.outputs, isGiven: given != nil),
      let taken = found.first(where: { $0.grid.output == choice.output })
    {
      return (taken.grid, taken.mask, choice)
    }
    if let given, refusal == nil {
      throw ApusError(
        .invalidArgument,
        "output \(given), \(prepared.outputs[given]), is none of a segmenter: scores 1×height×width×classes, one probability "
          + "1×height×width×1, or whole classes 1×height×width")
    }
    throw refusal
      ?? ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of a segmenter (scores 1×height×width×classes, one probability \
        1×height×width×1, or whole classes 1×height×width), but: \(prepared.outputDescription); 'apus transform' (PictureTransformer) is for \
        pictures and depths
        """)
  }

  /// Whether an output with one number for each cell may have whole classes: there are names of three or more, and nothing says that the
  /// numbers are probabilities or logits.
  private static func mayBeClasses(_ prepared: PreparedModel, _ output: Int, _ labels: LabelMap?) -> Bool {
    let count =
      labels?.rowCount ?? prepared.export?.names.keys.max().map { $0 + 1 }
      ?? LabelMap(of: prepared.model)?.rowCount
    guard let count, count > 2, prepared.options.scores == nil,
      let bounds = try? ValueBounds(ofOutput: output, of: prepared.model), !bounds.isProbability,
      bounds == .unknown || bounds.lower >= 0
    else { return false }
    let products: [OperatorCode?] = [
      .conv2D, .depthwiseConv2D, .transposeConv, .fullyConnected, .batchMatMul,
    ]
    let tensor = prepared.model.file.subgraphs[0].outputs[output]
    return !products.contains(BoundsSearch(prepared.model, input: .unknown).origin(of: tensor))
  }

  /// The grid that an output's shape and type describe; nil if they describe none. Channels are where the
  /// input has them, unless the other place makes cells that are closer to the input's proportions.
  ///
  /// - Parameter areClasses: Whether the graph says that the numbers are those of classes, whatever their type.
  private static func grid(_ prepared: PreparedModel, _ output: Int, areClasses: Bool) -> Grid? {
    let tensor = prepared.outputs[output]
    var shape = prepared.gridShape(of: output)
    guard shape.first == 1, shape.allSatisfy({ $0 > 0 && $0 <= 1 << 15 }) else { return nil }
    // Giving the form of scores says that there are scores.
    let isMask = MaskReading.hasPlainBytes(tensor) && prepared.options.scores != nil
    let isWhole =
      areClasses || [.int32, .int64].contains(tensor.type)
      || [.uint8, .int8, .int16].contains(tensor.type) && tensor.quantization == nil && !isMask
    if shape.count == 4, isWhole, let one = [3, 1].first(where: { shape[$0] == 1 }) { shape.remove(at: one) }
    let geometry = prepared.geometry
    if shape.count == 3, geometry.isProportional(height: shape[1], width: shape[2]) {
      let form: Form = isWhole ? .classes : .probability
      return (output, form, shape[2], shape[1], .init(count: 1, perCell: 1, perChannel: 1))
    }
    guard shape.count == 4, !isWhole else { return nil }
    // How far a grid is from the input's proportions; nil where rounding alone cannot explain it.
    func distortion(_ height: Int, _ width: Int) -> Int? {
      let distance = abs(height * geometry.width - width * geometry.height)
      return height > 1 && width > 1 && distance <= max(geometry.width, geometry.height) ? distance : nil
    }
    let interleaved = distortion(shape[1], shape[2])
    let planar = distortion(shape[2], shape[3])
    guard interleaved != nil || planar != nil else { return nil }
    let isPlanar = interleaved == planar ? geometry.isPlanar : (planar ?? .max) < (interleaved ?? .max)
    let (height, width, count) = isPlanar ? (shape[2], shape[3], shape[1]) : (shape[1], shape[2], shape[3])
    return (
      output, count == 1 ? .probability : .scores, width, height,
      isPlanar
        ? .init(count: count, perCell: 1, perChannel: width * height)
        : .init(count: count, perCell: count, perChannel: 1)
    )
  }

  /// Whether other outputs have something else for the same cells, as detectors have sizes and offsets, or rows of numbers.
  static func hasOtherNumbers(_ grid: Grid, in prepared: PreparedModel) -> Bool {
    prepared.outputs.indices.contains { output in
      guard output != grid.output else { return false }
      let shape = prepared.gridShape(of: output)
      if shape.count == 4, let other = Self.grid(prepared, output, areClasses: false) {
        return other.form != .classes && other.height == grid.height && other.width == grid.width
          && other.channels.count != grid.channels.count
      }
      // A number or a row of them, such as a picture's class, says nothing about cells.
      return shape.count(where: { $0 > 1 }) == 2 && Self.grid(prepared, output, areClasses: true) == nil
    }
  }

  /// How many classes the output can have.
  static func classCount(of prepared: PreparedModel, _ grid: Grid) throws(ApusError) -> Int {
    switch grid.form {
    case .scores: return grid.channels.count
    case .probability: return 2
    case .classes:
      let greatest = try ValueBounds(ofOutput: grid.output, of: prepared.model).upper
      let most = Int(UInt16.max) + 1
      return greatest >= 0 && greatest < Double(most) ? Int(greatest.rounded()) + 1 : most
    }
  }
}
