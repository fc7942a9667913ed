// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration

#if arch(x86_64) && os(Linux)
  import ApusKernels
  import Foundation
  import Glibc
  import Synchronization

  /// Runs functions that were generated for arm64, in an emulator; this machine calls them like its own.
  ///
  /// A function's address is that of a few instructions that hand its arguments to `call`: what they point at is copied to
  /// the emulator, and the outputs come back. What may be read and written follows from the arguments alone, so a function
  /// that reads more finds other bytes, and one that writes more is found out.
  final class Arm64Emulator: Sendable {
    /// An emulated processor with DotProd, and one that does not know it; none where there is no emulator, or none that
    /// runs.
    private static let dotProduct = Arm64Emulator("cortex-a76", firstNumber: 0)
    private static let neon = Arm64Emulator("cortex-a53", firstNumber: thunkCount)

    /// The processor for a target.
    static func processor(_ target: Arm64Target) -> Arm64Emulator? {
      target == .dotProduct ? dotProduct : neon
    }

    private struct State {
      /// By the hash of the generator.
      var numbers: [Int: [Int]] = [:]
      var functions: [(generator: any CodeGenerator, address: Int)] = []
      /// Where the next function's code goes.
      var end = Arm64Server.memory
      var faults: [String] = []
    }

    /// The emulator's program; nil where it is missing.
    static let tool = ["/usr/bin/qemu-aarch64", "/usr/local/bin/qemu-aarch64"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let thunkByteCount = 32
    private static let thunkCount = 2_048
    /// Where arguments and data go: beyond all code.
    private static let data = Arm64Server.memory + 16 << 20

    private let input: Int32
    private let output: Int32
    /// The number of the first function, of those of both processors.
    private let firstNumber: Int
    private let thunks: Int
    /// The code that makes the emulator see new code.
    private let cacheMaintenance: Int
    private let state: Mutex<State>

    private init?(_ processor: String, firstNumber: Int) {
      self.firstNumber = firstNumber
      guard let tool = Self.tool, let executable = Arm64Server.executable else { return nil }
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)")
      guard
        FileManager.default.createFile(
          atPath: file.path, contents: Data(executable), attributes: [.posixPermissions: 0o700])
      else { return nil }
      signal(SIGPIPE, SIG_IGN)
      let process = Process()
      process.executableURL = URL(fileURLWithPath: tool)
      process.arguments = ["-cpu", processor, file.path]
      let (toProcess, fromProcess) = (Pipe(), Pipe())
      process.standardInput = toProcess
      process.standardOutput = fromProcess
      guard (try? process.run()) != nil else { return nil }
      input = dup(toProcess.fileHandleForWriting.fileDescriptor)
      output = dup(fromProcess.fileHandleForReading.fileDescriptor)
      let handler: @convention(c) (UnsafeRawPointer, Int) -> Void = { arguments, number in
        let emulator = number < Arm64Emulator.thunkCount ? Arm64Emulator.dotProduct : Arm64Emulator.neon
        unsafe emulator?.call(number, arguments.load(as: ConvolutionArguments.self))
      }
      var code: [UInt8] = []
      for number in firstNumber..<firstNumber + Self.thunkCount {
        var thunk = Arm64Server.Bytes()
        thunk.bytes = [0x48, 0xBE]  // mov rsi, number
        thunk.add64(number)
        thunk.bytes += [0x48, 0xB8]  // mov rax, handler
        thunk.add64(unsafe unsafeBitCast(handler, to: Int.self))
        thunk.bytes += [0xFF, 0xE0]  // jmp rax
        code += thunk.bytes + [UInt8](repeating: 0xCC, count: Self.thunkByteCount - thunk.bytes.count)
      }
      guard let place = ExecutableMemory.place(code) else { return nil }
      thunks = Int(bitPattern: place)
      var state = State()
      cacheMaintenance = state.end
      guard let caches = Arm64CacheMaintenance.code else { return nil }
      state.end += 4_096
      self.state = Mutex(state)
      // The server answers once it runs; then its file can go.
      send(message(.fill, cacheMaintenance, caches) + message(.fetch, cacheMaintenance, 1))
      guard receive(1) != nil else { return nil }
      try? FileManager.default.removeItem(at: file)
    }

    /// The faults found so far; the list is emptied.
    func takeFaults() -> [String] {
      state.withLock { state in
        defer { state.faults = [] }
        return state.faults
      }
    }

    /// A set of kernels that run here.
    static func kernels(_ target: Arm64Target) -> KernelSet? {
      processor(target).map { processor in .arm64(target) { processor.place($0) } }
    }

    /// The address of what stands for a generated function.
    func place(_ generator: any CodeGenerator) -> UnsafeRawPointer? {
      state.withLock { state in
        let number: Int
        let alike = state.numbers[generator.hash, default: []]
        if let known = alike.first(where: { generator.equals(state.functions[$0].generator) }) {
          number = known
        } else {
          guard let code = generator.generate(), state.functions.count < Self.thunkCount else { return nil }
          number = state.functions.count
          state.functions.append((generator, upload(code, &state)))
          state.numbers[generator.hash] = alike + [number]
        }
        return UnsafeRawPointer(bitPattern: thunks + number * Self.thunkByteCount)
      }
    }

    /// Copies code to pages that were never run, and tells the caches.
    private func upload(_ code: [UInt8], _ state: inout State) -> Int {
      let address = state.end
      state.end += (code.count + 4_095) / 4_096 * 4_096
      send(
        message(.fill, address, code) + message(.call, cacheMaintenance, address, address + code.count))
      if receive(Arm64Server.witnessByteCount) == nil { state.faults.append("no answer after new code") }
      return address
    }

    // MARK: Calls

    /// Runs a function on copies of what its arguments point at.
    private func call(_ number: Int, _ arguments: ConvolutionArguments) {
      state.withLock { state in
        let (generator, address) = state.functions[number - firstNumber]
        guard let reach = Reach(generator, arguments) else {
          state.faults.append("an unknown generator")
          return
        }
        var place = Self.data
        var copies = arguments
        var bytes: [UInt8] = []
        func copy(_ field: WritableKeyPath<ConvolutionArguments, Int>, _ count: Int, guards: Int = 0) {
          let address = UnsafeRawPointer(bitPattern: arguments[keyPath: field])
          let content = unsafe UnsafeRawBufferPointer(start: address, count: count)
          copies[keyPath: field] = place + guards
          let guardBytes = [UInt8](repeating: 0xA5, count: guards)
          bytes += message(.fill, place, guardBytes + content + guardBytes)
          place += (count + 2 * guards + 63) / 64 * 64 + 64
        }
        copy(\.taps, reach.taps)
        copy(\.weights, reach.weights)
        copy(\.offsets, reach.offsets)
        copy(\.factors, reach.factors)
        copy(\.rows, reach.rows)
        copy(\.output, reach.output, guards: 64)
        bytes += unsafe withUnsafeBytes(of: copies) { message(.fill, place, Array($0)) }
        bytes += message(.call, address, place)
        bytes += message(.fetch, copies.output - 64, reach.output + 128)
        send(bytes)
        guard let witness = receive(Arm64Server.witnessByteCount), let found = receive(reach.output + 128),
          let output = UnsafeMutableRawPointer(bitPattern: arguments.output)
        else {
          state.faults.append("no answer from \(generator)")
          return
        }
        if witness != Arm64Server.witness { state.faults.append("\(generator) does not keep registers") }
        // Rows are taken over; nothing else may have changed.
        var rest = found
        for row in 0..<reach.rowCount {
          let start = row * arguments.outputStride
          for byte in start..<start + reach.rowByteCount {
            unsafe output.storeBytes(of: found[64 + byte], toByteOffset: byte, as: UInt8.self)
            rest[64 + byte] = 0xA5
          }
        }
        for byte in 0..<reach.output where rest[64 + byte] != 0xA5 {
          // Bytes between rows were sent as they are here.
          if unsafe output.load(fromByteOffset: byte, as: UInt8.self) == rest[64 + byte] {
            rest[64 + byte] = 0xA5
          }
        }
        if !rest.allSatisfy({ $0 == 0xA5 }) { state.faults.append("\(generator) writes beyond its outputs") }
      }
    }

    /// Commands and their bytes.
    private func message(_ command: Arm64Server.Command, _ first: Int, _ second: Int, _ third: Int = 0)
      -> [UInt8]
    {
      var words = Arm64Server.Bytes()
      words.add64(command.rawValue, first, second, third)
      return words.bytes
    }

    private func message(_ command: Arm64Server.Command, _ address: Int, _ content: [UInt8]) -> [UInt8] {
      message(command, address, content.count) + content
    }

    private func send(_ bytes: [UInt8]) {
      unsafe bytes.withUnsafeBytes { bytes in
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
          let count = unsafe write(input, start + done, bytes.count - done)
          guard count > 0 else { return }
          done += count
        }
      }
    }

    private func receive(_ count: Int) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      let isWhole = unsafe bytes.withUnsafeMutableBytes { bytes in
        var done = 0
        while done < count, let start = bytes.baseAddress {
          let read = unsafe read(output, start + done, count - done)
          guard read > 0 else { return false }
          done += read
        }
        return true
      }
      return isWhole ? bytes : nil
    }
  }

  /// How many bytes a generated function may read and write from each of its arguments.
  private struct Reach {
    let taps: Int
    let weights: Int
    let offsets: Int
    let factors = Arm64Target.neon.factorByteCount
    let rows: Int
    let output: Int
    let rowCount: Int
    let rowByteCount: Int

    init?(_ generator: any CodeGenerator, _ arguments: ConvolutionArguments) {
      let end: Arm64EpilogueGenerator
      var steps = 0
      var last = 0
      let list = UnsafePointer<Int>(bitPattern: arguments.taps)
      func tap(_ index: Int) -> Int { unsafe list?[index] ?? 0 }
      if let generator = generator as? Arm64ProductGenerator {
        end = generator.end
        for index in 0..<arguments.tapCount {
          let count = tap(2 * index + 1)
          steps += count
          last = max(last, tap(2 * index) + 4 * count)
        }
        taps = 16 * arguments.tapCount
      } else if let generator = generator as? Arm64DepthwiseGenerator {
        end = generator.end
        let tapsPerGroup = generator.product.depthPerStep
        steps = arguments.tapCount
        for index in 0..<tapsPerGroup * steps {
          last = max(last, tap(index) + (generator.product == .floats ? 64 : 16))
        }
        taps = 8 * tapsPerGroup * steps
      } else {
        return nil
      }
      rowCount = end.rowCount * arguments.blocks
      rowByteCount = end.rowByteCount
      weights = steps * end.vectorCount * 16
      offsets = end.vectorCount * 16
      rows = (rowCount - 1) * arguments.rowStride + last
      output = (rowCount - 1) * arguments.outputStride + rowByteCount
    }
  }
#endif
