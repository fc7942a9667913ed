// SPDX-License-Identifier: Apache-2.0

import Apus

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The version of TensorFlow Lite's API that this library follows, and its own.
private let versionStrings = CStrings(["2.21.0+apus.\(Runtime.version)", "2.21.0"])

@c(TfLiteVersion)
public func version() -> UnsafePointer<CChar>? { versionStrings.string(0) }

@c(TfLiteExtensionApisVersion)
public func extensionApisVersion() -> UnsafePointer<CChar>? { versionStrings.string(1) }

@c(TfLiteSchemaVersion)
public func schemaVersion() -> Int32 { 3 }

private func makeModel(
  _ reporter: ErrorReporter, _ read: () throws(Refusal) -> Model
) -> OpaquePointer? {
  do throws(Refusal) { return HandleTable.shared.add(ModelHandle(try read())) } catch {
    reporter.report(error.message)
    return nil
  }
}

private func makeModel(
  _ data: UnsafeRawPointer?, _ byteCount: Int, _ reporter: ErrorReporter
) -> OpaquePointer? {
  makeModel(reporter) { () throws(Refusal) in
    guard let data else { throw Refusal("the model's data are NULL") }
    let limits = Model.Limits()
    guard byteCount >= 0, byteCount <= limits.fileByteCount else {
      throw Refusal("the model has \(UInt(bitPattern: byteCount)) bytes, at most \(limits.fileByteCount)")
    }
    let bytes = [UInt8](UnsafeRawBufferPointer(start: data, count: byteCount))
    guard bytes.count >= 8, bytes[4..<8].elementsEqual("TFL3".utf8) else {
      throw Refusal("The model is not a valid Flatbuffer buffer")
    }
    do throws(ApusError) { return try Model(bytes: bytes) } catch { throw Refusal(error) }
  }
}

private func makeModel(_ path: UnsafePointer<CChar>?, _ reporter: ErrorReporter) -> OpaquePointer? {
  makeModel(reporter) { () throws(Refusal) in
    guard let path else { throw Refusal("the model's path is NULL") }
    guard let file = String(validatingCString: path) else { return try model(ofFileNamedByBytes: path) }
    do throws(ApusError) { return try Model(contentsOfFile: file) } catch {
      guard error.code == .unreadableFile else { throw Refusal(error) }
      throw Refusal("Could not open '\(file)'. \(error.message)")
    }
  }
}

/// The model of a file whose path is not UTF-8, which no string of Swift can have: the engine reads it by its descriptor's path.
private func model(ofFileNamedByBytes path: UnsafePointer<CChar>) throws(Refusal) -> Model {
  let file = String(cString: path)
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else {
    throw Refusal("Could not open '\(file)'. \(String(cString: strerror(errno)))")
  }
  defer { close(descriptor) }
  do throws(ApusError) { return try Model(contentsOfFile: "/dev/fd/\(descriptor)") } catch {
    throw Refusal("Could not read '\(file)'. \(error.message)")
  }
}

@c(TfLiteModelCreate)
public func modelCreate(_ data: UnsafeRawPointer?, _ byteCount: Int) -> OpaquePointer? {
  makeModel(data, byteCount, .standard)
}

@c(TfLiteModelCreateWithErrorReporter)
public func modelCreateWithErrorReporter(
  _ data: UnsafeRawPointer?, _ byteCount: Int,
  _ reporter: (
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void
  )?,
  _ userData: UnsafeMutableRawPointer?
) -> OpaquePointer? {
  makeModel(data, byteCount, ErrorReporter(function: reporter, userData: userData))
}

@c(TfLiteModelCreateFromFile)
public func modelCreateFromFile(_ path: UnsafePointer<CChar>?) -> OpaquePointer? {
  makeModel(path, .standard)
}

@c(TfLiteModelCreateFromFileWithErrorReporter)
public func modelCreateFromFileWithErrorReporter(
  _ path: UnsafePointer<CChar>?,
  _ reporter: (
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void
  )?,
  _ userData: UnsafeMutableRawPointer?
) -> OpaquePointer? {
  makeModel(path, ErrorReporter(function: reporter, userData: userData))
}

@c(TfLiteModelDelete)
public func modelDelete(_ model: OpaquePointer?) { HandleTable.shared.delete(model, ModelHandle.self) }
