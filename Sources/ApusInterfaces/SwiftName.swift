// SPDX-License-Identifier: Apache-2.0

/// Names of models, tensors and classes as Swift's identifiers.
package enum SwiftName {
  /// Words that cannot be names of cases or members without backticks.
  private static let reserved: Set<String> = [
    "Any", "Protocol", "Self", "Type", "actor", "as", "associatedtype", "async", "await", "borrowing",
    "break", "case",
    "catch", "class", "consuming", "continue", "default", "defer", "deinit", "do", "else", "enum",
    "extension",
    "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout",
    "internal",
    "is", "let", "nil", "open", "operator", "package", "precedencegroup", "private", "protocol", "public",
    "repeat",
    "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
    "true", "try",
    "typealias", "var", "where", "while",
  ]

  /// Types that a generated file uses, modules, and words of the language: a type of that name would stand in their place, in the
  /// whole module that has it.
  private static let usedTypes: Set<String> = [
    "Any", "AnyObject", "Apus", "ApusError", "ApusVision", "Array", "Bool", "Bundle", "Cancellation",
    "CaseIterable", "Character", "Data", "Dictionary", "Double", "Equatable", "Error", "FaceDetector",
    "Float", "Float16", "Foundation", "Hashable", "ImageClassifier", "ImageSegmenter", "Int", "Int16",
    "Int32", "Int64", "Int8", "Interpreter", "KeypointDetector", "LabelMap", "Model", "Never",
    "ObjectDetector", "Optional", "Protocol", "Result", "Self", "Sendable", "Set", "String", "Swift",
    "Task", "Tensor", "Type", "UInt", "UInt16", "UInt32", "UInt64", "UInt8", "URL", "Void",
  ]

  /// The words of a text: runs of letters and digits, and parts of these that begin with a capital.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var last: Character?
    for character in text {
      guard character.isLetter || character.isNumber, character.unicodeScalars.allSatisfy(isPlain) else {
        last = nil
        continue
      }
      let begins = last == nil || (character.isUppercase && last?.isLowercase == true)
      if begins { words.append("") }
      words[words.count - 1].append(character)
      last = character
    }
    return words
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isXIDContinue && scalar.properties.numericType != .digit
      || (scalar.isASCII && scalar.properties.isXIDContinue)
  }

  /// A name of a type, such as `CocoSsdMobilenet`; `Model` in front of a digit, or of nothing, and `Network` behind a name that a
  /// generated file needs for something else: `model` gives `ModelNetwork`.
  package static func type(_ text: String) -> String {
    let name = capitalized(text)
    let begins = name.first.map { $0.isNumber } ?? true
    let whole = String((begins ? "Model" + name : name).prefix(100))
    return usedTypes.contains(whole) ? whole + "Network" : whole
  }

  /// The words of a text joined, each with a capital.
  package static func capitalized(_ text: String) -> String {
    words(text).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// A name of a member, such as `detectionBoxes`; `value` in front of a digit, or of nothing.
  package static func member(_ text: String) -> String {
    let parts = words(text)
    let rest = parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    var name =
      (parts.first.map { first in
        first.allSatisfy { !$0.isLowercase }
          ? first.lowercased() : first.prefix(1).lowercased() + first.dropFirst()
      } ?? "") + rest.joined()
    name = String(name.prefix(100))
    if name.first.map({ $0.isNumber }) ?? true { name = "value" + name }
    return reserved.contains(name) ? "`\(name)`" : name
  }

  /// Whether a text has letters or digits that names may have.
  package static func hasWords(_ text: String) -> Bool { !words(text).isEmpty }

  /// A member's name as the label of an argument, which may be any word of the language but three.
  package static func argument(_ member: String) -> String {
    let name = member.filter { $0 != "`" }
    return ["inout", "let", "var"].contains(name) ? member : name
  }

  /// Names that differ: of equal ones, all but the first get their places. So do `self` and `init`, which stand for something else
  /// behind a dot.
  ///
  /// - Parameter taken: Names that none of them may have.
  package static func members(_ texts: [String], apartFrom taken: Set<String> = []) -> [String] {
    var taken = taken.union(["`self`", "`init`"])
    return texts.enumerated().map { place, text in
      let name = member(text)
      if taken.insert(name).inserted { return name }
      var number = place
      let stem = name.filter { $0 != "`" }
      while !taken.insert("\(stem)_\(number)").inserted { number += 1 }
      return "\(stem)_\(number)"
    }
  }

  /// A text as a literal of Swift.
  package static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.properties.isWhitespace && scalar != " ":
        result += "\\u{\(String(scalar.value, radix: 16))}"
      case _
      where scalar.value < 0x20 || scalar.value == 0x7F || scalar.properties.generalCategory == .format
        || scalar.properties.generalCategory == .control:
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// A text in a comment: one line, without characters that could end it.
  package static func comment(_ text: String) -> String {
    let line = text.unicodeScalars.map { scalar in
      scalar.properties.isWhitespace || scalar.value < 0x20 || scalar.properties.generalCategory == .format
        ? " " : String(scalar)
    }.joined()
    return String(line.prefix(300)).replacing("*/", with: "* /").replacing("/*", with: "/ *")
  }
}
