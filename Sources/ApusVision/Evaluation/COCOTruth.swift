// SPDX-License-Identifier: Apache-2.0

import Apus

/// Pictures and the objects in them, from a file in COCO's format.
///
/// ```swift
/// let truth = try COCOTruth(contentsOfFile: "annotations/instances_val2017.json")
/// truth.images.count                                    // 5000
/// truth.truths(ofImage: truth.images[0].id).count
/// ```
///
/// `images`, `categories` and the boxes of `annotations` are read; outlines and keypoints are not.
public struct COCOTruth: Sendable {
  /// A picture.
  public struct Image: Hashable, Identifiable, Sendable {
    /// Its number.
    public let id: Int
    /// Its file, as the truth names it.
    public let fileName: String
    /// Its width in pixels; nil if the file does not say it.
    public let width: Int?
    /// Its height in pixels; nil if the file does not say it.
    public let height: Int?
  }

  /// A kind of object.
  public struct Category: Hashable, Identifiable, Sendable {
    /// Its number.
    public let id: Int
    /// Its name.
    public let name: String
  }

  /// The maximum size of a file, in bytes.
  public static let maximumFileSize = 1 << 30
  /// The maximum number of pictures, of categories and of objects.
  public static let maximumCount = 1 << 24

  /// The pictures, in the file's order.
  public private(set) var images: [Image] = []
  /// The kinds of objects, in the file's order.
  public private(set) var categories: [Category] = []
  /// How many objects there are, crowds included.
  public private(set) var truthCount = 0
  /// Whether an object has the number 0, which pycocotools never counts as found.
  package private(set) var hasObjectZero = false
  /// How many objects are left out, as their pictures are not among the images.
  package private(set) var strayCount = 0
  private var truths: [Int: [DetectionAccuracy.Truth]] = [:]

