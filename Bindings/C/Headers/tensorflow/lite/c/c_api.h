// SPDX-License-Identifier: Apache-2.0
/* TensorFlow Lite's C API, as libtensorflowlite_c.so of Apus implements it.
 *
 * Every pointer is checked: NULL, a deleted object or one of another kind is an error (kTfLiteError, NULL or 0) with a message, never a crash.
 * An interpreter, its tensors and its runners belong to one thread at a time; a model may be shared by any number of them. */
#ifndef APUS_TENSORFLOW_LITE_C_C_API_H
#define APUS_TENSORFLOW_LITE_C_C_API_H

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TfLiteModel TfLiteModel;
typedef struct TfLiteInterpreterOptions TfLiteInterpreterOptions;
typedef struct TfLiteInterpreter TfLiteInterpreter;
typedef struct TfLiteSignatureRunner TfLiteSignatureRunner;
typedef struct TfLiteOperator TfLiteOperator;

/* A function that gets messages: its own pointer, a format of printf, the format's arguments. */
typedef void (*TfLiteErrorReporterFunction)(void *user_data, const char *format, va_list args);

/* Versions: of the API, then of the schema of model files. */
const char *TfLiteVersion(void);
const char *TfLiteExtensionApisVersion(void);
int TfLiteSchemaVersion(void);

/* Models. NULL if the file or the bytes are no model; the bytes are copied. */
TfLiteModel *TfLiteModelCreate(const void *data, size_t size);
TfLiteModel *TfLiteModelCreateFromFile(const char *path);
TfLiteModel *TfLiteModelCreateWithErrorReporter(const void *data, size_t size, TfLiteErrorReporterFunction reporter, void *user_data);
TfLiteModel *TfLiteModelCreateFromFileWithErrorReporter(const char *path, TfLiteErrorReporterFunction reporter, void *user_data);
void TfLiteModelDelete(TfLiteModel *model);

/* Options. An interpreter keeps a copy of them; 1 to 64 threads, and -1 leaves the choice to the library. */
TfLiteInterpreterOptions *TfLiteInterpreterOptionsCreate(void);
TfLiteInterpreterOptions *TfLiteInterpreterOptionsCopy(const TfLiteInterpreterOptions *options);
void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions *options);
void TfLiteInterpreterOptionsSetNumThreads(TfLiteInterpreterOptions *options, int32_t count);
void TfLiteInterpreterOptionsSetErrorReporter(TfLiteInterpreterOptions *options, TfLiteErrorReporterFunction reporter, void *user_data);
TfLiteStatus TfLiteInterpreterOptionsEnableCancellation(TfLiteInterpreterOptions *options, bool enable);
void TfLiteInterpreterOptionsAddOperator(TfLiteInterpreterOptions *options, TfLiteOperator *custom_operator);
/* Delegates are refused: an interpreter with one is not made. */
void TfLiteInterpreterOptionsAddDelegate(TfLiteInterpreterOptions *options, TfLiteDelegate *delegate);

/* Interpreters. NULL, with the reason, if the model has an operator that is not supported. The model may be deleted at once. */
TfLiteInterpreter *TfLiteInterpreterCreate(const TfLiteModel *model, const TfLiteInterpreterOptions *options);
void TfLiteInterpreterDelete(TfLiteInterpreter *interpreter);

/* Shapes first, then memory, then data: Resize, AllocateTensors, copy to inputs, Invoke, copy from outputs. */
TfLiteStatus TfLiteInterpreterResizeInputTensor(TfLiteInterpreter *interpreter, int32_t index, const int *dims, int32_t count);
TfLiteStatus TfLiteInterpreterAllocateTensors(TfLiteInterpreter *interpreter);
TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter *interpreter);
TfLiteStatus TfLiteInterpreterCancel(const TfLiteInterpreter *interpreter);

/* Tensors by position among inputs or outputs, or by index among all of them. They belong to the interpreter. */
int32_t TfLiteInterpreterGetInputTensorCount(const TfLiteInterpreter *interpreter);
int32_t TfLiteInterpreterGetOutputTensorCount(const TfLiteInterpreter *interpreter);
const int *TfLiteInterpreterInputTensorIndices(const TfLiteInterpreter *interpreter);
const int *TfLiteInterpreterOutputTensorIndices(const TfLiteInterpreter *interpreter);
TfLiteTensor *TfLiteInterpreterGetInputTensor(const TfLiteInterpreter *interpreter, int32_t index);
const TfLiteTensor *TfLiteInterpreterGetOutputTensor(const TfLiteInterpreter *interpreter, int32_t index);
TfLiteTensor *TfLiteInterpreterGetTensor(const TfLiteInterpreter *interpreter, int index);

