// SPDX-License-Identifier: Apache-2.0

#if canImport(Accelerate)
  import Accelerate
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The only access to BLAS: Accelerate on Apple platforms, elsewhere OpenBLAS if it is installed.
///
/// OpenBLAS is loaded when its first kernel is prepared, and never if generated kernels do all the work: it
/// starts a thread for each processor as soon as it is loaded, and they spin for milliseconds.
enum BLAS {
  /// Whether there is a BLAS; loads it.
  static var isAvailable: Bool {
    #if canImport(Accelerate)
      true
    #else
      openBLAS != nil
    #endif
  }

  /// `product = lhs · rhsᵀ`, or `product += …`: row-major floats, each stride at least the row's length.
  ///
  /// Sizes are those of tiles and layers, which fit in 32 bits; a larger one is a programming error. The
  /// caller has checked ``isAvailable``.
  static func multiply(
    rows: Int, columns: Int, terms: Int, lhs: UnsafePointer<Float>, lhsStride: Int,
    rhs: UnsafePointer<Float>, rhsStride: Int, product: UnsafeMutablePointer<Float>, productStride: Int,
    accumulates: Bool
  ) {
    #if canImport(Accelerate)
      unsafe cblas_sgemm(
        CblasRowMajor, CblasNoTrans, CblasTrans, Int32(rows), Int32(columns), Int32(terms), 1, lhs,
        Int32(lhsStride), rhs, Int32(rhsStride), accumulates ? 1 : 0, product, Int32(productStride))
    #else
      guard let multiply = unsafe openBLAS?.multiply else { return }
      let (rowMajor, asIs, transposed): (Int32, Int32, Int32) = (101, 111, 112)  // CBLAS's numbers for them
      unsafe multiply(
        rowMajor, asIs, transposed, Int32(rows), Int32(columns), Int32(terms), 1, lhs, Int32(lhsStride), rhs,
        Int32(rhsStride), accumulates ? 1 : 0, product, Int32(productStride))
    #endif
  }

  #if !canImport(Accelerate)
    /// CBLAS's `cblas_sgemm`, with 32-bit sizes.
    private typealias Multiply =
      @convention(c) (
        Int32, Int32, Int32, Int32, Int32, Int32, Float, UnsafePointer<Float>, Int32, UnsafePointer<Float>,
        Int32,
        Float, UnsafeMutablePointer<Float>, Int32
      ) -> Void
    private typealias SetThreadCount = @convention(c) (Int32) -> Void

    @safe private struct OpenBLAS: Sendable {
      let multiply: Multiply
    }

    /// The library, set to one thread for the whole process: this package splits the work itself, and
    /// OpenBLAS has no setting for one call or one thread. nil if it is not installed.
    private static let openBLAS: OpenBLAS? = {
      guard let library = unsafe dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL),
        let multiply = unsafe dlsym(library, "cblas_sgemm"),
        let setThreadCount = unsafe dlsym(library, "openblas_set_num_threads")
      else { return nil }
      unsafe unsafeBitCast(setThreadCount, to: SetThreadCount.self)(1)
      return unsafe OpenBLAS(multiply: unsafeBitCast(multiply, to: Multiply.self))
    }()
  #endif
}
