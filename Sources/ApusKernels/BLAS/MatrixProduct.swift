#if canImport(COpenBLAS)
  import COpenBLAS
#elseif canImport(Accelerate)
  import Accelerate
#endif

/// The one door to BLAS.
enum BLAS {
  /// Holds OpenBLAS to one thread, for the whole process: this package splits the work itself, and 0.3.21 has
  /// no setting for one call or one thread.
  private static let isSingleThreaded: Bool = {
    #if canImport(COpenBLAS)
      openblas_set_num_threads(1)
    #endif
    return true
  }()

  /// Whether this build has a BLAS.
  static var isAvailable: Bool {
    #if canImport(COpenBLAS) || canImport(Accelerate)
      true
    #else
      false
    #endif
  }

  /// Makes BLAS ready: called while preparing, so that no run has to.
  static func start() {
    _ = isSingleThreaded
  }

  /// `product = lhs · rhsᵀ`, or `product += …`: row-major floats, each stride at least the row's length.
  ///
  /// Sizes are those of tiles and of layers, which fit 32 bits: a greater one would be a broken promise.
  static func multiply(
    rows: Int, columns: Int, terms: Int, lhs: UnsafePointer<Float>, lhsStride: Int,
    rhs: UnsafePointer<Float>, rhsStride: Int, product: UnsafeMutablePointer<Float>, productStride: Int,
    accumulates: Bool
  ) {
    #if canImport(COpenBLAS) || canImport(Accelerate)
      unsafe cblas_sgemm(
        CblasRowMajor, CblasNoTrans, CblasTrans, Int32(rows), Int32(columns), Int32(terms), 1, lhs,
        Int32(lhsStride), rhs, Int32(rhsStride), accumulates ? 1 : 0, product, Int32(productStride))
    #else
      preconditionFailure("this build has no BLAS")
    #endif
  }
}
