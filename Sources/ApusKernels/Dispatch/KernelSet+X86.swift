#if arch(x86_64)
  extension KernelSet {
    /// Generated code for AVX-512 VNNI: 64 products of bytes in an instruction.
    package static let x86AVX512VNNI = KernelSet(
      name: "x86-avx512vnni", requires: [.generatedCode, .avx512VNNI],
      convolution: { generatedConvolution($0, target: X86Target.avx512, bytes: .unsignedBytes) },
      depthwiseConvolution: { GeneratedDepthwise($0, target: X86Target.avx512, bytes: .unsignedBytes) },
      sum: { X86Target.avx512.kernel($0, isSigned: $1, $2) },
      product: { X86Target.avx512.kernel($0, isSigned: $1, $2) },
      floats: { X86Target.avx512.kernel($0, $1) },
      byteMapping: { X86Target.avx512.mapping($0) }, floatMapping: { X86Target.avx512.mapping($0) },
      floatSoftmax: { X86Target.avx512.softmax(beta: $0, depth: $1) },
      finishing: { X86Target.avx512.finishing($0) }, pictures: { X86Target.avx512.pictures($0) })

    /// Generated code for AVX-VNNI: 32 products of bytes in an instruction, with AVX2 for the rest.
    package static let x86AVXVNNI = KernelSet(
      name: "x86-avxvnni", requires: [.generatedCode, .avx2, .avxVNNI],
      convolution: { generatedConvolution($0, target: X86Target.avx2, bytes: .unsignedBytes) },
      depthwiseConvolution: { GeneratedDepthwise($0, target: X86Target.avx2, bytes: .words) },
      sum: { X86Target.avx2.kernel($0, isSigned: $1, $2) },
      product: { X86Target.avx2.kernel($0, isSigned: $1, $2) },
      floats: { X86Target.avx2.kernel($0, $1) },
      byteMapping: { X86Target.avx2.mapping($0) }, floatMapping: { X86Target.avx2.mapping($0) },
      floatSoftmax: { X86Target.avx2.softmax(beta: $0, depth: $1) },
      finishing: { X86Target.avx2.finishing($0) }, pictures: { X86Target.avx2.pictures($0) })

    /// Generated code for AVX2 and FMA: 16 products of 16-bit integers in an instruction.
    package static let x86AVX2 = KernelSet(
      name: "x86-avx2", requires: [.generatedCode, .avx2],
      convolution: { generatedConvolution($0, target: X86Target.avx2, bytes: .words) },
      depthwiseConvolution: { GeneratedDepthwise($0, target: X86Target.avx2, bytes: .words) },
      sum: { X86Target.avx2.kernel($0, isSigned: $1, $2) },
      product: { X86Target.avx2.kernel($0, isSigned: $1, $2) },
      floats: { X86Target.avx2.kernel($0, $1) },
      byteMapping: { X86Target.avx2.mapping($0) }, floatMapping: { X86Target.avx2.mapping($0) },
      floatSoftmax: { X86Target.avx2.softmax(beta: $0, depth: $1) },
      finishing: { X86Target.avx2.finishing($0) }, pictures: { X86Target.avx2.pictures($0) })

    /// AVX-512 with the look-up of machines without VBMI: for tests.
    package static let x86TableRows = KernelSet(
      name: "table rows", requires: x86AVX512VNNI.requires, convolution: { _ in nil },
      depthwiseConvolution: { _ in nil }, byteMapping: { X86Target.avx512.mapping($0, by: .rows) })

    /// AVX-512 as on machines with more pipes for 512 bits, or with fewer: for tests.
    package static let x86OtherPipes = KernelSet(
      name: "x86-avx512vnni", requires: x86AVX512VNNI.requires,
      convolution: {
        GeneratedConvolution(
          $0, target: X86Target.avx512, bytes: .unsignedBytes, sharesPipes: !X86Target.avx512.sharesPipes)
      },
      depthwiseConvolution: { _ in nil })

    /// The sets that know Winograd's way, taking it wherever it serves, be it slower: for tests.
    package static let withWinogradEverywhere = [
      winogradEverywhere(x86AVX512VNNI, .avx512, .unsignedBytes), winogradEverywhere(x86AVX2, .avx2, .words),
    ]

    private static func winogradEverywhere(
      _ set: KernelSet, _ target: X86Target, _ bytes: GeneratedProduct
    ) -> KernelSet {
      KernelSet(
        name: set.name, requires: set.requires,
        convolution: { generatedConvolution($0, target: target, bytes: bytes, reckons: false) },
        depthwiseConvolution: { _ in nil })
    }
  }
#endif
