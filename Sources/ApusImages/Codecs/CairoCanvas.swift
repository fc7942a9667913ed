// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

#if canImport(CCairo)
  import CCairo

  /// Draws on a tightly packed rgb picture.
  ///
  /// Its bytes are drawn on in place if nothing else holds them, a band of rows of about `bandPixelCount` pixels at a time.
  func draw(
    _ sketch: Sketch, on image: consuming ImageBuffer, style: AnnotationStyle,
    bandPixelCount: Int = Sketch.bandPixelCount
  ) throws(ApusError) -> ImageBuffer {
    let (width, height) = (image.width, image.height)
    let annotations = sketch.boxes
    guard width <= 32_767, height <= 32_767 else {
      throw ApusError(
        .unsupportedImage, "a picture of \(width) × \(height) pixels is too large to draw on")
    }
    let canvas = try CairoCanvas(width: width, height: height, bandPixelCount: bandPixelCount)
    let meanSide = Float(width * height).squareRoot()
    canvas.setFont(
      style.fontFamily,
      size: sensible(style.fontSize, in: 4...512) ?? min(max(meanSide / 32, 11), 64))
    let lineWidth = sensible(style.lineWidth, in: 0.5...256) ?? max((meanSide / 200).rounded(), 2)

    // The most certain detections come first, so they get the best places and are drawn last.
    var layout = PlateLayout(width: width, height: height)
    let plates = annotations.map { annotation -> (PixelRect, CanvasText)? in
      guard !annotation.text.isEmpty, let text = canvas.measure(annotation.text) else { return nil }
      let size = text.size
      let padding = (size.height * 0.25).rounded(.up)
      // Plates line up with the outside of the line, where that is in the picture.
      var box = annotation.box
      box.x = max(box.x - lineWidth / 2, 0)
      box.width = min(annotation.box.maxX + lineWidth / 2, Float(width)) - box.x
      let rect = layout.place(
        width: (size.width + 2 * padding).rounded(.up), height: (size.height + padding).rounded(.up), at: box)
      return (rect, text)
    }
    var pixels = image.takeBytes()
    for first in stride(from: 0, to: height, by: canvas.rowCount) {
      let rows = first..<min(first + canvas.rowCount, height)
      canvas.load(rows, of: pixels)
      for annotation in annotations.reversed()
      where annotation.isOutlined && annotation.box.touches(rows, margin: lineWidth) {
        canvas.stroke(annotation.box, annotation.color, width: lineWidth)
      }
      for line in sketch.lines.prefix(Sketch.maximumLines)
      where PixelRect(line.from, line.to).touches(rows, margin: lineWidth) {
        canvas.stroke(from: line.from, to: line.to, line.color, width: lineWidth)
      }
      for dot in sketch.dots.prefix(Sketch.maximumDots)
      where PixelRect((dot.x, dot.y), (dot.x, dot.y)).touches(rows, margin: lineWidth * 2) {
        canvas.fillCircle(x: dot.x, y: dot.y, radius: lineWidth * 1.5, dot.color)
      }
      for (annotation, plate) in zip(annotations, plates).reversed() {
        // Letters may be higher than their font says.
        guard let (rect, text) = plate, rect.touches(rows, margin: rect.height) else { continue }
        canvas.fill(rect, annotation.color)
        canvas.write(text, in: rect, annotation.color.contrasting)
      }
      try canvas.store(rows, in: &pixels)
    }
    return try ImageBuffer(bytes: pixels, width: width, height: height, format: .rgb)
  }

  extension PixelRect {
    /// The rectangle between two points.
    fileprivate init(_ one: (x: Float, y: Float), _ other: (x: Float, y: Float)) {
      self.init(
        x: min(one.x, other.x), y: min(one.y, other.y), width: abs(one.x - other.x),
        height: abs(one.y - other.y))
    }

    /// Whether some of the rectangle, or what is as near to it as the margin, is in these rows.
    fileprivate func touches(_ rows: Range<Int>, margin: Float) -> Bool {
      y - margin < Float(rows.upperBound) && maxY + margin > Float(rows.lowerBound)
    }
  }

  private func sensible(_ value: Float?, in range: ClosedRange<Float>) -> Float? {
    value.flatMap { $0.isFinite ? min(max($0, range.lowerBound), range.upperBound) : nil }
  }

  /// A cairo surface with a context on it, both freed with the canvas: room for some rows of a picture at a time.
  @safe final class CairoCanvas {
    let surface: OpaquePointer
    let context: OpaquePointer
    private let width: Int
    /// How many rows fit.
    let rowCount: Int
    /// The font of texts; see ``measure(_:)``.
    var family = ""
    var fontSize: Float = 0

    init(width: Int, height: Int, bandPixelCount: Int) throws(ApusError) {
      self.width = width
      rowCount = min(height, max(bandPixelCount / max(width, 1), 1))
      let surface = unsafe cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(width), Int32(rowCount))
      guard let surface = unsafe surface, unsafe cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
        unsafe cairo_image_surface_get_data(surface) != nil
      else {
        unsafe cairo_surface_destroy(surface)
        throw ApusError(.resourceLimit, "there is no memory to draw on \(width) × \(height) pixels")
      }
      let context = unsafe cairo_create(surface)
      guard let context = unsafe context, unsafe cairo_status(context) == CAIRO_STATUS_SUCCESS else {
        unsafe cairo_destroy(context)
        unsafe cairo_surface_destroy(surface)
        throw ApusError(.resourceLimit, "there is no memory to draw on \(width) × \(height) pixels")
      }
      unsafe self.surface = unsafe surface
      unsafe self.context = unsafe context
    }

    /// Takes rows of a picture, whose places are those of the picture from now on.
    func load(_ rows: Range<Int>, of pixels: [UInt8]) {
      guard let data = unsafe cairo_image_surface_get_data(surface) else { return }
      unsafe cairo_surface_flush(surface)
      let stride = unsafe Int(cairo_image_surface_get_stride(surface))
      var source = rows.lowerBound * width * 3
      for y in 0..<rows.count {
        // A pixel of this format is a 32-bit number in the machine's byte order; rows are aligned for it.
        let row = unsafe UnsafeMutableRawPointer(data + y * stride).assumingMemoryBound(to: UInt32.self)
        for x in 0..<width {
          unsafe row[x] =
            UInt32(pixels[source]) << 16 | UInt32(pixels[source + 1]) << 8 | UInt32(pixels[source + 2])
          source += 3
        }
      }
      unsafe cairo_surface_mark_dirty(surface)
      unsafe cairo_identity_matrix(context)
      unsafe cairo_translate(context, 0, -Double(rows.lowerBound))
    }

    deinit {
      unsafe cairo_destroy(context)
      unsafe cairo_surface_destroy(surface)
    }

    func setColor(_ color: PixelColor) {
      unsafe cairo_set_source_rgb(
        context, Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255)
    }

    func stroke(_ rect: PixelRect, _ color: PixelColor, width lineWidth: Float) {
      setColor(color)
      unsafe cairo_set_line_width(context, Double(lineWidth))
      unsafe cairo_rectangle(context, Double(rect.x), Double(rect.y), Double(rect.width), Double(rect.height))
      unsafe cairo_stroke(context)
    }

    func stroke(from: (x: Float, y: Float), to: (x: Float, y: Float), _ color: PixelColor, width: Float) {
      setColor(color)
      unsafe cairo_set_line_width(context, Double(width))
      unsafe cairo_move_to(context, Double(from.x), Double(from.y))
      unsafe cairo_line_to(context, Double(to.x), Double(to.y))
      unsafe cairo_stroke(context)
    }

    func fillCircle(x: Float, y: Float, radius: Float, _ color: PixelColor) {
      setColor(color)
      unsafe cairo_new_path(context)
      unsafe cairo_arc(context, Double(x), Double(y), Double(radius), 0, 2 * Double.pi)
      unsafe cairo_fill(context)
    }

    func fill(_ rect: PixelRect, _ color: PixelColor) {
      setColor(color)
      unsafe cairo_rectangle(context, Double(rect.x), Double(rect.y), Double(rect.width), Double(rect.height))
      unsafe cairo_fill(context)
    }

    /// Gives the rows back.
    func store(_ rows: Range<Int>, in pixels: inout [UInt8]) throws(ApusError) {
      unsafe cairo_surface_flush(surface)
      guard unsafe cairo_status(context) == CAIRO_STATUS_SUCCESS,
        let data = unsafe cairo_image_surface_get_data(surface)
      else {
        throw ApusError(
          .resourceLimit,
          unsafe "the drawing library says: \(String(cString: cairo_status_to_string(cairo_status(context))))"
        )
      }
      let stride = unsafe Int(cairo_image_surface_get_stride(surface))
      var target = rows.lowerBound * width * 3
      for y in 0..<rows.count {
        let row = unsafe UnsafeRawPointer(data + y * stride).assumingMemoryBound(to: UInt32.self)
        for x in 0..<width {
          pixels[target] = unsafe UInt8(truncatingIfNeeded: row[x] >> 16)
          pixels[target + 1] = unsafe UInt8(truncatingIfNeeded: row[x] >> 8)
          pixels[target + 2] = unsafe UInt8(truncatingIfNeeded: row[x])
          target += 3
        }
      }
    }
  }
#else
  func draw(
    _ sketch: Sketch, on image: consuming ImageBuffer, style: AnnotationStyle,
    bandPixelCount: Int = Sketch.bandPixelCount
  ) throws(ApusError) -> ImageBuffer {
    throw ApusError(.unsupportedImage, "this build does not draw")
  }
#endif
