// SPDX-License-Identifier: Apache-2.0

/// LOGISTIC and TANH of `int16` values: linear interpolation in one table, as in the reference.
package struct WordSigmoid: Hashable, Sendable {
  /// The factor of inputs; products are in units of 1/(3 · 2¹²), and 2¹⁷ is 10.7.
  package let multiplier: Int32
  /// The right shift of the product, rounded half up.
  package let shift: Int32

  /// Makes the function for an input scale, given as a factor and a shift right.
  package init(multiplier: Int32, shift: Int32) {
    self.multiplier = multiplier
    self.shift = shift
  }

  /// The kernel of `1 / (1 + e⁻ˣ)`, in units of 2⁻¹⁵.
  package func logistic(count: Int) -> any UnaryKernel {
    UnaryMap(WordLogistic(table: Self.table, input: self), count: count)
  }

  /// The kernel of the hyperbolic tangent, in units of 2⁻¹⁵.
  package func tanh(count: Int) -> any UnaryKernel {
    UnaryMap(WordTanh(table: Self.table, input: self), count: count)
  }

  @inline(__always)
  fileprivate func scaled(_ value: Int16) -> Int32 {
    let round: Int32 = shift > 0 ? 1 &<< (shift &- 1) : 0
    return (Int32(value) &* multiplier &+ round) &>> shift
  }

  /// `σ(i / 24)` in units of 2⁻¹⁶, for interpolation.
  ///
  /// Source: the table of the reference's 16-bit activations; no rounding of the function gives all of its values.
  private static let values: [UInt16] = [
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794, 41432,
    42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443, 48964, 49475,
    49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374, 54755, 55125, 55485,
    55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544, 58800, 59048, 59288, 59519,
    59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279, 61441, 61599, 61750, 61896, 62036,
    62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990, 63090, 63186, 63279, 63368, 63454, 63536,
    63615, 63691, 63765, 63835, 63903, 63968, 64030, 64090, 64148, 64204, 64257, 64308, 64357, 64405,
    64450, 64494, 64536, 64576, 64614, 64652, 64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900,
    64926, 64950, 64974, 64997, 65019, 65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179,
    65194, 65208, 65221, 65234, 65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337,
    65345, 65352, 65360, 65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425,
    65429, 65433, 65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474,
    65476, 65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
    65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516, 65517,
    65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524, 65525, 65525,
    65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529, 65529, 65530, 65530,
    65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532, 65532, 65532, 65532, 65533,
    65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534, 65534, 65534,
    65534, 65534, 65534, 65535,
  ]

  private static let table = Table(count: 256) { UInt32(values[$0]) }
}

private struct WordLogistic: UnaryFunction {
  let table: Table<UInt32>
  let input: WordSigmoid

  @inline(__always)
  func callAsFunction(_ value: Int16) -> Int16 {
    let scaled = input.scaled(value)
    let magnitude = scaled.magnitude
    let index = Int(magnitude &>> 9)
    var result: UInt32 = 0x7FFF << 10
    if index < 255 {
      let first = unsafe table.values[index]
      let second = unsafe table.values[index &+ 1]
      result = first &<< 9 &+ (magnitude & 0x1FF) &* (second &- first)
    }
    result = scaled >= 0 ? result &+ 1 << 9 : 1 << 25 &- result &+ 1 << 9 &- 1
    return Int16(truncatingIfNeeded: result &>> 10)
  }
}

private struct WordTanh: UnaryFunction {
  let table: Table<UInt32>
  let input: WordSigmoid

  @inline(__always)
  func callAsFunction(_ value: Int16) -> Int16 {
    let scaled = input.scaled(value)
    let magnitude = scaled.magnitude
    let index = Int(magnitude &>> 8)
    var result: Int32 = 0xFFFF << 8
    if index < 255 {
      let first = unsafe table.values[index]
      let second = unsafe table.values[index &+ 1]
      result = Int32(truncatingIfNeeded: first &<< 8 &+ (magnitude & 0xFF) &* (second &- first))
    }
    // tanh x = 2σ(2x) − 1, and the function is odd.
    result = scaled >= 0 ? result &- 1 << 23 &+ 1 << 7 : 0 &- result &+ 1 << 23 &+ 1 << 7 &- 1
    return Int16(truncatingIfNeeded: result &>> 8)
  }
}
