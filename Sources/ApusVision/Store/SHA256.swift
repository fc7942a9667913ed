// SPDX-License-Identifier: Apache-2.0
import Apus

/// The SHA-256 of a file, in hexadecimal digits.
///
/// - Throws: `unreadableFile`, or `resourceLimit` for a file that is larger than a model may be.
package func fileSHA256(_ path: String) throws(ApusError) -> String {
  var checksum = SHA256()
  try readFile(at: path, limit: ModelStore.maximumFileSize, body: { checksum.update($0) })
  return checksum.finish()
}

/// The checksum that identifies a model's bytes.
///
/// Source: FIPS 180-4, "Secure Hash Standard", section 6.2.
struct SHA256 {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  private var schedule = [UInt32](repeating: 0, count: 64)
  private var pending: [UInt8] = []
  private var count: UInt64 = 0

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]

  /// Takes more bytes.
  mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      pending.append(byte)
      if pending.count == 64 { process() }
      count &+= 1
    }
  }

  /// The checksum of all bytes, in hexadecimal digits.
  mutating func finish() -> String {
    let bits = count &* 8
    pending.append(0x80)
    while pending.count != 56 {
      if pending.count == 64 { process() } else { pending.append(0) }
    }
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      pending.append(UInt8(truncatingIfNeeded: bits >> shift))
    }
    process()
    return state.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  /// Mixes 64 bytes into the state.
  private mutating func process() {
    for index in 0..<16 {
      schedule[index] =
        UInt32(pending[4 * index]) << 24 | UInt32(pending[4 * index + 1]) << 16
        | UInt32(pending[4 * index + 2]) << 8 | UInt32(pending[4 * index + 3])
    }
    pending.removeAll(keepingCapacity: true)
    for index in 16..<64 {
      let (one, two) = (schedule[index - 15], schedule[index - 2])
      let first = rotated(one, 7) ^ rotated(one, 18) ^ one >> 3
      let second = rotated(two, 17) ^ rotated(two, 19) ^ two >> 10
      schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
    }
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    let constants = Self.constants
    for index in 0..<64 {
      let choice = e & f ^ ~e & g
      let sum = h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ choice &+ constants[index]
      let first = sum &+ schedule[index]
      let majority = a & b ^ a & c ^ b & c
      let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
  }

  private func rotated(_ value: UInt32, _ count: UInt32) -> UInt32 {
    value >> count | value << (32 - count)
  }
}
