import ApusFormat
import ApusKernels

/// Zeroed memory of tensors.
///
/// Whoever writes through ``base`` owns the object alone; shared objects are written before they are shared.
final class TensorMemory: Sendable {
  /// The alignment of every tensor, in bytes.
  static let alignment = ZeroedMemory.alignment

  private let memory: ZeroedMemory

  init(byteCount: Int) { memory = ZeroedMemory(byteCount: byteCount) }

  /// The first byte.
  var base: UnsafeMutableRawPointer { memory.base }

  /// How many bytes there are; at least one.
  var byteCount: Int { memory.byteCount }

  /// Lends the bytes, to be written by the object's only owner.
  func withMutableBytes<R>(_ body: (inout MutableRawSpan) -> R) -> R {
    var bytes = MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(start: base, count: byteCount))
    return body(&bytes)
  }
}

/// Where a tensor's elements lie while its graph runs.
struct TensorBuffer {
  /// The first byte, aligned for the element type; nil while the tensor has no memory.
  var base: UnsafeMutableRawPointer?
  /// The bytes of all elements.
  var byteCount: Int

  static var none: TensorBuffer { TensorBuffer(base: nil, byteCount: 0) }
}

/// Values that do not change: of the file, or computed from such once.
struct ConstantData: @unchecked Sendable {
  /// The first byte, aligned for the element type.
  let base: UnsafeRawPointer
  /// The bytes of all elements.
  let byteCount: Int
  /// What keeps the bytes alive.
  let owner: AnyObject & Sendable
  /// Whether the values depend on the file alone, so that all interpreters of a model may share them.
  let isOfModel: Bool
  /// The file that these bytes are of, if they may not have been read yet; nil where they are there.
  var file: FileBytes?

  private func range(in file: FileBytes) -> Range<Int> {
    let start = base - file.baseAddress
    return start..<start + byteCount
  }

  /// Whether the bytes are in their place.
  var isPresent: Bool { file.map { $0.contains(range(in: $0)) } ?? true }

  /// Sees to it that the bytes are in their place.
  func require() throws(ApusError) {
    guard let file else { return }
    do { try file.require(range(in: file)) } catch { throw ApusError(.unreadableFile, error.message) }
  }

  /// Copies the bytes of a file.
  func copyFromFile(to target: UnsafeMutableRawPointer) throws(ApusError) {
    guard let file else { return }
    do { try file.copyFromFile(range(in: file), to: target) } catch {
      throw ApusError(.unreadableFile, error.message)
    }
  }

  /// The buffer that readers see, while the bytes are there; nothing writes to a constant.
  var buffer: TensorBuffer {
    TensorBuffer(base: UnsafeMutableRawPointer(mutating: base), byteCount: byteCount)
  }

  /// The values as an array. The caller knows that `T` is as wide as the elements.
  func values<T: TensorElement>(as type: T.Type = T.self) -> [T] {
    let count = byteCount / MemoryLayout<T>.stride
    return Array(UnsafeBufferPointer(start: base.assumingMemoryBound(to: T.self), count: count))
  }
}
