// SPDX-License-Identifier: Apache-2.0

/// Kinds of models that are protocol buffers: these have no signature, so their first fields decide.
enum ProtobufContents {
  /// The kind of a message; nil for other bytes.
  static func kind(of bytes: [UInt8]) -> FileKind? {
    var fields = Fields(bytes[...])
    guard let first = fields.next() else { return nil }
    switch first {
    case .number(1, let version) where (1...64).contains(version):
      guard case .bytes(let number, let body)? = fields.next() else { return nil }
      // The second field is ONNX's producer, a text, or its graph; in the others it is a message.
      if number == 2, isName(body) || body.isEmpty { return FileKind("an ONNX model", FileKind.fromSource) }
      if (3...8).contains(number) { return FileKind("an ONNX model", FileKind.fromSource) }
      guard number == 2 else { return nil }
      if version == 1,
        isGraphInformation(body)
          || ["serving_default", "NoOp", "VarHandleOp", "Placeholder", "saver_def"].contains(
            where: bytes.contains(word:))
      {
        return FileKind(
          "a SavedModel (saved_model.pb)", FileKind.convert("from_saved_model") + ", which takes its folder")
      }
      return FileKind("a Core ML model (.mlmodel)", FileKind.fromSource)
    case .bytes(1, let body):
      // A node of a graph: its name, then its operator.
      var node = Fields(body)
      guard case .bytes(1, let name)? = node.next(), isName(name), case .bytes(2, let kind)? = node.next(),
        isName(kind)
      else { return nil }
      return FileKind(
        "a graph of TensorFlow (.pb)",
        FileKind.convert("from_frozen_graph", module: "tf.compat.v1.lite"))
    default: return nil
    }
  }

  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.count <= 1_024 && bytes.allSatisfy { (0x20..<0x7F).contains($0) }
  }

  /// Whether a message begins as a graph of a SavedModel does, with a message of its operators (field 2), version (1) or tags
  /// (4); the inputs of Core ML begin with their name and then have a message, or end.
  private static func isGraphInformation(_ body: ArraySlice<UInt8>) -> Bool {
    var graph = Fields(body)
    guard case .bytes(1, let information)? = graph.next() else { return false }
    var fields = Fields(information)
    switch fields.next() {
    case .bytes(2, let operators)?:
      // A list of operators, whose first field is a message that begins with a name.
      var list = Fields(operators)
      guard case .bytes(1, let first)? = list.next() else { return false }
      var entry = Fields(first)
      if case .bytes(1, let name)? = entry.next() { return isName(name) }
      return false
    case .bytes(4, let tag)?: return isName(tag)
    default: return false
    }
  }

  /// A field of a message.
  private enum Field {
    case number(Int, UInt64)
    case bytes(Int, ArraySlice<UInt8>)
  }

  /// The fields of a message; the last may be cut off.
  private struct Fields {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> Field? {
      guard let key = varint(), key >> 3 > 0, key >> 3 < 1 << 16 else { return nil }
      let number = Int(key >> 3)
      switch key & 7 {
      case 0: return varint().map { .number(number, $0) }
      case 2:
        guard let length = varint(), length < 1 << 40 else { return nil }
        let body = rest.prefix(Int(length))
        rest = rest.dropFirst(body.count)
        return .bytes(number, body)
      default: return nil
      }
    }

    private mutating func varint() -> UInt64? {
      var value: UInt64 = 0
      for shift: UInt64 in stride(from: 0, to: 64, by: 7) {
        guard let byte = rest.popFirst() else { return nil }
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
      }
      return nil
    }
  }
}
