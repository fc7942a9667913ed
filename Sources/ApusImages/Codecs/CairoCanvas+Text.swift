// SPDX-License-Identifier: Apache-2.0

#if canImport(CCairo)
  import ApusVision
  import CCairo

  /// The size of a line of text, from the font.
  struct TextSize {
    let width: Float
    let height: Float
    let ascent: Float
  }

  /// A line of text as it is drawn: what no font has is spelled.
  struct CanvasText {
    let text: String
    let size: TextSize
    /// Whether Pango lays it out.
    let isLaidOut: Bool
  }

  extension CairoCanvas {
    /// Chooses the font of the texts that follow.
    func setFont(_ family: String, size: Float) {
      self.family = family
      fontSize = size
      unsafe apply(to: context)
    }

    private func apply(to context: OpaquePointer) {
      unsafe cairo_select_font_face(context, family, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD)
      unsafe cairo_set_font_size(context, Double(fontSize))
    }

    /// A text that can be drawn, and its size; nil if there is no font at all.
    ///
    /// Latin letters are drawn by cairo, others by Pango, where it is installed. A character that no font has becomes its code
    /// point, such as `U+732B`: never an empty box. A failing font stops a context for good, so this asks one of its own.
    func measure(_ text: String) -> CanvasText? {
      guard let probe = unsafe cairo_create(surface) else { return nil }
      defer { unsafe cairo_destroy(probe) }
      unsafe apply(to: probe)
      if text.unicodeScalars.allSatisfy(Self.isLatin) {
        return unsafe plainSize(of: text, on: probe).map {
          CanvasText(text: text, size: $0, isLaidOut: false)
        }
      }
      guard let pango = PangoLibrary.loaded else {
        let spelled = Self.spelled(text) { character in
          character.unicodeScalars.allSatisfy { unsafe hasGlyph($0, on: probe) }
        }
        return unsafe plainSize(of: spelled, on: probe).map {
          CanvasText(text: spelled, size: $0, isLaidOut: false)
        }
      }
      func size(_ text: String) -> TextSize? { unsafe pango.measure(text, family, fontSize, on: probe) }
      if let size = size(text) { return CanvasText(text: text, size: size, isLaidOut: true) }
      let spelled = Self.spelled(text) { $0.isWhitespace || size(String($0)) != nil }
      if spelled.unicodeScalars.allSatisfy(Self.isLatin) {
        return unsafe plainSize(of: spelled, on: probe).map {
          CanvasText(text: spelled, size: $0, isLaidOut: false)
        }
      }
      return size(spelled).map { CanvasText(text: spelled, size: $0, isLaidOut: true) }
    }

    /// Draws a text in the middle of a rectangle.
    func write(_ text: CanvasText, in rect: PixelRect, _ color: PixelColor) {
      setColor(color)
      let size = text.size
      let x = Double(rect.x + (rect.width - size.width) / 2)
      let y = Double(rect.y + (rect.height - size.height) / 2)
      if text.isLaidOut, let pango = PangoLibrary.loaded {
        unsafe cairo_move_to(context, x, y)
        unsafe pango.show(text.text, family, fontSize, on: context)
      } else {
        unsafe cairo_move_to(context, x, y + Double(size.ascent))
        unsafe cairo_show_text(context, text.text)
      }
      unsafe cairo_new_path(context)
    }

    /// Letters, digits and signs that need no layout, and that every font for European languages has.
    private static func isLatin(_ scalar: Unicode.Scalar) -> Bool { (0x20..<0x250).contains(scalar.value) }

    /// A text in which code points stand for the characters that no font has, apart from their neighbors by a space. Scalars that belong
    /// together, such as a flag's, have or lack a glyph together.
    private static func spelled(_ text: String, _ isDrawn: (Character) -> Bool) -> String {
      var result = ""
      for character in text {
        guard !isDrawn(character) else {
          result.append(character)
          continue
        }
        for scalar in character.unicodeScalars {
          let digits = String(scalar.value, radix: 16, uppercase: true)
          if let last = result.last, !last.isWhitespace { result += " " }
          result += "U+" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits
        }
      }
      return result
    }

    /// The size of a text in cairo's font; nil if it has none.
    private func plainSize(of text: String, on probe: OpaquePointer) -> TextSize? {
      var font = cairo_font_extents_t()
      var extents = cairo_text_extents_t()
      unsafe cairo_font_extents(probe, &font)
      unsafe cairo_text_extents(probe, text, &extents)
      guard unsafe cairo_status(probe) == CAIRO_STATUS_SUCCESS, extents.width > 0, font.height > 0,
        extents.x_advance.isFinite, font.ascent.isFinite, font.descent.isFinite
      else { return nil }
      return TextSize(
        width: Float(extents.x_advance), height: Float(font.ascent + font.descent), ascent: Float(font.ascent)
      )
    }

    /// Whether cairo's font has a glyph for a character: the first glyph of a font is the box for those that it lacks.
    private func hasGlyph(_ scalar: Unicode.Scalar, on probe: OpaquePointer) -> Bool {
      var glyphs: UnsafeMutablePointer<cairo_glyph_t>?
      var count: Int32 = 0
      let text = String(scalar)
      let status = unsafe cairo_scaled_font_text_to_glyphs(
        cairo_get_scaled_font(probe), 0, 0, text, Int32(text.utf8.count), &glyphs, &count, nil, nil, nil)
      defer { unsafe cairo_glyph_free(glyphs) }
      guard status == CAIRO_STATUS_SUCCESS, count > 0, let first = unsafe glyphs else { return false }
      return unsafe first.pointee.index != 0
    }
  }
#endif
