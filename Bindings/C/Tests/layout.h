// SPDX-License-Identifier: Apache-2.0
/* The layouts that TensorLayout.swift states, checked by the compiler against a header: TensorFlow's own, or the one of this project. */
#include <stddef.h>

#ifdef TENSORFLOW_COMMON_H
#include TENSORFLOW_COMMON_H
#else
#include "tensorflow/lite/c/common.h"
#endif

#define PLACE(type, field, place) _Static_assert(offsetof(type, field) == place, #type "." #field)
#define SIZE(type, size) _Static_assert(sizeof(type) == size, "sizeof " #type)

PLACE(TfLiteTensor, type, 0);
PLACE(TfLiteTensor, data, 8);
PLACE(TfLiteTensor, dims, 16);
PLACE(TfLiteTensor, params, 24);
PLACE(TfLiteTensor, allocation_type, 32);
PLACE(TfLiteTensor, bytes, 40);
PLACE(TfLiteTensor, allocation, 48);
PLACE(TfLiteTensor, name, 56);
PLACE(TfLiteTensor, delegate, 64);
PLACE(TfLiteTensor, buffer_handle, 72);
PLACE(TfLiteTensor, data_is_stale, 76);
PLACE(TfLiteTensor, is_variable, 77);
PLACE(TfLiteTensor, quantization, 80);
PLACE(TfLiteTensor, sparsity, 96);
PLACE(TfLiteTensor, dims_signature, 104);
SIZE(TfLiteTensor, 112);
PLACE(TfLiteQuantizationParams, zero_point, 4);
SIZE(TfLiteQuantizationParams, 8);
PLACE(TfLiteQuantization, params, 8);
PLACE(TfLiteAffineQuantization, zero_point, 8);
PLACE(TfLiteAffineQuantization, quantized_dimension, 16);
SIZE(TfLiteAffineQuantization, 24);
PLACE(TfLiteSparsity, block_map, 8);
PLACE(TfLiteSparsity, dim_metadata, 16);
PLACE(TfLiteSparsity, dim_metadata_size, 24);
SIZE(TfLiteSparsity, 32);
PLACE(TfLiteDimensionMetadata, dense_size, 4);
PLACE(TfLiteDimensionMetadata, array_segments, 8);
PLACE(TfLiteDimensionMetadata, array_indices, 16);
SIZE(TfLiteDimensionMetadata, 24);
PLACE(TfLiteIntArray, data, 4);
PLACE(TfLiteFloatArray, data, 4);
PLACE(TfLiteCustomAllocation, bytes, 8);
_Static_assert(kTfLiteOk == 0 && kTfLiteError == 1 && kTfLiteCancelled == 8, "TfLiteStatus");
_Static_assert(kTfLiteFloat32 == 1 && kTfLiteUInt8 == 3 && kTfLiteInt8 == 9 && kTfLiteInt4 == 18, "TfLiteType");
_Static_assert(kTfLiteMmapRo == 1 && kTfLiteArenaRw == 2 && kTfLiteDynamic == 4 && kTfLiteCustom == 6, "TfLiteAllocationType");

PLACE(TfLiteContext, tensors_size, 0);
PLACE(TfLiteContext, GetExecutionPlan, 8);
PLACE(TfLiteContext, tensors, 16);
PLACE(TfLiteContext, impl_, 24);
PLACE(TfLiteContext, ResizeTensor, 32);
PLACE(TfLiteContext, ReportError, 40);
PLACE(TfLiteContext, AddTensors, 48);
PLACE(TfLiteContext, GetNodeAndRegistration, 56);
PLACE(TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels, 64);
PLACE(TfLiteContext, recommended_num_threads, 72);
PLACE(TfLiteContext, GetExternalContext, 80);
PLACE(TfLiteContext, SetExternalContext, 88);
PLACE(TfLiteContext, AllocatePersistentBuffer, 112);
PLACE(TfLiteContext, AllocateBufferForEval, 120);
PLACE(TfLiteContext, RequestScratchBufferInArena, 128);
PLACE(TfLiteContext, GetScratchBuffer, 136);
PLACE(TfLiteContext, ResizeTensorExplicit, 144);
PLACE(TfLiteContext, PreviewDelegatePartitioning, 152);
PLACE(TfLiteContext, GetTensor, 160);
PLACE(TfLiteContext, GetEvalTensor, 168);
PLACE(TfLiteContext, GetModelMetadata, 176);
PLACE(TfLiteContext, AcquireSubgraphContext, 184);
PLACE(TfLiteContext, ReleaseSubgraphContext, 192);
SIZE(TfLiteContext, 200);
PLACE(TfLiteNode, inputs, 0);
PLACE(TfLiteNode, outputs, 8);
PLACE(TfLiteNode, intermediates, 16);
PLACE(TfLiteNode, temporaries, 24);
PLACE(TfLiteNode, user_data, 32);
PLACE(TfLiteNode, builtin_data, 40);
PLACE(TfLiteNode, custom_initial_data, 48);
PLACE(TfLiteNode, custom_initial_data_size, 56);
PLACE(TfLiteNode, delegate, 64);
PLACE(TfLiteNode, might_have_side_effect, 72);
SIZE(TfLiteNode, 80);
PLACE(TfLiteRegistration, init, 0);
PLACE(TfLiteRegistration, free, 8);
PLACE(TfLiteRegistration, prepare, 16);
PLACE(TfLiteRegistration, invoke, 24);
PLACE(TfLiteRegistration, builtin_code, 40);
PLACE(TfLiteRegistration, custom_name, 48);
PLACE(TfLiteRegistration, version, 56);