/* Signatures: functions of a model, called by name. Delete a runner before its interpreter. */
int32_t TfLiteInterpreterGetSignatureCount(const TfLiteInterpreter *interpreter);
const char *TfLiteInterpreterGetSignatureKey(const TfLiteInterpreter *interpreter, int32_t index);
TfLiteSignatureRunner *TfLiteInterpreterGetSignatureRunner(const TfLiteInterpreter *interpreter, const char *key);
void TfLiteSignatureRunnerDelete(TfLiteSignatureRunner *runner);
size_t TfLiteSignatureRunnerGetInputCount(const TfLiteSignatureRunner *runner);
size_t TfLiteSignatureRunnerGetOutputCount(const TfLiteSignatureRunner *runner);
const char *TfLiteSignatureRunnerGetInputName(const TfLiteSignatureRunner *runner, int32_t index);
const char *TfLiteSignatureRunnerGetOutputName(const TfLiteSignatureRunner *runner, int32_t index);
/* Only dimensions that the file leaves open may change. */
TfLiteStatus TfLiteSignatureRunnerResizeInputTensor(TfLiteSignatureRunner *runner, const char *name, const int *dims, int32_t count);
TfLiteStatus TfLiteSignatureRunnerAllocateTensors(TfLiteSignatureRunner *runner);
TfLiteTensor *TfLiteSignatureRunnerGetInputTensor(TfLiteSignatureRunner *runner, const char *name);
const TfLiteTensor *TfLiteSignatureRunnerGetOutputTensor(const TfLiteSignatureRunner *runner, const char *name);
TfLiteStatus TfLiteSignatureRunnerInvoke(TfLiteSignatureRunner *runner);

/* What a tensor is, and its elements. Copies must have exactly as many bytes as the tensor. */
TfLiteType TfLiteTensorType(const TfLiteTensor *tensor);
int32_t TfLiteTensorNumDims(const TfLiteTensor *tensor);
int32_t TfLiteTensorDim(const TfLiteTensor *tensor, int32_t axis);
size_t TfLiteTensorByteSize(const TfLiteTensor *tensor);
void *TfLiteTensorData(const TfLiteTensor *tensor);
const char *TfLiteTensorName(const TfLiteTensor *tensor);
TfLiteQuantizationParams TfLiteTensorQuantizationParams(const TfLiteTensor *tensor);
TfLiteStatus TfLiteTensorCopyFromBuffer(TfLiteTensor *tensor, const void *data, size_t size);
TfLiteStatus TfLiteTensorCopyToBuffer(const TfLiteTensor *tensor, void *data, size_t size);

/* Operators of the caller's: builtin_code is kTfLiteBuiltinCustom, 32. Their functions get contexts, nodes and tensors. */
enum { kTfLiteBuiltinCustom = 32 };
TfLiteOperator *TfLiteOperatorCreate(int builtin_code, const char *custom_name, int version, void *user_data);
void TfLiteOperatorDelete(TfLiteOperator *custom_operator);
void TfLiteOperatorSetInit(TfLiteOperator *custom_operator, void *(*init)(TfLiteOpaqueContext *, const char *options, size_t size));
void TfLiteOperatorSetFree(TfLiteOperator *custom_operator, void (*free)(TfLiteOpaqueContext *, void *data));
void TfLiteOperatorSetPrepare(TfLiteOperator *custom_operator, TfLiteStatus (*prepare)(TfLiteOpaqueContext *, TfLiteOpaqueNode *));
void TfLiteOperatorSetInvoke(TfLiteOperator *custom_operator, TfLiteStatus (*invoke)(TfLiteOpaqueContext *, TfLiteOpaqueNode *));
void *TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode *node);
int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode *node);
int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode *node);
const TfLiteOpaqueTensor *TfLiteOpaqueNodeGetInput(const TfLiteOpaqueContext *context, const TfLiteOpaqueNode *node, int index);
TfLiteOpaqueTensor *TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext *context, const TfLiteOpaqueNode *node, int index);
TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor *tensor);
int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor *tensor);
int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor *tensor, int32_t axis);
size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor *tensor);
void *TfLiteOpaqueTensorData(const TfLiteOpaqueTensor *tensor);
/* Before the run alone; the array is the library's from then on. */
TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext *context, TfLiteOpaqueTensor *tensor, TfLiteIntArray *dims);
void TfLiteOpaqueContextReportError(TfLiteOpaqueContext *context, const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif
