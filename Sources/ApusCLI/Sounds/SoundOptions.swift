// SPDX-License-Identifier: Apache-2.0
import ApusVision
import ArgumentParser

/// How samples reach a model that takes a waveform.
struct WaveformOptions: ParsableArguments {
  @Option(name: .long, help: "The model's sample rate in hertz; by default its metadata's, or else 16000.")
  var rate: Int?

  @Option(name: .long, help: "The samples of a window in a model that leaves its length open.")
  var window: Int?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The numbers by which the model takes samples: signed (-1 to 1) or int16 (-32768 to 32767); by default what the model says, or else signed.",
      valueName: "range"))
  var samples: SampleRange?

  /// The first option that was given.
  var given: String? {
    rate != nil ? "--rate" : window != nil ? "--window" : samples != nil ? "--samples" : nil
  }

  func apply(to options: inout AudioClassifier.Options) {
    options.sampleRate = rate
    options.windowSampleCount = window
    options.sampleRange = samples
  }
}

/// The options that decide how sounds are heard, for every command that classifies them.
struct SoundOptions: ParsableArguments {
  @OptionGroup var waveform: WaveformOptions

  @Option(name: .long, help: "The share of a window of a sound that the next one repeats, from 0 to below 1.")
  var overlap = 0.0

  /// The first option that was given.
  var given: String? { waveform.given ?? (overlap != 0 ? "--overlap" : nil) }

  func apply(to options: inout AudioClassifier.Options) {
    waveform.apply(to: &options)
    options.overlap = overlap
  }
}

extension SampleRange: ExpressibleByArgument {}
