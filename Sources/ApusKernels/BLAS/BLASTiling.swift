/// What shapes BLAS is for.
enum BLASTiling {
  /// Whether BLAS is faster than the portable kernels there, and its 32-bit sizes suffice.
  ///
  /// Below four rows `sgemm` spends its time on packing the weights.
  static func isWorthwhile(_ convolution: Convolution) -> Bool {
    let most = Int(Int32.max) / 2
    return convolution.rowCount >= 4 && convolution.depth <= most && convolution.inputChannels <= most
      && convolution.outputChannels <= most
  }
}
