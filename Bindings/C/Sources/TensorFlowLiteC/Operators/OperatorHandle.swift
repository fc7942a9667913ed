// SPDX-License-Identifier: Apache-2.0

import Apus
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

typealias InitFunction =
  @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) -> UnsafeMutableRawPointer?
typealias InitWithDataFunction =
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int) ->
  UnsafeMutableRawPointer?
typealias FreeFunction = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void
typealias FreeWithDataFunction =
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void
typealias NodeFunction = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
typealias NodeWithDataFunction =
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32

/// Finds a built-in operator by its code and version.
public typealias FindBuiltinFunction =
  @convention(c) (UnsafeMutableRawPointer?, Int32, Int32) -> UnsafeRawPointer?
/// Finds a custom operator by its name and version.
public typealias FindCustomFunction =
  @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int32) -> UnsafeRawPointer?

/// A `TfLiteOperator`, which was `TfLiteRegistrationExternal`: an operator of the client's.
final class OperatorHandle: HandleObject, @unchecked Sendable {
  static let typeName = "TfLiteOperator"

  /// The client's functions. Pointers to contexts and nodes are passed through them.
  struct Functions: @unchecked Sendable {
    var initialize: InitWithDataFunction?
    var initializePlain: InitFunction?
    var free: FreeWithDataFunction?
    var freePlain: FreeFunction?
    var prepare: NodeWithDataFunction?
    var preparePlain: NodeFunction?
    var invoke: NodeWithDataFunction?
    var invokePlain: NodeFunction?
  }

  let builtinCode: Int32
  /// The client's pointer, which it gets back.
  let clientName: UnsafePointer<CChar>?
  let name: String
  let version: Int32
  let userData: UnsafeMutableRawPointer?
  let functions = Mutex(Functions())

  init(
    builtinCode: Int32, name: UnsafePointer<CChar>?, version: Int32, userData: UnsafeMutableRawPointer?
  ) {
    self.builtinCode = builtinCode
    clientName = name
    self.name = name.map { String(cString: $0) } ?? ""
    self.version = version
    self.userData = userData
  }

  /// The operator's callbacks for the interpreter, as they are at this moment.
  func callbacks() throws(Refusal) -> OperatorCallbacks {
    guard version > 0 else {
      throw Refusal("the operator \(name) has the version \(version), which is not above 0")
    }
    return OperatorCallbacks(
      name: name, versions: Int(version)...Int(version), builtinCode: builtinCode, userData: userData,
      functions: functions.withLock { $0 })
  }
}

/// An operator of the client's, from whichever structure describes it.
struct OperatorCallbacks: @unchecked Sendable {
  /// `kTfLiteBuiltinCustom`.
  static let customCode: Int32 = 32

  let name: String
  let versions: ClosedRange<Int>
  let builtinCode: Int32
  let userData: UnsafeMutableRawPointer?
  let functions: OperatorHandle.Functions

  init(
    name: String, versions: ClosedRange<Int>, builtinCode: Int32, userData: UnsafeMutableRawPointer?,
    functions: OperatorHandle.Functions
  ) {
    self.name = name
    self.versions = versions
    self.builtinCode = builtinCode
    self.userData = userData
    self.functions = functions
  }

  /// Reads a `TfLiteRegistration`, whose beginning is the same in all of its versions.
  init(
    registration: UnsafeRawPointer, name: String, _ minimumVersion: Int32, _ maximumVersion: Int32
  ) throws(Refusal) {
    guard minimumVersion > 0, minimumVersion <= maximumVersion else {
      throw Refusal("the operator \(name) has the versions \(minimumVersion) to \(maximumVersion)")
    }
    var functions = OperatorHandle.Functions()
    functions.initializePlain = registration.loadUnaligned(
      fromByteOffset: RegistrationLayout.initialize, as: InitFunction?.self)
    functions.freePlain = registration.loadUnaligned(
      fromByteOffset: RegistrationLayout.free, as: FreeFunction?.self)
    functions.preparePlain = registration.loadUnaligned(
      fromByteOffset: RegistrationLayout.prepare, as: NodeFunction?.self)
    functions.invokePlain = registration.loadUnaligned(
      fromByteOffset: RegistrationLayout.invoke, as: NodeFunction?.self)
    self.init(
      name: name, versions: Int(minimumVersion)...Int(maximumVersion), builtinCode: Self.customCode,
      userData: nil, functions: functions)
  }

  func initialize(_ context: UnsafeMutableRawPointer, _ options: [UInt8]) -> UnsafeMutableRawPointer? {
    // A byte more, as an empty buffer is not NULL, either.
    (options + [0]).withUnsafeBytes { bytes in
      let buffer = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      if let initialize = functions.initialize { return initialize(userData, context, buffer, options.count) }
      return functions.initializePlain?(context, buffer, options.count)
    }
  }

  func free(_ context: UnsafeMutableRawPointer, _ data: UnsafeMutableRawPointer?) {
    if let free = functions.free { return free(userData, context, data) }
    functions.freePlain?(context, data)
  }

  func prepare(_ context: UnsafeMutableRawPointer, _ node: UnsafeMutableRawPointer) -> Int32 {
    if let prepare = functions.prepare { return prepare(userData, context, node) }
    return functions.preparePlain?(context, node) ?? Status.ok
  }

  func invoke(_ context: UnsafeMutableRawPointer, _ node: UnsafeMutableRawPointer) -> Int32 {
    if let invoke = functions.invoke { return invoke(userData, context, node) }
    return functions.invokePlain?(context, node) ?? Status.error
  }
}

/// The client's functions that find operators. They are asked for custom operators alone, as the engine has its own built-in ones.
struct OperatorResolver: @unchecked Sendable {
  /// Two functions that find a `TfLiteRegistration`.
  struct Functions: @unchecked Sendable {
    let findBuiltin: FindBuiltinFunction?
    let findCustom: FindCustomFunction?
  }

  let findBuiltin: FindBuiltinFunction?
  let findCustom: FindCustomFunction?
  let userData: UnsafeMutableRawPointer?
  /// Whether a `TfLiteOperator` is found, not a `TfLiteRegistration`.
  var findsHandles = false
  /// Asked where the first functions find nothing.
  var fallback: Functions?

  /// The custom operators of a model that the functions find.
  func operators(of model: Model) throws(Refusal) -> [OperatorCallbacks] {
    var found: [OperatorCallbacks] = []
    for code in model.operatorCounts where code.isCustom {
      let version = Int32(clamping: code.version)
      if let pointer = code.name.withCString({ findCustom?(userData, $0, version) }) {
        found.append(
          findsHandles
            ? try HandleTable.shared.object(pointer, OperatorHandle.self).callbacks()
            : try OperatorCallbacks(registration: pointer, name: code.name, version, version))
      } else if let pointer = code.name.withCString({ fallback?.findCustom?(userData, $0, version) }) {
        found.append(try OperatorCallbacks(registration: pointer, name: code.name, version, version))
      }
    }
    return found
  }
}
