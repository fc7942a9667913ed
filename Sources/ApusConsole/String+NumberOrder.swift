// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Whether a name comes first where numbers in names count by their value, and all else by its bytes.
  package func precedesByNumbers(_ other: String) -> Bool {
    var (left, right) = (utf8[...], other.utf8[...])
    func takeNumber(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
      let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      text = text[digits.endIndex...]
      return digits.drop { $0 == UInt8(ascii: "0") }
    }
    while let one = left.first, let two = right.first {
      if [one, two].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
        let (number, otherNumber) = (takeNumber(&left), takeNumber(&right))
        if number.count != otherNumber.count { return number.count < otherNumber.count }
        if !number.elementsEqual(otherNumber) { return number.lexicographicallyPrecedes(otherNumber) }
      } else if one != two {
        return one < two
      } else {
        left.removeFirst()
        right.removeFirst()
      }
    }
    // Names of equal numbers with other zeros in front stay in the order of their bytes.
    return left.isEmpty && right.isEmpty
      ? utf8.lexicographicallyPrecedes(other.utf8) : left.isEmpty
  }
}
