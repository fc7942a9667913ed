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

/* What a model keeps between runs. */
TfLiteStatus TfLiteInterpreterResetVariableTensors(TfLiteInterpreter *interpreter);
int32_t TfLiteInterpreterGetVariableTensorCount(const TfLiteInterpreter *interpreter);
TfLiteTensor *TfLiteInterpreterGetVariableTensor(const TfLiteInterpreter *interpreter, int32_t index);

int32_t TfLiteInterpreterGetInputTensorIndex(const TfLiteInterpreter *interpreter, int32_t index);
int32_t TfLiteInterpreterGetOutputTensorIndex(const TfLiteInterpreter *interpreter, int32_t index);
TfLiteStatus TfLiteSignatureRunnerCancel(TfLiteSignatureRunner *runner);

/* Memory of the caller's for an input or an output; 1 as a flag takes memory that is not aligned to 64 bytes. */
TfLiteStatus TfLiteInterpreterSetCustomAllocationForTensor(TfLiteInterpreter *interpreter, int index, const TfLiteCustomAllocation *allocation, int64_t flags);

/* All tensors keep their values, for TfLiteInterpreterGetTensor after a run. This function is Apus's own. */
void ApusInterpreterOptionsSetPreserveAllTensors(TfLiteInterpreterOptions *options, bool preserve);

#ifdef __cplusplus
}
#endif
#endif
