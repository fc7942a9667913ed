// SPDX-License-Identifier: Apache-2.0
/* Functions of TensorFlow Lite's C API that its authors call experimental. */
#ifndef APUS_TENSORFLOW_LITE_C_C_API_EXPERIMENTAL_H
#define APUS_TENSORFLOW_LITE_C_C_API_EXPERIMENTAL_H

#include "c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Only dimensions that the file leaves open may change. */
TfLiteStatus TfLiteInterpreterResizeInputTensorStrict(TfLiteInterpreter *interpreter, int32_t index, const int *dims, int32_t count);

/* Tensors that keep their values between runs. Resource variables are no tensors: a reset leaves them as they are. */
TfLiteStatus TfLiteInterpreterResetVariableTensors(TfLiteInterpreter *interpreter);
int32_t TfLiteInterpreterGetVariableTensorCount(const TfLiteInterpreter *interpreter);
TfLiteTensor *TfLiteInterpreterGetVariableTensor(const TfLiteInterpreter *interpreter, int32_t index);

int32_t TfLiteInterpreterGetInputTensorIndex(const TfLiteInterpreter *interpreter, int32_t index);
int32_t TfLiteInterpreterGetOutputTensorIndex(const TfLiteInterpreter *interpreter, int32_t index);
TfLiteStatus TfLiteSignatureRunnerCancel(TfLiteSignatureRunner *runner);

/* Memory of the caller's for an input or an output; 1 as a flag takes memory that is not aligned to 64 bytes. */
TfLiteStatus TfLiteInterpreterSetCustomAllocationForTensor(TfLiteInterpreter *interpreter, int index, const TfLiteCustomAllocation *allocation, int64_t flags);

/* Operators of the caller's for custom operators of a model. Built-in ones are not replaced: an interpreter with AddBuiltinOp is not made. */
typedef int TfLiteBuiltinOperator;
void TfLiteInterpreterOptionsAddCustomOp(TfLiteInterpreterOptions *options, const char *name, const TfLiteRegistration *registration, int32_t min_version, int32_t max_version);
void TfLiteInterpreterOptionsAddBuiltinOp(TfLiteInterpreterOptions *options, TfLiteBuiltinOperator op, const TfLiteRegistration *registration, int32_t min_version, int32_t max_version);
void TfLiteInterpreterOptionsSetOpResolver(TfLiteInterpreterOptions *options,
  const TfLiteRegistration *(*find_builtin)(void *user_data, TfLiteBuiltinOperator op, int version),
  const TfLiteRegistration *(*find_custom)(void *user_data, const char *name, int version), void *user_data);
TfLiteInterpreter *TfLiteInterpreterCreateWithSelectedOps(const TfLiteModel *model, const TfLiteInterpreterOptions *options);

/* Taken, and without effect: there are no delegates. */
void TfLiteInterpreterOptionsSetUseNNAPI(TfLiteInterpreterOptions *options, bool enable);
void TfLiteInterpreterOptionsSetEnableDelegateFallback(TfLiteInterpreterOptions *options, bool enable);
/* Refused: there are no delegates. */
TfLiteStatus TfLiteInterpreterModifyGraphWithDelegate(const TfLiteInterpreter *interpreter, TfLiteDelegate *delegate);

/* All tensors keep their values, for TfLiteInterpreterGetTensor after a run. This function is Apus's own. */
void ApusInterpreterOptionsSetPreserveAllTensors(TfLiteInterpreterOptions *options, bool preserve);

/* The model's subgraphs and their tensors; a tensor that does not exist is NULL. Constants have data; other tensors have them in subgraphs
 * that have been allocated, the main one and those of signature runners. These functions are Apus's own. */
int32_t ApusInterpreterGetSubgraphCount(const TfLiteInterpreter *interpreter);
const TfLiteTensor *ApusInterpreterGetSubgraphTensor(const TfLiteInterpreter *interpreter, int32_t subgraph, int32_t index);

/* A tensor's index in its subgraph. This function is Apus's own. */
int32_t ApusTensorGetIndex(const TfLiteTensor *tensor);

/* Any shape, as LiteRT's runners in Python take it; TfLiteSignatureRunnerResizeInputTensor changes open dimensions alone. This function is
 * Apus's own. */
TfLiteStatus ApusSignatureRunnerResizeInputTensor(TfLiteSignatureRunner *runner, const char *name, const int *dims, int32_t count);

/* The main subgraph's operators: their names, and the tensors that they read and write, -1 where an optional one is left out. The arrays
 * live as long as the interpreter; an operator that does not exist is NULL. These functions are Apus's own. */
int32_t ApusInterpreterGetOperatorCount(const TfLiteInterpreter *interpreter);
const char *ApusInterpreterGetOperator(const TfLiteInterpreter *interpreter, int32_t index, const TfLiteIntArray **inputs, const TfLiteIntArray **outputs);

#ifdef __cplusplus
}
#endif
#endif
