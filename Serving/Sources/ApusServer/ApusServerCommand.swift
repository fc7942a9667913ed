// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusServing
import ArgumentParser
import Foundation

/// `apus-server`: models behind HTTP and gRPC.
@main
struct ApusServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apus-server",
    abstract: "Serves .tflite models by the Open Inference Protocol, over HTTP and gRPC.",
    discussion: """
      Without a model it serves the embedded one, which finds triangles, rectangles, pentagons and circles:
        curl --data-binary @picture.jpg http://127.0.0.1:8000/v1/detect
      """,
    version: ServerState.version)

  @Argument(help: "Models to serve by the stems of their files.")
  var model: [String] = []

  @Option(
    help: ArgumentHelp(
      "A folder of NAME.tflite, NAME/model.tflite or NAME/VERSION/model.tflite; bundles end in .task. May be repeated.",
      valueName: "folder"))
  var modelRepository: [String] = []

  @Option(help: "Where to listen for HTTP; port 0 for any free one.")
  var http = "127.0.0.1:8000"

  @Option(help: "Where to listen for gRPC; port 0 for any free one, 'off' for none.")
  var grpc = "127.0.0.1:8001"

  @Option(help: "The server's name in metadata: some scripts for Triton insist on 'triton'.")
  var id = ServerState.name

  @Option(help: "Threads that one run may use.")
  var threads = 1

  @Option(help: "Runs at a time; by default the number of processors.")
  var instances: Int?

  @Option(help: "The maximum batch of models whose first dimension is open.")
  var maxBatch = 8

  @Option(help: "The maximum number of requests that wait for a model.")
  var maxQueue = 256

  @Option(help: "How long a request may wait for others to join its batch, in microseconds.")
  var queueDelay = 0

  @Option(help: "The maximum size of a body, in bytes.")
  var maxBody = 64 << 20

  @Option(help: "How long a request may take, in seconds; 0 for any time.")
  var deadline = 60.0

  @Option(
    help:
      "Whether clients may load and unload models: none or explicit. Both load every model at the start, unless --load-model names some."
  )
  var modelControl = ModelControl.none

  @Option(
    help: ArgumentHelp(
      "With explicit control, a model of the folders to load at the start, and no others but those of further --load-model; '*' for all.",
      valueName: "name"))
  var loadModel: [String] = []

  @Option(
    help: ArgumentHelp(
      "Whether the server is not ready while a model of its folders could not be loaded: true or false.",
      valueName: "true|false"))
  var strictReadiness = true

  @Flag(help: "Serve the paths of DeepStack and CodeProject.AI, too: /v1/vision/detection and so on.")
  var deepstack = false

  @Option(
    help: ArgumentHelp(
      "The model for a part of DeepStack: detection, scene, face or recognition; by default the first that can do it.",
      valueName: "part=model"))
  var deepstackModel: [String] = []

  @Option(help: "The file in which DeepStack's known faces are kept; without it they end with the server.")
  var deepstackFaces: String?

  @Option(
    help: ArgumentHelp(
      "A camera to look at all the time, at /cameras/NAME: a device, or a URL, file or test pattern, which ffmpeg reads; may be repeated.",
      valueName: "name=source"))
  var camera: [String] = []

  @Option(
    help: ArgumentHelp(
      "The model of a camera; by default the first that finds objects.", valueName: "name=model"))
  var cameraModel: [String] = []

  @Option(
    help: ArgumentHelp(
      "A line (two points) or zone of a camera whose objects are counted, in fractions of the picture.",
      valueName: "name/place:x1,y1,x2,y2,…"))
  var cameraPlace: [String] = []

  @Option(help: "The maximum number of frames of each camera that are looked at, per second.")
  var cameraFps: Double?

  @Option(
    help:
      "How long a camera may give nothing before it is opened again, in seconds; 15 by default. Longer for one that sends pictures rarely."
  )
  var cameraStall: Double?

  @Option(
    help: ArgumentHelp(
      "Where to listen for Frigate's detector of the type zmq, such as tcp://127.0.0.1:5555. Who reaches it needs no token, and may send models.",
      valueName: "endpoint"))
  var frigate: [String] = []

  @Option(help: "A PEM file with the certificate chain: both listeners then speak TLS.")
  var tlsCertificate: String?

  @Option(help: "A PEM file with the certificate's private key.")
  var tlsKey: String?

  @Option(help: "A file with one bearer token a line; clients need one of them.")
  var tokenFile: String?

  @Option(help: "How long accepted requests may take after SIGTERM, in seconds.")
  var drain = 30.0

  @Option(help: "The maximum number of connections at a time, of HTTP and of gRPC each.")
  var maxConnections = 16_384

  @Option(help: "How long a connection of gRPC may be without a call, in seconds.")
  var grpcIdleTime = 600

  @Option(
    help: "The least level of log entries: trace, debug, info (every request), notice, warning or error.")
  var logLevel = "notice"

  enum ModelControl: String, ExpressibleByArgument, CaseIterable {
    case none, explicit
  }

  func validate() throws {
    func check(_ isRight: Bool, _ message: String) throws {
      if !isRight { throw ValidationError(message) }
    }
    try check((1...64).contains(threads), "--threads is \(threads), not 1 to 64")
    try check((1...256).contains(instances ?? 1), "--instances is \(instances ?? 0), not 1 to 256")
    try check((1...1_024).contains(maxBatch), "--max-batch is \(maxBatch), not 1 to 1024")
    try check((1...1_000_000).contains(maxQueue), "--max-queue is \(maxQueue), not 1 to 1000000")
    try check((0...60_000_000).contains(queueDelay), "--queue-delay is \(queueDelay), not 0 to 60000000")
    try check((1...(1 << 40)).contains(maxBody), "--max-body is \(maxBody), not 1 to 2^40")
    try check((0...86_400).contains(deadline), "--deadline is \(deadline), not 0 to 86400")
    try check((0...86_400).contains(drain), "--drain is \(drain), not 0 to 86400")
    try check(
      (1...1_000_000).contains(maxConnections), "--max-connections is \(maxConnections), not 1 to 1000000")
    try check((1...86_400).contains(grpcIdleTime), "--grpc-idle-time is \(grpcIdleTime), not 1 to 86400")
    try check(
      deepstack || (deepstackModel.isEmpty && deepstackFaces == nil),
      "--deepstack-model and --deepstack-faces are for --deepstack")
    try check(
      cameraFps.map { $0 > 0 && $0 <= 1000 } ?? true,
      "--camera-fps is \(cameraFps ?? 0), not above 0 and at most 1000")
    try check(
      loadModel.isEmpty || (modelControl == .explicit && !modelRepository.isEmpty),
      "--load-model is for --model-control explicit and --model-repository")
    try check(cameraFps == nil || !camera.isEmpty, "--camera-fps is for --camera")
    try check(
      cameraStall.map { $0 > 0 && $0 <= 86_400 } ?? true,
      "--camera-stall is \(cameraStall ?? 0), not above 0 and at most 86400")
    try check(cameraStall == nil || !camera.isEmpty, "--camera-stall is for --camera")
    try check((tlsCertificate == nil) == (tlsKey == nil), "--tls-certificate and --tls-key belong together")
  }

  func run() async throws {
    do { try await ServerProcess(self).run() } catch let error as ApusError {
      try fail(error.message)
    } catch let error as ServingError {
      try fail(error.message)
    } catch let error as StartError {
      try fail(error.message)
    }
  }

  private func fail(_ message: String) throws {
    StandardError.write("error: \(message.replacing("\n", with: " "))")
    throw ExitCode(1)
  }
}

/// Why a server does not start.
struct StartError: Error {
  let message: String
}
