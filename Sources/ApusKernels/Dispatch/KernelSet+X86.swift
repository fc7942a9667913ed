// SPDX-License-Identifier: Apache-2.0

#if arch(x86_64)
  extension KernelSet {
    /// Generated code for AVX-512 VNNI: 64 products of bytes in an instruction.
    package static let x86AVX512VNNI = x86(
      "x86-avx512vnni", requires: [.generatedCode, .avx512VNNI], .avx512, bytes: .unsignedBytes,
      depthwiseBytes: .unsignedBytes)

    /// Generated code for AVX-VNNI: 32 products of bytes in an instruction, with AVX2 for the rest.
    package static let x86AVXVNNI = x86(
      "x86-avxvnni", requires: [.generatedCode, .avx2, .avxVNNI], .avx2, bytes: .unsignedBytes,
      depthwiseBytes: .words)

    /// Generated code for AVX2 and FMA: 16 products of 16-bit integers in an instruction.
    package static let x86AVX2 = x86(
      "x86-avx2", requires: [.generatedCode, .avx2], .avx2, bytes: .words, depthwiseBytes: .words)

    private static func x86(
      _ name: String, requires features: CPUFeatures, _ target: X86Target, bytes: ProductKind,
      depthwiseBytes: ProductKind
    ) -> KernelSet {
      KernelSet(
        name: name, requires: features,
        convolution: { convolution throws(Decline) in
          try generatedConvolution(convolution, target: target, bytes: bytes)
        },
        depthwiseConvolution: { convolution throws(Decline) in
          try DepthwiseKernel(convolution, target: target, bytes: depthwiseBytes)
        },
        sum: { (sum, isSigned, shapes) throws(Decline) in try target.kernel(sum, isSigned: isSigned, shapes)
        },
        product: { (product, isSigned, shapes) throws(Decline) in
          try target.kernel(product, isSigned: isSigned, shapes)
        },
        floats: { (operation, shapes) throws(Decline) in try target.kernel(operation, shapes) },
        byteMapping: { table throws(Decline) in try target.mapping(table) },
        floatMapping: { function throws(Decline) in try target.mapping(function) },
        floatSoftmax: { (beta, depth) throws(Decline) in try target.softmax(beta: beta, depth: depth) },
        postOperation: { target.postOperation($0) }, pictures: { target.pictures($0) })
    }

    /// AVX-512 with the look-up of machines without VBMI: for tests.
    package static let x86TableRows = KernelSet(
      name: "table rows", requires: x86AVX512VNNI.requires, convolution: x86AVX512VNNI.convolution,
      depthwiseConvolution: x86AVX512VNNI.depthwiseConvolution,
      byteMapping: { table throws(Decline) in try X86Target.avx512.mapping(table, by: .rows) })

    /// AVX-512 as on machines with more pipes for 512 bits, or with fewer: for tests.
    package static let x86OtherPipes = KernelSet(
      name: "x86-avx512vnni", requires: x86AVX512VNNI.requires,
      convolution: { convolution throws(Decline) in
        try ProductKernel(
          convolution, target: X86Target.avx512, bytes: .unsignedBytes,
          sharesPipes: !X86Target.avx512.sharesPipes)
      },
      depthwiseConvolution: x86AVX512VNNI.depthwiseConvolution)

    /// The sets that know Winograd's way, taking it wherever it serves, be it slower: for tests.
    package static let withWinogradEverywhere = [
      winogradEverywhere(x86AVX512VNNI, .avx512, .unsignedBytes), winogradEverywhere(x86AVX2, .avx2, .words),
    ]

    private static func winogradEverywhere(
      _ set: KernelSet, _ target: X86Target, _ bytes: ProductKind
    ) -> KernelSet {
      KernelSet(
        name: set.name, requires: set.requires,
        convolution: { convolution throws(Decline) in
          try generatedConvolution(convolution, target: target, bytes: bytes, reckons: false)
        },
        depthwiseConvolution: set.depthwiseConvolution)
    }
  }
#endif
