// SPDX-License-Identifier: Apache-2.0
/* Types of TensorFlow Lite's C API, with the layouts that programs compiled against TensorFlow's own headers expect. */
#ifndef APUS_TENSORFLOW_LITE_C_COMMON_H
#define APUS_TENSORFLOW_LITE_C_COMMON_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What most functions return. Anything but kTfLiteOk comes with a message for the error reporter. */
typedef enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1, kTfLiteDelegateError = 2, kTfLiteApplicationError = 3,
  kTfLiteDelegateDataNotFound = 4, kTfLiteDelegateDataWriteError = 5, kTfLiteDelegateDataReadError = 6,
  kTfLiteUnresolvedOps = 7, kTfLiteCancelled = 8, kTfLiteOutputShapeNotKnown = 9 } TfLiteStatus;

/* The type of a tensor's elements. */
typedef enum TfLiteType { kTfLiteNoType = 0, kTfLiteFloat32 = 1, kTfLiteInt32 = 2, kTfLiteUInt8 = 3, kTfLiteInt64 = 4,
  kTfLiteString = 5, kTfLiteBool = 6, kTfLiteInt16 = 7, kTfLiteComplex64 = 8, kTfLiteInt8 = 9, kTfLiteFloat16 = 10,
  kTfLiteFloat64 = 11, kTfLiteComplex128 = 12, kTfLiteUInt64 = 13, kTfLiteResource = 14, kTfLiteVariant = 15,
  kTfLiteUInt32 = 16, kTfLiteUInt16 = 17, kTfLiteInt4 = 18, kTfLiteBFloat16 = 19, kTfLiteInt2 = 20, kTfLiteUInt4 = 21,
  kTfLiteFloat8E4M3FN = 22, kTfLiteFloat8E5M2 = 23 } TfLiteType;

/* Where a tensor's elements lie. */
typedef enum TfLiteAllocationType { kTfLiteMemNone = 0, kTfLiteMmapRo, kTfLiteArenaRw, kTfLiteArenaRwPersistent,
  kTfLiteDynamic, kTfLitePersistentRo, kTfLiteCustom, kTfLiteVariantObject, kTfLiteNonCpu } TfLiteAllocationType;

/* real = scale * (q - zero_point); zeros if the tensor has no scale, or one for each channel. */
typedef struct TfLiteQuantizationParams { float scale; int32_t zero_point; } TfLiteQuantizationParams;

/* A count and as many elements, made and freed by TfLiteIntArrayCreate and TfLiteIntArrayFree. */
typedef struct TfLiteIntArray { int size; int data[]; } TfLiteIntArray;
typedef struct TfLiteFloatArray { int size; float data[]; } TfLiteFloatArray;

typedef enum TfLiteQuantizationType { kTfLiteNoQuantization = 0, kTfLiteAffineQuantization = 1 } TfLiteQuantizationType;
typedef struct TfLiteQuantization { TfLiteQuantizationType type; void *params; } TfLiteQuantization;
typedef struct TfLiteAffineQuantization { TfLiteFloatArray *scale; TfLiteIntArray *zero_point;
  int32_t quantized_dimension; } TfLiteAffineQuantization;

/* How a file stores a constant most of whose elements are zero: block_map is NULL without blocks, and a dimension has either a
   dense_size, or the two arrays of compressed rows. */
typedef enum TfLiteDimensionType { kTfLiteDimDense = 0, kTfLiteDimSparseCSR } TfLiteDimensionType;
typedef struct TfLiteDimensionMetadata { TfLiteDimensionType format; int dense_size; TfLiteIntArray *array_segments;
  TfLiteIntArray *array_indices; } TfLiteDimensionMetadata;
typedef struct TfLiteSparsity { TfLiteIntArray *traversal_order; TfLiteIntArray *block_map;
  TfLiteDimensionMetadata *dim_metadata; int dim_metadata_size; } TfLiteSparsity;

typedef union TfLitePtrUnion { int32_t *i32; uint32_t *u32; int64_t *i64; uint64_t *u64; float *f; double *f64;
  char *raw; const char *raw_const; uint8_t *uint8; bool *b; int16_t *i16; uint16_t *ui16; int8_t *int8;
  void *data; } TfLitePtrUnion;

typedef struct TfLiteDelegate TfLiteDelegate;

/* A tensor. Read the fields, or use the functions of c_api.h; what is written into a field, but not into the elements, has no effect. */
typedef struct TfLiteTensor {
  TfLiteType type;
  TfLitePtrUnion data;
  TfLiteIntArray *dims;
  TfLiteQuantizationParams params;
  TfLiteAllocationType allocation_type;
  size_t bytes;
  const void *allocation;
  const char *name;
  TfLiteDelegate *delegate;
  int buffer_handle;
  bool data_is_stale;
  bool is_variable;
  TfLiteQuantization quantization;
  TfLiteSparsity *sparsity;
  const TfLiteIntArray *dims_signature;
} TfLiteTensor;

/* Memory of the caller's for a tensor, aligned to 64 bytes. */
typedef struct TfLiteCustomAllocation { void *data; size_t bytes; } TfLiteCustomAllocation;

