// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// Mel-frequency cepstral coefficients of squared spectra: magnitudes are gathered in bands of equal width on the mel
/// scale, each a triangle that overlaps its neighbors, and the bands' logarithms are transformed by cosines.
package struct CepstrumKernel: Sendable {
  /// The parameters of a kernel.
  package struct Settings: Sendable {
    /// Frequencies of a spectrum, 2 or more: from zero to half the sample rate.
    package let frequencies: Int
    /// In hertz, above zero.
    package let sampleRate: Double
    /// The start of the lowest band in hertz, zero or more.
    package let lowerLimit: Double
    /// The end of the highest band in hertz, above the lower limit.
    package let upperLimit: Double
    /// Bands, 1 or more.
    package let bands: Int
    /// Results, 1 up to the number of bands.
    package let coefficients: Int

    /// Describes a kernel.
    package init(
      frequencies: Int, sampleRate: Double, lowerLimit: Double, upperLimit: Double, bands: Int,
      coefficients: Int
    ) {
      self.frequencies = frequencies
      self.sampleRate = sampleRate
      self.lowerLimit = lowerLimit
      self.upperLimit = upperLimit
      self.bands = bands
      self.coefficients = coefficients
    }
  }

  private let settings: Settings
  private let rows: Int
  /// The frequencies inside the bands; nil if the upper limit is above them all, which makes every result
  /// zero.
  private let range: Range<Int>?
  /// For each frequency, the band on whose falling side it is (−1 for the rising side of the first) and its
  /// share there; the rest belongs to the next band.
  private let places: Table<Int32>
  private let shares: Table<Double>
  /// A row for each coefficient.
  private let cosines: Table<Double>

  /// The minimum before logarithms.
  private static let floor = 1e-12

  /// Computes the tables for `rows` spectra.
  package init(rows: Int, _ settings: Settings) {
    self.rows = rows
    self.settings = settings
    func mel(_ frequency: Double) -> Double { 1127 * log1p(frequency / 700) }
    let step = 0.5 * settings.sampleRate / Double(settings.frequencies - 1)
    let (lower, upper) = (settings.lowerLimit / step, settings.upperLimit / step)
    // The first frequency, zero, never counts.
    if upper < Double(settings.frequencies) {
      let first = Int(1.5 + lower)
      range = first..<max(first, Int(upper) + 1)
    } else {
      range = nil
    }
    let bottom = mel(settings.lowerLimit)
    let width = (mel(settings.upperLimit) - bottom) / Double(settings.bands + 1)
    let centers = (1...settings.bands + 1).map { bottom + width * Double($0) }
    var next = 0
    let counted = range ?? 0..<0
    let places = Table(count: counted.count) { index in
      let value = mel(Double(counted.lowerBound + index) * step)
      while next < settings.bands, centers[next] < value { next += 1 }
      return Int32(next - 1)
    }
    shares = Table(count: counted.count) { index in
      let band = unsafe Int(places.values[index])
      let value = mel(Double(counted.lowerBound + index) * step)
      return (centers[band + 1] - value) / (centers[band + 1] - (band < 0 ? bottom : centers[band]))
    }
    self.places = places
    let norm = (2 / Double(settings.bands)).squareRoot()
    cosines = Table(count: settings.coefficients * settings.bands) { index in
      let (coefficient, band) = (index / settings.bands, index % settings.bands)
      return norm
        * cos(Double(coefficient) * (Double.pi / Double(settings.bands)) * (Double(band) + 0.5))
    }
  }

  /// The scratch memory of a run, in bytes.
  package func scratchByteCount(threads: Int) -> Int { settings.bands * threads * 8 }

  /// Transforms floats, `rows × frequencies`, to `rows × coefficients`.
  package func run(
    _ input: RawSpan, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(
      input.byteCount >= rows * settings.frequencies * 4
        && output.byteCount >= rows * settings.coefficients * 4
        && scratch.byteCount >= scratchByteCount(threads: threads.count))
    unsafe withAddresses(input, &output, &scratch) { input, output, scratch in
      threads.run(
        tiles: rows,
        unsafe Work(
          kernel: self, input: input.assumingMemoryBound(to: Float.self),
          output: output.assumingMemoryBound(to: Float.self),
          scratch: scratch.assumingMemoryBound(to: Double.self)))
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let kernel: CepstrumKernel
    let input: UnsafePointer<Float>
    let output: UnsafeMutablePointer<Float>
    let scratch: UnsafeMutablePointer<Double>

    func run(tile: Int, worker: Int) {
      let settings = kernel.settings
      let result = unsafe output + tile &* settings.coefficients
      let bands = unsafe scratch + worker &* settings.bands
      guard let range = kernel.range else {
        unsafe result.update(repeating: 0, count: settings.coefficients)
        return
      }
      unsafe kernel.gather(input + tile &* settings.frequencies + range.lowerBound, count: range.count, bands)
      for coefficient in 0..<settings.coefficients {
        let cosines = unsafe kernel.cosines.values + coefficient &* settings.bands
        var sum = 0.0
        for band in 0..<settings.bands { unsafe sum += cosines[band] * bands[band] }
        unsafe result[coefficient] = Float(sum)
      }
    }
  }

  /// The logarithms of all bands' sums.
  private func gather(_ squares: UnsafePointer<Float>, count: Int, _ sums: UnsafeMutablePointer<Double>) {
    unsafe sums.update(repeating: 0, count: settings.bands)
    for index in 0..<count {
      let magnitude = unsafe Double(squares[index]).squareRoot()
      let share = unsafe magnitude * shares.values[index]
      let band = unsafe Int(places.values[index])
      if band >= 0 { unsafe sums[band] += share }
      if band &+ 1 < settings.bands { unsafe sums[band &+ 1] += magnitude - share }
    }
    for band in 0..<settings.bands {
      let sum = unsafe sums[band]
      unsafe sums[band] = log(sum < Self.floor ? Self.floor : sum)
    }
  }
}