  /// Reads a file.
  ///
  /// - Throws: `unreadableFile`; `resourceLimit` for a file that is too long; `invalidData` with the place for one that is no such truth.
  public init(contentsOfFile path: String) throws(ApusError) {
    let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize) { beginning throws(ApusError) in
      // A file of another kind may have no end.
      var cursor = JSONCursor(beginning)
      guard let first = cursor.peek(), first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return }
      throw ApusError(.invalidData, "the truth '\(path)': it is no JSON; COCO's format is expected")
    }
    do { try self.init(parsing: bytes) } catch {
      throw ApusError(error.code, "the truth '\(path)': \(error.message)")
    }
  }

  /// Reads the bytes of a file.
  ///
  /// Objects of pictures that are not listed are left out, and so is a category without objects that has the name of another one.
  ///
  /// - Throws: `invalidData` with the place: for a number that two pictures, categories or objects have, for a name of two categories with
  ///   objects, and for objects of categories that there are not; `resourceLimit` for too many.
  public init(parsing bytes: [UInt8]) throws(ApusError) {
    var cursor = JSONCursor(bytes)
    if cursor.peek() == UInt8(ascii: "[") {
      throw cursor.refusal(
        "an object with images, annotations and categories was expected, not a list, which is what COCO's results are"
      )
    }
    var objects: [(image: Int, truth: DetectionAccuracy.Truth)] = []
    var found: Set<String> = []
    try cursor.forEachMember { key, cursor throws(ApusError) in
      switch key {
      case "images": images = try Self.list(&cursor, key, Self.image)
      case "categories": categories = try Self.list(&cursor, key, Self.category)
      case "annotations": objects = try Self.list(&cursor, key, Self.object)
      default: try cursor.skip()
      }
      found.insert(key)
    }
    try cursor.end()
    if let missing = ["images", "annotations", "categories"].first(where: { !found.contains($0) }) {
      throw ApusError(
        .invalidData,
        "there is no '\(missing)'; a truth in COCO's format has images, annotations and categories")
    }
    try check(objects)
  }

  /// The objects of a picture, in the file's order.
  public func truths(ofImage id: Int) -> [DetectionAccuracy.Truth] { truths[id] ?? [] }

  /// The categories that objects have.
  package var usedCategories: Set<Int> { Set(truths.values.joined().map(\.category)) }

  /// A warning about boxes that are not left, top, width and height in pixels, as far as the sizes of pictures tell; nil for others.
  package var boxWarning: String? {
    var (count, beyond, tiny) = (0, 0, 0)
    for image in images {
      guard let width = image.width, let height = image.height else { continue }
      for truth in truths(ofImage: image.id) {
        let (right, bottom) = (truth.box.x + truth.box.width, truth.box.y + truth.box.height)
        count += 1
        if right > Double(width) + 2 || bottom > Double(height) + 2 { beyond += 1 }
        if right <= 1.01, bottom <= 1.01, width > 8, height > 8 { tiny += 1 }
      }
    }
    guard count > 0 else { return nil }
    if tiny == count {
      return
        "all \(count) boxes of the truth end within the first pixel: a bbox is left, top, width and height in pixels, not in fractions"
    }
    guard 4 * beyond > count else { return nil }
    return
      "\(beyond) of \(count) boxes of the truth end beyond their pictures: a bbox is left, top, width and height in pixels, not two "
      + "corners"
  }

  // MARK: Checking

  private mutating func check(
    _ objects: [(image: Int, truth: DetectionAccuracy.Truth)]
  ) throws(ApusError) {
    try Self.checkUnique(images.map(\.id), "the images")
    try Self.checkUnique(images.map(\.fileName), "the images")
    try Self.checkUnique(categories.map(\.id), "the categories")
    try Self.checkUnique(objects.map(\.truth.id), "the annotations")
    let known = (images: Set(images.map(\.id)), categories: Set(categories.map(\.id)))
    for (place, object) in objects.enumerated() {
      guard known.categories.contains(object.truth.category) else {
        throw ApusError(
          .invalidData,
          "annotations[\(place)] (id \(object.truth.id)) has the category \(object.truth.category), which is not among the categories"
        )
      }
      // A subset of the pictures has the objects of all.
      guard known.images.contains(object.image) else {
        strayCount += 1
        continue
      }
      if object.truth.id == 0 { hasObjectZero = true }
      truths[object.image, default: []].append(object.truth)
    }
    truthCount = objects.count - strayCount
    try leaveOutNamesakes(Set(objects.map(\.truth.category)))
  }

  /// Leaves out categories without objects that have the name of another one, such as the root that some exporters write.
  private mutating func leaveOutNamesakes(_ used: Set<Int>) throws(ApusError) {
    var places: [String: Int] = [:]
    for (place, category) in categories.enumerated() {
      guard let other = places[category.name] else {
        places[category.name] = place
        continue
      }
      guard used.contains(category.id) else { continue }
      guard !used.contains(categories[other].id) else {
        throw ApusError(
          .invalidData,
          "the categories \(other) and \(place) (counted from 0) are both '\(category.name)', and both have objects"
        )
      }
      places[category.name] = place
    }
    guard places.count < categories.count else { return }
    let kept = Set(places.values)
    categories = categories.indices.filter(kept.contains).map { categories[$0] }
  }

  private static func checkUnique<Value: Hashable>(_ values: [Value], _ what: String) throws(ApusError) {
    var places: [Value: Int] = [:]
    for (place, value) in values.enumerated() {
      if let other = places.updateValue(place, forKey: value) {
        throw ApusError(.invalidData, "\(what) \(other) and \(place) (counted from 0) are both '\(value)'")
      }
    }
  }

  // MARK: Reading

  private static func list<Value>(
    _ cursor: inout JSONCursor, _ name: String, _ read: (inout JSONCursor) throws(ApusError) -> Value
  ) throws(ApusError) -> [Value] {
    var values: [Value] = []
    try cursor.forEachElement { cursor throws(ApusError) in
      guard values.count < maximumCount else {
        throw ApusError(.resourceLimit, "\(name) has more than \(maximumCount) entries")
      }
      do throws(ApusError) { values.append(try read(&cursor)) } catch {
        throw ApusError(error.code, "\(name)[\(values.count)], \(error.message)")
      }
    }
    return values
  }

  private static func required<Value>(
    _ value: Value?, _ key: String, _ cursor: JSONCursor
  ) throws(ApusError) -> Value {
    guard let value else { throw cursor.refusal("there is no '\(key)'") }
    return value
  }

  private static func image(_ cursor: inout JSONCursor) throws(ApusError) -> Image {
    var (id, name): (Int?, String?)
    var (width, height): (Int?, Int?)
    try cursor.forEachMember { key, cursor throws(ApusError) in
      switch key {
      case "id": id = try cursor.integer()
      case "file_name": name = try cursor.text()
      case "width": width = try cursor.isNull() ? nil : cursor.integer()
      case "height": height = try cursor.isNull() ? nil : cursor.integer()
      default: try cursor.skip()
      }
    }
    // Some exporters write 0 or −1 where they do not know.
    func stated(_ side: Int?) -> Int? { side.flatMap { $0 > 0 ? $0 : nil } }
    return Image(
      id: try required(id, "id", cursor), fileName: try required(name, "file_name", cursor),
      width: stated(width), height: stated(height))
  }

  private static func category(_ cursor: inout JSONCursor) throws(ApusError) -> Category {
    var (id, name): (Int?, String?)
    try cursor.forEachMember { key, cursor throws(ApusError) in
      switch key {
      case "id": id = try cursor.integer()
      case "name": name = try cursor.text()
      default: try cursor.skip()
      }
    }
    return Category(id: try required(id, "id", cursor), name: try required(name, "name", cursor))
  }

  private static func object(
    _ cursor: inout JSONCursor
  ) throws(ApusError) -> (image: Int, truth: DetectionAccuracy.Truth) {
    var (id, image, category): (Int?, Int?, Int?)
    var (area, isCrowd): (Double?, Bool) = (nil, false)
    var box: [Double]?
    try cursor.forEachMember { key, cursor throws(ApusError) in
      switch key {
      case "id": id = try cursor.integer()
      case "image_id": image = try cursor.integer()
      case "category_id": category = try cursor.integer()
      case "area": area = try cursor.isNull() ? nil : cursor.number()
      case "iscrowd": isCrowd = try cursor.isNull() ? false : cursor.flag()
      case "bbox":
        var numbers: [Double] = []
        try cursor.forEachElement { cursor throws(ApusError) in
          guard numbers.count < 4 else { throw cursor.refusal("a bbox has more than four numbers") }
          numbers.append(try cursor.number())
        }
        box = numbers
      default: try cursor.skip()
      }
    }
    let numbers = try required(box, "bbox", cursor)
    guard numbers.count == 4 else {
      throw cursor.refusal("the bbox has \(numbers.count) numbers, not x, y, width and height")
    }
    guard numbers[2] >= 0, numbers[3] >= 0 else {
      throw cursor.refusal("the bbox has a negative size: \(numbers[2]) × \(numbers[3])")
    }
    return (
      try required(image, "image_id", cursor),
      DetectionAccuracy.Truth(
        id: try required(id, "id", cursor), category: try required(category, "category_id", cursor),
        box: .init(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]), area: area,
        isCrowd: isCrowd)
    )
  }
}
