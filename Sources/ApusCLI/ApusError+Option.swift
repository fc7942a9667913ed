// SPDX-License-Identifier: Apache-2.0
import Apus

extension ApusError {
  /// The message with the option that raises the limit that was reached, where there is one.
  ///
  /// - Parameter isPicture: Whether the command has the options of pictures.
  func message(isPicture: Bool) -> String {
    guard code == .resourceLimit, !message.contains("--") else { return message }
    if message.contains("longer than the limit") { return message + "; --time-limit raises it" }
    if message.contains(" bytes"),
      message.contains("more than the limit of") || message.contains("over the limit of")
    {
      return message + "; --memory-limit raises it"
    }
    if message.contains("all memory for interpreters") { return message + "; --memory-limit raises it" }
    if isPicture, message.hasPrefix("a picture of"), message.contains("beyond the limit") {
      return message + "; --pixel-limit raises it to 268 megapixels"
    }
    // The library names its own option.
    return message.replacing("choose maxResults", with: "choose --top")
  }
}
