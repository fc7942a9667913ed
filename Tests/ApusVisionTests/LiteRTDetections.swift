import ApusVision

/// What LiteRT's reference kernels find in a picture; made by `Tools/goldens/detections.py`.
struct LiteRTDetections: Sendable {
  /// An object of at least the score 0.3.
  struct Object: Sendable {
    let index: Int
    let score: Float
    /// Top, left, bottom and right in pixels of the picture.
    let edges: [Float]
  }

  let model: String
  let image: String
  let fit: PictureFit
  /// The CRC-32 of the model's input.
  let pixels: UInt32
  let objects: [Object]

  /// How the picture is fitted in.
  enum PictureFit: Sendable {
    case stretch, centerCrop, letterbox

    var policy: FitPolicy {
      switch self {
      case .stretch: .stretch
      case .centerCrop: .centerCrop
      case .letterbox: .letterbox()
      }
    }
  }

  static let all = [
    LiteRTDetections(
      model: "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      image: "cats_and_dogs.jpg", fit: .stretch, pixels: 0x0d77_31b9,
      objects: [
        .init(index: 16, score: 0.65625, edges: [398.0767, 51.2315, 594.3466, 443.7713]),
        .init(index: 16, score: 0.609375, edges: [157.8427, 599.7785, 604.4261, 1019.0017]),
        .init(index: 16, score: 0.55078125, edges: [395.6519, 259.1486, 601.5920, 437.7819]),
        .init(index: 17, score: 0.48828125, edges: [208.2344, 383.0870, 608.3915, 655.4969]),
        .init(index: 17, score: 0.4765625, edges: [227.5114, 82.1305, 608.8052, 657.2140]),
        .init(index: 16, score: 0.4375, edges: [403.1131, 872.7327, 599.5161, 1078.6728]),
        .init(index: 64, score: 0.3125, edges: [410.9603, 27.1756, 596.5640, 1132.5487]),
        .init(index: 16, score: 0.30078125, edges: [380.7216, 102.3520, 609.6210, 574.8535]),
        .init(index: 17, score: 0.30078125, edges: [207.8558, 280.4571, 606.9197, 890.5272]),
      ]),
    LiteRTDetections(
      model: "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      image: "cats_and_dogs.jpg", fit: .centerCrop, pixels: 0x607f_6d3b,
      objects: [
        .init(index: 87, score: 0.69921875, edges: [223.7694, 387.7311, 599.0840, 649.2573]),
        .init(index: 16, score: 0.62109375, edges: [148.6498, 620.8684, 601.5020, 885.4571]),
        .init(index: 16, score: 0.4765625, edges: [374.0772, 300.3346, 594.8708, 452.1896]),
        .init(index: 16, score: 0.3203125, edges: [376.7438, 293.3291, 605.6432, 541.0519]),
      ]),
    LiteRTDetections(
      model: "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      image: "cats_and_dogs.jpg", fit: .letterbox, pixels: 0x8d27_a6e4,
      objects: [
        .init(index: 87, score: 0.75, edges: [213.6222, 238.8207, 582.1130, 656.9790]),
        .init(index: 87, score: 0.64453125, edges: [159.0209, 635.7465, 570.6219, 908.6476]),
        .init(index: 87, score: 0.59765625, edges: [249.3805, 403.1068, 601.0447, 652.0568]),
        .init(index: 71, score: 0.4140625, edges: [-73.7534, -19.7017, 810.2134, 1212.2273]),
        .init(index: 87, score: 0.37890625, edges: [393.6162, 142.0947, 599.5563, 447.1298]),
        .init(index: 87, score: 0.3203125, edges: [417.8893, 290.2110, 541.6251, 397.5400]),
        .init(index: 87, score: 0.3203125, edges: [397.2320, 837.2866, 590.5552, 1081.7703]),
        .init(index: 87, score: 0.30078125, edges: [129.3955, 93.4246, 603.1478, 866.7171]),
      ]),
    LiteRTDetections(
      model: "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      image: "burger.jpg", fit: .stretch, pixels: 0x5ea2_6921,
      objects: [
        .init(index: 53, score: 0.765625, edges: [28.7955, 18.2414, 312.7432, 382.0038]),
        .init(index: 53, score: 0.51171875, edges: [37.1959, 38.3041, 202.4232, 378.3907]),
        .init(index: 53, score: 0.44921875, edges: [-3.1096, 227.8018, 178.5538, 475.7174]),
        .init(index: 53, score: 0.390625, edges: [3.0046, 284.8335, 287.0218, 472.6019]),
        .init(index: 59, score: 0.37890625, edges: [174.1999, -0.6942, 274.0672, 45.9381]),
        .init(index: 53, score: 0.35546875, edges: [-1.8168, 302.6530, 124.1456, 480.0744]),
        .init(index: 56, score: 0.34375, edges: [1.9204, 316.6181, 42.5794, 444.5570]),
        .init(index: 53, score: 0.33203125, edges: [14.3768, 30.3433, 161.6392, 426.8882]),
        .init(index: 56, score: 0.3125, edges: [41.7733, 5.7512, 113.4328, 77.2045]),
        .init(index: 59, score: 0.30078125, edges: [185.8757, 386.5049, 271.1426, 479.9841]),
      ]),
    LiteRTDetections(
      model: "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      image: "grace_hopper.bmp", fit: .letterbox, pixels: 0xf73c_b62b,
      objects: [
        .init(index: 0, score: 0.71875, edges: [21.3257, -19.8190, 588.6451, 521.2278]),
        .init(index: 31, score: 0.57421875, edges: [425.3841, 222.3770, 547.6260, 293.9637]),
        .init(index: 31, score: 0.5390625, edges: [432.9340, 229.5940, 526.2457, 283.2585]),
        .init(index: 0, score: 0.42578125, edges: [13.2002, -5.7544, 439.4730, 126.2123]),
        .init(index: 0, score: 0.42578125, edges: [61.5002, -9.7301, 576.7987, 96.0404]),
        .init(index: 0, score: 0.37890625, edges: [224.8994, 48.5029, 392.5887, 139.2424]),
        .init(index: 0, score: 0.34375, edges: [195.9340, -1.6496, 429.6321, 60.4451]),
        .init(index: 31, score: 0.33203125, edges: [420.0488, 229.2034, 550.2686, 325.8650]),
        .init(index: 31, score: 0.3125, edges: [381.8643, 213.4738, 518.4074, 304.2133]),
        .init(index: 36, score: 0.30078125, edges: [577.5288, 226.9184, 600.0273, 264.8213]),
      ]),
    LiteRTDetections(
      model: "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      image: "multi_objects.jpg", fit: .stretch, pixels: 0x6cca_76fc,
      objects: [
        .init(index: 61, score: 0.609375, edges: [207.4625, 162.0912, 342.5635, 276.7336]),
        .init(index: 9, score: 0.5859375, edges: [116.5542, 683.1647, 223.1388, 765.4259]),
        .init(index: 61, score: 0.55078125, edges: [160.5393, 155.3772, 318.7737, 281.4237]),
        .init(index: 84, score: 0.5390625, edges: [146.2396, 425.1661, 246.2942, 529.4361]),
        .init(index: 61, score: 0.51171875, edges: [167.5355, 33.0999, 347.1764, 234.6504]),
        .init(index: 26, score: 0.48828125, edges: [240.2023, 661.2720, 346.7869, 791.3666]),
        .init(index: 61, score: 0.48828125, edges: [155.6409, 263.1851, 356.2983, 396.8178]),
        .init(index: 61, score: 0.44921875, edges: [157.8048, 147.1639, 245.9753, 267.3732]),
        .init(index: 61, score: 0.4140625, edges: [236.3775, 268.5607, 355.4315, 386.8849]),
        .init(index: 0, score: 0.40234375, edges: [38.5158, 279.7759, 169.4128, 399.9851]),
      ]),
    LiteRTDetections(
      model: "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
      image: "sparrow.png", fit: .centerCrop, pixels: 0x3f73_a56c,
      objects: [
        .init(index: 0, score: 0.62109375, edges: [204.6369, 432.0610, 614.3289, 935.2058])
      ]),
    LiteRTDetections(
      model: "thermal_face_automl_edge_fast",
      image: "grace_hopper.bmp", fit: .stretch, pixels: 0x004a_b82a,
      objects: [
        .init(index: 0, score: 0.76171875, edges: [114.6740, 181.1592, 331.9790, 358.9553])
      ]),
    LiteRTDetections(
      model: "thermal_face_automl_edge_fast",
      image: "segmentation_input_rotation0.jpg", fit: .stretch, pixels: 0xd2ab_d422,
      objects: [
        .init(index: 0, score: 0.8125, edges: [33.3743, 36.7914, 64.0161, 60.5991]),
        .init(index: 0, score: 0.734375, edges: [42.2160, 80.5399, 71.5957, 106.4368]),
        .init(index: 0, score: 0.67578125, edges: [158.5295, 117.7704, 203.1522, 145.8653]),
      ]),
    LiteRTDetections(
      model: "custom_ssd_mobilenet_v2_fpn_lite_320x320_flutter",
      image: "segmentation_input_rotation0.jpg", fit: .stretch, pixels: 0xbeab_8ed1,
      objects: [
        .init(index: 6, score: 0.97265625, edges: [40.8276, -5.6096, 285.5868, 248.6990]),
        .init(index: 6, score: 0.71484375, edges: [1.9490, 31.2128, 266.1796, 297.9837]),
      ]),
  ]
}
