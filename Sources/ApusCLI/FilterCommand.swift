// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser

/// `apus filter`: a picture through a chain of filters.
struct FilterCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "filter", abstract: "Filters a picture: edges, erosion, dilation, inversion, blur.",
    usage: "apus filter <image> <output> --chain <chain> [<options>]",
    discussion: """
      Filters are prewitt:STRENGTH and sobel:STRENGTH, erosion:RADIUS,
      dilation:RADIUS and closing:RADIUS, invert, and gaussian:RADIUS. Edges are
      those of the red channel, or of the luminance: prewitt:0.7:luminance.

      For example:
        apus filter hidden.png shown.png \\
          --chain prewitt:0.7,closing:1,invert,gaussian:1,erosion:1
      """)

  @Argument(help: "The picture (JPEG, PNG, BMP, WebP, PNM).")
  var image: String

  @Argument(help: "Where to write the result: .png, .jpg or .ppm.")
  var output: String

  @Option(name: .long, help: "The filters in order, separated by commas.")
  var chain: String

  @OptionGroup var size: PictureLimitOptions

  @OptionGroup var time: TimeLimitOptions

  func validate() throws {
    guard [.png, .jpeg, .pnm].contains(ImageFileFormat(path: output)) else {
      throw ValidationError("\(output) is not a .png, .jpg or .ppm file")
    }
    do { _ = try FilterChain(parsing: chain) } catch { throw ValidationError("--chain: \(error.message)") }
  }

  func run() throws {
    let watch = time.watch("filtering", isShared: false)
    let chain = try FilterChain(parsing: chain)
    let source: PictureSources = [PictureSource(name: image)]
    try source.protect(from: [output], of: "the output")
    let result: ImageBuffer
    do {
      let picture = try ImageBuffer(decoding: PictureSource(name: image).bytes(), limits: size.limits)
      if let flaw = picture.flawWarning(of: image) { Output.writeError("warning: " + flaw) }
      result = try chain.apply(picture, checkTime: watch)
    } catch {
      Output.writeError("error: \(image): \(error.message(isPicture: true))")
      throw ExitCode(2)
    }
    try result.write(toFile: output)
    Output.write(
      "\(oneLine(image)), \(result.width) × \(result.height) pixels, filtered → \(oneLine(output))")
  }
}
