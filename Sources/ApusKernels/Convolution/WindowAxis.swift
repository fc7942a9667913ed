// SPDX-License-Identifier: Apache-2.0

/// How a window of taps slides along one axis of an array.
///
/// The caller has checked that counts and steps are positive (sizes and places may be zero), and that products do not overflow.
@usableFromInline package struct WindowAxis: Hashable, Sendable {
  /// The elements of the array.
  @usableFromInline package var size: Int
  /// The places of the window, which are the elements of the result.
  @usableFromInline package var places: Int
  /// The taps of the window.
  @usableFromInline package var taps: Int
  /// Elements between two places.
  @usableFromInline package var stride: Int
  /// Elements between two taps.
  @usableFromInline package var dilation: Int
  /// Elements of padding before the first.
  @usableFromInline package var padding: Int

  /// Describes an axis; by default one along which nothing slides.
  package init(
    size: Int = 1, places: Int = 1, taps: Int = 1, stride: Int = 1, dilation: Int = 1, padding: Int = 0
  ) {
    self.size = size
    self.places = places
    self.taps = taps
    self.stride = stride
    self.dilation = dilation
    self.padding = padding
  }

  /// Describes an axis with the places and the padding of SAME or VALID.
  ///
  /// SAME has `⌈size / stride⌉` places and pads as needed. VALID places whole windows only: none if a window exceeds
  /// the array by less than two strides, as in the reference, and fewer than zero if it exceeds the array by more.
  package init(size: Int, taps: Int, stride: Int, dilation: Int = 1, isSame: Bool) {
    self.init(size: size, taps: taps, stride: stride, dilation: dilation)
    places = (size + stride - (isSame ? 1 : reach)) / stride
    if isSame { padding = samePadding }
  }

  /// Elements from the first tap at a place to the last.
  @inlinable package var reach: Int { (taps - 1) * dilation + 1 }

  /// The padding of SAME: half of what the windows exceed the array by, the odd element at the end.
  package var samePadding: Int { max(0, (places - 1) * stride + reach - size) / 2 }

  /// The element of the array under a tap at a place; nil outside the array.
  @inline(__always)
  func element(at place: Int, under tap: Int) -> Int? {
    let element = place &* stride &- padding &+ tap &* dilation
    return element >= 0 && element < size ? element : nil
  }

  /// Whether a tap lies outside the array at some place.
  package var reachesOutside: Bool {
    places > 0 && (padding > 0 || (places - 1) * stride - padding + reach > size)
  }
}