/* What an operator of the caller's gets. */
typedef struct TfLiteOpaqueContext TfLiteOpaqueContext;
typedef struct TfLiteOpaqueNode TfLiteOpaqueNode;
typedef struct TfLiteOpaqueTensor TfLiteOpaqueTensor;

/* A node of a model, as an operator of the caller's sees it: indices of tensors in the context, and what init returned. */
typedef struct TfLiteNode {
  TfLiteIntArray *inputs;
  TfLiteIntArray *outputs;
  TfLiteIntArray *intermediates;
  TfLiteIntArray *temporaries;
  void *user_data;
  void *builtin_data;
  const void *custom_initial_data;
  int custom_initial_data_size;
  TfLiteDelegate *delegate;
  bool might_have_side_effect;
} TfLiteNode;

struct TfLiteRegistration;
struct TfLiteEvalTensor;
struct TfLiteExternalContext;
typedef int TfLiteExternalContextType;

/* The tensors of one node, and functions. Those that ResizeTensor, ReportError and GetTensor do not name return an error here. */
typedef struct TfLiteContext {
  size_t tensors_size;
  TfLiteStatus (*GetExecutionPlan)(struct TfLiteContext *, TfLiteIntArray **);
  TfLiteTensor *tensors;
  void *impl_;
  TfLiteStatus (*ResizeTensor)(struct TfLiteContext *, TfLiteTensor *, TfLiteIntArray *new_size);
  void (*ReportError)(struct TfLiteContext *, const char *format, ...);
  TfLiteStatus (*AddTensors)(struct TfLiteContext *, int count, int *first_index);
  TfLiteStatus (*GetNodeAndRegistration)(struct TfLiteContext *, int index, TfLiteNode **, struct TfLiteRegistration **);
  void *ReplaceNodeSubsetsWithDelegateKernels;
  int recommended_num_threads;
  struct TfLiteExternalContext *(*GetExternalContext)(struct TfLiteContext *, TfLiteExternalContextType);
  void (*SetExternalContext)(struct TfLiteContext *, TfLiteExternalContextType, struct TfLiteExternalContext *);
  bool allow_fp32_relax_to_fp16;
  void *profiler;
  void *(*AllocatePersistentBuffer)(struct TfLiteContext *, size_t bytes);
  TfLiteStatus (*AllocateBufferForEval)(struct TfLiteContext *, size_t bytes, void **);
  TfLiteStatus (*RequestScratchBufferInArena)(struct TfLiteContext *, size_t bytes, int *index);
  void *(*GetScratchBuffer)(struct TfLiteContext *, int index);
  TfLiteStatus (*ResizeTensorExplicit)(struct TfLiteContext *, TfLiteTensor *, int count, const int *dims);
  void *PreviewDelegatePartitioning;
  TfLiteTensor *(*GetTensor)(const struct TfLiteContext *, int index);
  struct TfLiteEvalTensor *(*GetEvalTensor)(const struct TfLiteContext *, int index);
  TfLiteStatus (*GetModelMetadata)(const struct TfLiteContext *, const char *name, const char **data, size_t *bytes);
  TfLiteStatus (*AcquireSubgraphContext)(struct TfLiteContext *, int index, struct TfLiteContext **);
  TfLiteStatus (*ReleaseSubgraphContext)(struct TfLiteContext *, int index);
} TfLiteContext;

/* An operator of the caller's: prepare sets the shapes of the outputs, invoke computes them. */
typedef struct TfLiteRegistration {
  void *(*init)(TfLiteContext *, const char *options, size_t size);
  void (*free)(TfLiteContext *, void *data);
  TfLiteStatus (*prepare)(TfLiteContext *, TfLiteNode *);
  TfLiteStatus (*invoke)(TfLiteContext *, TfLiteNode *);
  const char *(*profiling_string)(const TfLiteContext *, const TfLiteNode *);
  int32_t builtin_code;
  const char *custom_name;
  int version;
  void *registration_external;
  void *async_kernel;
  uint64_t inplace_operator;
} TfLiteRegistration;

const char *TfLiteTypeGetName(TfLiteType type);
size_t TfLiteIntArrayGetSizeInBytes(int size);
TfLiteIntArray *TfLiteIntArrayCreate(int size);
TfLiteIntArray *TfLiteIntArrayCopy(const TfLiteIntArray *array);
int TfLiteIntArrayEqual(const TfLiteIntArray *a, const TfLiteIntArray *b);
int TfLiteIntArrayEqualsArray(const TfLiteIntArray *a, int b_size, const int b_data[]);
void TfLiteIntArrayFree(TfLiteIntArray *array);
int TfLiteFloatArrayGetSizeInBytes(int size);
TfLiteFloatArray *TfLiteFloatArrayCreate(int size);
TfLiteFloatArray *TfLiteFloatArrayCopy(const TfLiteFloatArray *array);
void TfLiteFloatArrayFree(TfLiteFloatArray *array);

#ifdef __cplusplus
}
#endif
#endif
