// SPDX-License-Identifier: Apache-2.0

#if canImport(CCairo)
  import CCairo

  /// The functions of Pango that lay out a line of text in any script, as its headers declare them.
  ///
  /// Cairo alone takes one font, and draws an empty box for what that font lacks. Pango takes letters from all fonts that are
  /// installed, joins those of Arabic and Hindi, and orders those that run from right to left.
  @safe struct PangoLibrary: Sendable {
    private typealias MakeFont = @convention(c) () -> OpaquePointer?
    private typealias Free = @convention(c) (OpaquePointer?) -> Void
    private typealias SetFamily = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void
    private typealias SetWeight = @convention(c) (OpaquePointer?, Int32) -> Void
    private typealias SetSize = @convention(c) (OpaquePointer?, Double) -> Void
    private typealias MakeLayout = @convention(c) (OpaquePointer?) -> OpaquePointer?
    private typealias SetText = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Void
    private typealias SetFont = @convention(c) (OpaquePointer?, OpaquePointer?) -> Void
    private typealias Number = @convention(c) (OpaquePointer?) -> Int32
    private typealias Extents =
      @convention(c) (OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?) -> Void
    private typealias Show = @convention(c) (OpaquePointer?, OpaquePointer?) -> Void

    private let makeFont: MakeFont
    private let freeFont: Free
    private let setFamily: SetFamily
    private let setWeight: SetWeight
    private let setSize: SetSize
    private let makeLayout: MakeLayout
    private let setText: SetText
    private let setFont: SetFont
    private let unknownCount: Number
    private let baseline: Number
    private let extents: Extents
    private let showLayout: Show
    private let release: Free

    /// The factor of sizes, `PANGO_SCALE`, and the weight of a bold font.
    private static let scale = 1024.0
    private static let bold: Int32 = 700

    /// The library; nil where it is not installed.
    static let loaded: PangoLibrary? = {
      guard let pango = LoadedLibrary(["libpango-1.0.so.0"]),
        let cairo = LoadedLibrary(["libpangocairo-1.0.so.0"]),
        let objects = LoadedLibrary(["libgobject-2.0.so.0"]),
        let makeFont = unsafe pango.function("pango_font_description_new", MakeFont.self),
        let freeFont = unsafe pango.function("pango_font_description_free", Free.self),
        let setFamily = unsafe pango.function("pango_font_description_set_family", SetFamily.self),
        let setWeight = unsafe pango.function("pango_font_description_set_weight", SetWeight.self),
        let setSize = unsafe pango.function("pango_font_description_set_absolute_size", SetSize.self),
        let makeLayout = unsafe cairo.function("pango_cairo_create_layout", MakeLayout.self),
        let setText = unsafe pango.function("pango_layout_set_text", SetText.self),
        let setFont = unsafe pango.function("pango_layout_set_font_description", SetFont.self),
        let unknownCount = unsafe pango.function("pango_layout_get_unknown_glyphs_count", Number.self),
        let baseline = unsafe pango.function("pango_layout_get_baseline", Number.self),
        let extents = unsafe pango.function("pango_layout_get_pixel_extents", Extents.self),
        let showLayout = unsafe cairo.function("pango_cairo_show_layout", Show.self),
        let release = unsafe objects.function("g_object_unref", Free.self)
      else { return nil }
      return unsafe PangoLibrary(
        makeFont: makeFont, freeFont: freeFont, setFamily: setFamily, setWeight: setWeight, setSize: setSize,
        makeLayout: makeLayout, setText: setText, setFont: setFont, unknownCount: unknownCount,
        baseline: baseline,
        extents: extents, showLayout: showLayout, release: release)
    }()

    /// The size of a line of text on a context; nil if it has none, or characters that no font has.
    func measure(_ text: String, _ family: String, _ size: Float, on context: OpaquePointer) -> TextSize? {
      unsafe withLayout(text, family, size, on: context) { layout in
        guard unsafe unknownCount(layout) == 0 else { return nil }
        // Left, top, width, height.
        var logical: [Int32] = [0, 0, 0, 0]
        unsafe logical.withUnsafeMutableBufferPointer { unsafe extents(layout, nil, $0.baseAddress) }
        guard logical[2] > 0, logical[3] > 0 else { return nil }
        return TextSize(
          width: Float(logical[2]), height: Float(logical[3]),
          ascent: Float(Double(unsafe baseline(layout)) / Self.scale))
      } ?? nil
    }

    /// Draws a line of text whose upper left corner is the context's current point, in its color.
    func show(_ text: String, _ family: String, _ size: Float, on context: OpaquePointer) {
      unsafe withLayout(text, family, size, on: context) { unsafe showLayout(context, $0) }
    }

    @discardableResult
    private func withLayout<R>(
      _ text: String, _ family: String, _ size: Float, on context: OpaquePointer, _ body: (OpaquePointer) -> R
    ) -> R? {
      guard let layout = unsafe makeLayout(context) else { return nil }
      defer { unsafe release(layout) }
      guard let font = unsafe makeFont() else { return nil }
      defer { unsafe freeFont(font) }
      unsafe setFamily(font, family)
      unsafe setWeight(font, Self.bold)
      unsafe setSize(font, Double(size) * Self.scale)
      unsafe setFont(layout, font)
      unsafe setText(layout, text, Int32(text.utf8.count))
      return unsafe body(layout)
    }
  }
#endif
