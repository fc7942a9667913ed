import Apus
import ArgumentParser
import FoundationEssentials

/// How to run a model: the options that commands share.
struct EngineOptions: ParsableArguments {
  @Option(name: .long, help: "Threads for one run; results do not depend on it.")
  var threads = 1

  @Option(name: .long, help: "The kernel set to use, see 'apus kernels'.")
  var kernels: String?

  /// The interpreter's options.
  var interpreterOptions: Interpreter.Options {
    get throws {
      guard (1...64).contains(threads) else {
        throw ApusError(.invalidArgument, "--threads is \(threads), not 1 to 64")
      }
      var options = Interpreter.Options()
      options.threadCount = threads
      options.kernels = kernels
      return options
    }
  }
}

/// Reading and writing whole files, with errors that name the file.
enum Files {
  static func read(_ path: String) throws(ApusError) -> [UInt8] {
    do { return [UInt8](try Data(contentsOf: URL(filePath: path))) } catch {
      throw ApusError(.unreadableFile, "\(path): cannot be read")
    }
  }

  static func write(_ bytes: [UInt8], to path: String) throws(ApusError) {
    do { try Data(bytes).write(to: URL(filePath: path)) } catch {
      throw ApusError(.unreadableFile, "\(path): cannot be written")
    }
  }

  static func makeDirectory(_ path: String) throws(ApusError) {
    do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
      throw ApusError(.unreadableFile, "\(path): the folder cannot be made")
    }
  }
}

/// Repeatable data for a model without any.
enum RandomInput {
  /// Fills an input: floats from −1 to 1, integers over their whole range, each input with a seed of its own.
  static func fill(_ position: Int, of interpreter: Interpreter) throws(ApusError) {
    var state = UInt64(position) &+ 0x9E37_79B9_7F4A_7C15
    func next() -> UInt64 {  // SplitMix64
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }
    let type = interpreter.inputs[position].type
    try interpreter.withInputBytes(at: position) { span in
      switch type {
      case .float32, .complex64:
        for offset in Swift.stride(from: 0, to: span.byteCount, by: 4) {
          let value = Float(next() >> 40) / Float(1 << 23) - 1
          span.storeBytes(of: value, toByteOffset: offset, as: Float.self)
        }
      case .float64, .float16, .bfloat16, .bool, .int32, .int64, .uint32, .uint64, .complex128:
        for offset in 0..<span.byteCount { span.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self) }
      default:
        for offset in 0..<span.byteCount {
          span.storeBytes(of: UInt8(truncatingIfNeeded: next()), toByteOffset: offset, as: UInt8.self)
        }
      }
    }
  }
}

extension Duration {
  /// The duration in milliseconds.
  var milliseconds: Double {
    Double(components.seconds) * 1e3 + Double(components.attoseconds) / 1e15
  }
}

/// A profile as a table, and its sums by kind of operator.
struct ProfileText {
  let text: String

  init(_ entries: [ProfileEntry]) {
    let total = max(entries.reduce(0) { $0 + $1.milliseconds }, 1e-9)
    var rows = [["#", "operator", "output", "ms", "%"]]
    for entry in entries {
      rows.append([
        "\(entry.operatorIndex)", entry.name, entry.output.description, decimal(entry.milliseconds, 3),
        decimal(entry.milliseconds / total * 100, 1),
      ])
    }
    var sums: [String: (count: Int, milliseconds: Double)] = [:]
    for entry in entries {
      sums[entry.name, default: (0, 0)].count += 1
      sums[entry.name, default: (0, 0)].milliseconds += entry.milliseconds
    }
    var summary = [["operator", "count", "ms", "%"]]
    for (name, sum) in sums.sorted(by: { ($0.value.milliseconds, $1.key) > ($1.value.milliseconds, $0.key) })
    {
      summary.append([
        name, "\(sum.count)", decimal(sum.milliseconds, 3), decimal(sum.milliseconds / total * 100, 1),
      ])
    }
    text = table(rows, rightAligned: [0, 3, 4]) + "\n\n" + table(summary, rightAligned: [1, 2, 3])
  }
}
