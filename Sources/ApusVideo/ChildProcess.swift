// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import ApusVision
import Dispatch
import Synchronization

/// A program that runs beside this one, without a shell: its arguments are those given, its environment is ``variables``, and its open
/// files are its standard streams.
///
/// It has a process group of its own, so that Ctrl-C in a terminal reaches this process alone. Where util-linux is installed, the system
/// kills it when the thread that started it ends, and so with this process. That thread must live as long.
package final class ChildProcess: Sendable {
  /// The standard stream of the program that this process reads or writes.
  enum Pipe {
    /// Its standard output is read; its standard input is empty.
    case output
    /// Its standard input is written; its standard output is dropped.
    case input
  }

  /// The environment variables that the program inherits from this process.
  private static let variables = [
    "PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "http_proxy", "https_proxy", "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
  ]

  private static let starting = DispatchSemaphore(value: 1)

  /// The program's file.
  private let program: String
  private let identifier: pid_t
  private let pipe: Int32
  private let errors: Int32
  private let isOpen = Mutex(true)
  private let status = Mutex<Int32?>(nil)
  /// The program's output on standard error: the last lines, and the one that has not ended.
  private let messages = Mutex<(lines: [String], rest: [UInt8])>(([], []))
  /// Reads a line of the program, which is no message then; false for a message.
  private let takeLine: @Sendable (Substring) -> Bool

  /// The maximum number of messages that are kept, and of bytes of one.
  private static let maximumMessages = (count: 64, length: 4096)

  /// The file of a program in the folders of PATH; nil if there is none.
  package static func find(_ program: String) -> String? {
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }.first { unsafe access($0, X_OK) == 0 }
  }

  /// Starts a program.
  ///
  /// - Parameter takeLine: Reads a line that the program writes on standard error, and returns whether it is no message.
  /// - Throws: `resourceLimit` if the system refuses a pipe or a process.
  init(
    _ program: String, _ arguments: [String], pipe kind: Pipe,
    takeLine: @escaping @Sendable (Substring) -> Bool = { _ in false }
  ) throws(ApusError) {
    var line = [program] + arguments
    if let guardian = Self.find("setpriv") { line = [guardian, "--pdeathsig", "KILL", "--"] + line }

    // Two programs at once: the second would inherit a pipe of the first before it is marked.
    Self.starting.wait()
    defer { Self.starting.signal() }
    var data: [Int32] = [-1, -1]
    var reports: [Int32] = [-1, -1]
    guard Self.makePipe(&data) else { throw Self.refused(program, errno) }
    guard Self.makePipe(&reports) else {
      let reason = errno
      for descriptor in data { close(descriptor) }
      throw Self.refused(program, reason)
    }
    let (theirs, ours) = kind == .output ? (data[1], data[0]) : (data[0], data[1])

    #if canImport(Darwin)
      var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
    #else
      var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if kind == .output {
      unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      unsafe posix_spawn_file_actions_adddup2(&actions, theirs, 1)
    } else {
      unsafe posix_spawn_file_actions_adddup2(&actions, theirs, 0)
      unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, reports[1], 2)
    // Sockets and files of this process, such as one that a server listens on, would stay open in the program. One that is closed in
    // the meantime is no error.
    for descriptor in Self.openDescriptors() {
      unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
    }

    // No signal is blocked or ignored in the program, whatever is here.
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    #if canImport(Darwin)
      unsafe posix_spawnattr_setflags(&attributes, Int16(flags | POSIX_SPAWN_CLOEXEC_DEFAULT))
    #else
      unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    #endif

    let environment = Self.variables.compactMap { name in
      unsafe getenv(name).map { unsafe "\(name)=\(String(cString: $0))" }
    }
    let argumentPointers = unsafe line.map { unsafe strdup($0) } + [nil]
    let environmentPointers = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
      for index in 0..<line.count { unsafe free(argumentPointers[index]) }
      for index in 0..<environment.count { unsafe free(environmentPointers[index]) }
    }
    var child: pid_t = 0
    let code = unsafe posix_spawn(
      &child, line[0], &actions, &attributes, argumentPointers, environmentPointers)
    close(theirs)
    close(reports[1])
    guard code == 0 else {
      close(ours)
      close(reports[0])
      throw Self.refused(program, code)
    }
    self.takeLine = takeLine
    self.program = program
    identifier = child
    pipe = ours
    errors = reports[0]
    // Reading messages, and writing to a program that reads slowly, must not block for longer than the caller allows.
    for descriptor in kind == .output ? [errors] : [errors, pipe] {
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
  }

  deinit {
    kill()
    closePipe()
    close(errors)
  }

  /// Makes a pipe whose ends no other program inherits.
  private static func makePipe(_ ends: inout [Int32]) -> Bool {
    guard unsafe systemPipe(&ends) == 0 else { return false }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return true
  }

  private static func refused(_ program: String, _ reason: Int32) -> ApusError {
    ApusError(.resourceLimit, "cannot start '\(program)': \(systemReason(reason))")
  }

  /// The result of reading or writing.
  enum Transfer: Equatable {
    /// All bytes were moved.
    case done
    /// The other end is closed after this number of bytes.
    case ended(after: Int)
    /// For `timeout`, no byte was moved.
    case stalled
  }

  /// Fills `buffer` with what the program writes. Blocks.
  ///
  /// - Parameter timeout: The maximum time without a byte, in milliseconds.
  func read(into buffer: inout [UInt8], timeout: Int, isWanted: () -> Bool) -> Transfer {
    var filled = 0
    var last = monotonicNanoseconds()
    while filled < buffer.count {
      let isReady = waitForPipe(POLLIN, 200)
      if !isReady {
        if !isWanted() { return .ended(after: filled) }
        if monotonicNanoseconds() - last >= timeout * 1_000_000 { return .stalled }
        continue
      }
      let count = unsafe buffer.withUnsafeMutableBytes { target in
        unsafe systemRead(pipe, target.baseAddress.map { unsafe $0 + filled }, target.count - filled)
      }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return .ended(after: filled) }
      filled += count
      last = monotonicNanoseconds()
    }
    return .done
  }

  /// Whether there are more bytes to read, at once or within some seconds.
  func hasMore(within seconds: Double) -> Bool {
    var entry = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, Int32(seconds * 1000)) > 0 && entry.revents & Int16(POLLIN) != 0
  }

  /// Writes all bytes to the program. Blocks.
  ///
  /// - Parameter timeout: The maximum time without a byte, in milliseconds.
  func write(_ bytes: [UInt8], timeout: Int) -> Transfer {
    var written = 0
    var last = monotonicNanoseconds()
    while written < bytes.count {
      let isReady = waitForPipe(POLLOUT, 200)
      if !isReady {
        if monotonicNanoseconds() - last >= timeout * 1_000_000 { return .stalled }
        continue
      }
      let count = unsafe bytes.withUnsafeBytes { source in
        unsafe systemWrite(pipe, source.baseAddress.map { unsafe $0 + written }, source.count - written)
      }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return .ended(after: written) }
      written += count
      last = monotonicNanoseconds()
    }
    return .done
  }

  /// Whether the pipe is ready, or closed, within `timeout` milliseconds. Takes messages meanwhile: a program whose messages are not read
  /// would wait.
  private func waitForPipe(_ event: Int32, _ timeout: Int32) -> Bool {
    var entries = [
      pollfd(fd: pipe, events: Int16(event), revents: 0),
      pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
    ]
    guard unsafe poll(&entries, 2, timeout) > 0 else { return false }
    if entries[1].revents & Int16(POLLIN) != 0 { takeMessages() }
    if entries[0].revents != 0 { return true }
    // Where only the messages have ended, this would not wait at all.
    if entries[1].revents & Int16(POLLIN) == 0 { usleep(1_000) }
    return false
  }

  /// Reads what the program has written on standard error so far.
  func takeMessages() {
    var chunk = [UInt8](repeating: 0, count: 4096)
    messages.withLock { messages in
      for _ in 0..<32 {
        let count = unsafe chunk.withUnsafeMutableBytes {
          unsafe systemRead(errors, $0.baseAddress, $0.count)
        }
        guard count > 0 else { return }
        for byte in chunk[..<count] {
          if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
            endLine(&messages)
          } else if messages.rest.count < Self.maximumMessages.length {
            messages.rest.append(byte)
          }
        }
      }
    }
  }

  private func endLine(_ messages: inout (lines: [String], rest: [UInt8])) {
    let line = String(decoding: messages.rest, as: UTF8.self)
    messages.rest.removeAll(keepingCapacity: true)
    guard !takeLine(line[...]), line.contains(where: { !$0.isWhitespace }) else { return }
    messages.lines.append(line)
    if messages.lines.count > Self.maximumMessages.count { messages.lines.removeFirst() }
  }

  /// Closes this end of the pipe, after which a program that reads it ends.
  func closePipe() {
    isOpen.withLock { isOpen in
      if isOpen { close(pipe) }
      isOpen = false
    }
  }

  /// Kills the program if it still runs, and waits for its end.
  func kill() {
    status.withLock { status in
      guard status == nil else { return }
      // The whole group: what the program started, too.
      systemKill(-identifier, SIGKILL)
      status = Self.wait(identifier, options: 0)
    }
  }

  /// Waits for the program's end, at most for `timeout` milliseconds, and then kills it.
  ///
  /// - Returns: Its status, or nil if it was killed, by this or another process.
  func waitForEnd(timeout: Int) -> Int32? {
    let start = monotonicNanoseconds()
    while monotonicNanoseconds() - start < timeout * 1_000_000 {
      let ended = status.withLock { status in
        if status == nil { status = Self.wait(identifier, options: WNOHANG) }
        return status
      }
      if let ended { return ended & 0x7F == 0 ? (ended >> 8) & 0xFF : nil }
      usleep(5_000)
    }
    kill()
    return nil
  }

  /// The signal that ended the program; nil if it still runs, or has ended by itself.
  private var endingSignal: Int32? {
    status.withLock { status in status.flatMap { $0 & 0x7F == 0 ? nil : $0 & 0x7F } }
  }

  /// The signals of a program's own mistakes.
  private static let crashes: [Int32] = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]

  /// Why the program, which has ended, failed: its last error if it wrote one, and otherwise, or if it crashed, how it ended.
  ///
  /// - Parameters:
  ///   - message: Its last error in other words; nil for ``lastMessage(limit:)``.
  ///   - status: What ``waitForEnd(timeout:)`` returned.
  func failure(_ message: String? = nil, status: Int32?) -> String {
    let message = message ?? lastMessage(limit: 4_096)
    let signal = status == nil ? endingSignal : nil
    if let signal, Self.crashes.contains(signal) {
      return
        "the program \(program) crashed (signal \(signal))\(message.map { "; its last error: \($0)" } ?? "")"
    }
    if let message { return message }
    return status.map { "the program \(program) ended with status \($0)" }
      ?? "the program \(program) was killed\(signal.map { " (signal \($0))" } ?? "")"
  }

  private static func wait(_ identifier: pid_t, options: Int32) -> Int32? {
    var status: Int32 = 0
    while true {
      let result = unsafe waitpid(identifier, &status, options)
      if result == identifier { return status }
      // Another thread has waited for it: it has ended.
      if result < 0, errno != EINTR { return 0 }
      if result == 0 { return nil }
    }
  }

  /// The last messages that the program has written on standard error, without empty lines.
  func messageLines() -> [String] {
    let (lines, rest) = collectedMessages()
    return lines + (rest.contains { !$0.isWhitespace } ? [rest] : [])
  }

  /// The last whole messages, and the one that has not ended.
  private func collectedMessages() -> (lines: [String], rest: String) {
    takeMessages()
    return messages.withLock { ($0.lines, String(decoding: $0.rest, as: UTF8.self)) }
  }

  /// The last error that the program, which has ended, wrote on standard error; nil if it wrote none. Where lines have a level, as those of ffmpeg may, what is
  /// less than an error is none.
  ///
  /// - Parameter limit: The maximum number of characters.
  func lastMessage(limit: Int = 200) -> String? {
    let (lines, rest) = collectedMessages()
    // ffmpeg writes what a message is about, its level and its text one after the other: one that was killed has left a beginning.
    let isMessage = rest.contains { !$0.isWhitespace } && !rest.hasSuffix("] ") && !takeLine(rest[...])
    var line = (lines + (isMessage ? [rest] : [])).last { line in
      // A line that ends with dashes names no reason; the one before it does.
      !line.hasSuffix("-- ") && !["[info] ", "[warning] ", "[verbose] "].contains { line.contains($0) }
    }
    for level in ["[error] ", "[fatal] ", "[panic] "] {
      if let place = line?.firstRange(of: level) { line?.removeSubrange(place) }
    }
    return line.map { String($0.prefix(limit)) }
  }
}

/// Functions of the C library, out of the way of methods of those names.
private let systemPipe = unsafe pipe
private let systemRead = unsafe read
private let systemWrite = unsafe write
private func systemKill(_ identifier: pid_t, _ signal: Int32) { _ = kill(identifier, signal) }
