// SPDX-License-Identifier: Apache-2.0

// Counts what `Interpreter.invoke` allocates after its first run, exactly, by glibc's `mtrace`.
//
// Run with LD_PRELOAD=libc_malloc_debug.so.0 and MALLOC_TRACE=FILE: AllocationProbe THREADS FOLDER…, where each folder
// has a model.tflite and, or not, input_0.npy … for its inputs. FILE then lists the allocations of the later runs;
// without any folder, one that is made on purpose. With APUS_PROBE_TRACE in the environment, the runs are traced.
//
// AllocationProbe lives MODEL prints how many bytes of memory the process has more after 10,000 runs and 1,000 further
// interpreters of a model; other tests of the same process would count, too.
import Apus
import ApusRuntime

#if canImport(Glibc)
  import Glibc

  typealias Switch = @convention(c) () -> Void

  typealias VersionedLookup =
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafePointer<CChar>, UnsafePointer<CChar>
    ) -> UnsafeMutableRawPointer?

  /// A function of the debugging library, whose names are hidden behind those of the C library.
  func function(_ name: String) -> Switch? {
    guard let library = unsafe dlopen("libc_malloc_debug.so.0", RTLD_NOW),
      let address = unsafe dlsym(nil, "dlvsym")
    else {
      return nil
    }
    let lookUp = unsafe unsafeBitCast(address, to: VersionedLookup.self)
    for version in ["GLIBC_2.2.5", "GLIBC_2.17"] {
      if let address = unsafe lookUp(library, name, version) {
        return unsafe unsafeBitCast(address, to: Switch.self)
      }
    }
    return nil
  }

  func contents(of path: String) -> [UInt8]? {
    guard let file = unsafe fopen(path, "rb") else { return nil }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
  }

  func fail(_ text: String) -> Never {
    let line = "error: \(text)\n"
    _ = unsafe line.withCString { unsafe write(2, $0, strlen($0)) }
    exit(1)
  }

  /// The resident memory of the process in bytes.
  func residentBytes() -> Int {
    let pages = String(decoding: contents(of: "/proc/self/statm") ?? [], as: UTF8.self).split(separator: " ")
    guard pages.count > 1, let count = Int(pages[1]) else { fail("/proc/self/statm cannot be read") }
    return count * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "lives" {
    do {
      let model = try Model(contentsOfFile: CommandLine.arguments[2])
      func live() throws { try Interpreter(model: model).invoke() }
      let interpreter = try Interpreter(model: model)
      for _ in 0..<100 { try live() }
      let before = residentBytes()
      for _ in 0..<10_000 { try interpreter.invoke() }
      for _ in 0..<1_000 { try live() }
      print(residentBytes() - before)
      exit(0)
    } catch {
      fail("\(error)")
    }
  }

  guard CommandLine.arguments.count > 1, let threads = Int(CommandLine.arguments[1]),
    let start = function("mtrace"), let stop = function("muntrace")
  else { fail("needs a number of threads, folders and libc_malloc_debug.so.0") }

  if unsafe getenv("APUS_PROBE_TRACE") != nil, !Trace.start() { fail("there is no memory for a trace") }

  var interpreters: [Interpreter] = []
  for folder in CommandLine.arguments.dropFirst(2) {
    do {
      var options = Interpreter.Options()
      options.threadCount = threads
      let interpreter = try Interpreter(
        model: Model(contentsOfFile: "\(folder)/model.tflite"), options: options)
      let arrays = interpreter.inputs.indices.map { contents(of: "\(folder)/input_\($0).npy") }
      for (position, array) in arrays.enumerated() {
        guard let array else { continue }
        try interpreter.withInputBytes(at: position) { (span: inout MutableRawSpan) throws(ApusError) in
          // The header is in front; a golden of another shape than its model's is not for this probe.
          guard array.count > span.byteCount, array.count - span.byteCount <= 256 else {
            throw ApusError(.invalidArgument, "input \(position) has \(array.count) bytes")
          }
          let header = array.count - span.byteCount
          for index in 0..<span.byteCount {
            span.storeBytes(of: array[header + index], toByteOffset: index, as: UInt8.self)
          }
        }
      }
      try interpreter.invoke()
      interpreters.append(interpreter)
    } catch {
      fail("\(folder): \(error)")
    }
  }
  start()
  if interpreters.isEmpty {
    let memory = unsafe malloc(threads)
    // A call that the compiler cannot see into, so that it keeps the allocation.
    _ = unsafe write(1, memory, 0)
    unsafe free(memory)
  }
  for interpreter in interpreters {
    for _ in 0..<3 {
      do { try interpreter.invoke() } catch { fail("\(error)") }
    }
  }
  stop()
  if Trace.isOn, !Trace.recording.threads.contains(where: { !$0.events.isEmpty }) {
    fail("nothing was traced")
  }
  print("\(interpreters.count) models ran")
#endif
