// SPDX-License-Identifier: Apache-2.0
/* Operators of a client's, by TfLiteRegistration and by TfLiteOperator: operators MODEL, whose only operator is the custom one "Twice".
 * It has this ending because the project has no sources in C: Scripts/bindings-test.sh compiles it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tensorflow/lite/c/c_api_experimental.h>

static int inits, frees, prepares;
static char reported[1024];

static void reporter(void *user_data, const char *format, va_list arguments) {
  assert(user_data == reported);
  vsnprintf(reported, sizeof reported, format, arguments);
}

static void *init(TfLiteContext *context, const char *options, size_t size) {
  assert(context && options && size == 0);
  inits++;
  return malloc(1);
}
static void release(TfLiteContext *context, void *data) {
  assert(context);
  frees++;
  free(data);
}
static TfLiteStatus prepare(TfLiteContext *context, TfLiteNode *node) {
  prepares++;
  TfLiteTensor *input = &context->tensors[node->inputs->data[0]];
  return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], TfLiteIntArrayCopy(input->dims));
}
static TfLiteStatus invoke(TfLiteContext *context, TfLiteNode *node) {
  TfLiteTensor *input = &context->tensors[node->inputs->data[0]], *output = &context->tensors[node->outputs->data[0]];
  assert(input->bytes == output->bytes && node->user_data);
  if (input->data.f[0] < 0) {
    context->ReportError(context, "%s: %d %ld %.1f %u %d %d %s %f", "Twice", -3, 1L << 40, 1.5, 7u, 8, 9, "ten", 2.25);
    return kTfLiteError;
  }
  for (size_t i = 0; i < input->bytes / 4; i++) output->data.f[i] = 2 * input->data.f[i];
  return kTfLiteOk;
}
static TfLiteStatus invoke_opaque(TfLiteOpaqueContext *context, TfLiteOpaqueNode *node) {
  const TfLiteOpaqueTensor *input = TfLiteOpaqueNodeGetInput(context, node, 0);
  TfLiteOpaqueTensor *output = TfLiteOpaqueNodeGetOutput(context, node, 0);
  float *from = TfLiteOpaqueTensorData(input), *to = TfLiteOpaqueTensorData(output);
  if (from[0] < 0) {
    /* A shape cannot change during a run. */
    assert(TfLiteOpaqueContextResizeTensor(context, output, TfLiteIntArrayCreate(1)) == kTfLiteError);
    TfLiteOpaqueContextReportError(context, "%s: %d", "Twice", -4);
    return kTfLiteError;
  }
  for (size_t i = 0; i < TfLiteOpaqueTensorByteSize(input) / 4; i++) to[i] = 2 * from[i];
  return kTfLiteOk;
}

static void run(TfLiteModel *model, TfLiteInterpreterOptions *options, const char *error) {
  TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
  assert(interpreter);
  assert(TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk);
  for (int rows = 1; rows < 4; rows++) {
    int dims[] = {rows, 4};
    assert(TfLiteInterpreterResizeInputTensor(interpreter, 0, dims, 2) == kTfLiteOk);
    assert(TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk);
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(interpreter, 0);
    for (int i = 0; i < 4 * rows; i++) input->data.f[i] = i;
    assert(TfLiteInterpreterInvoke(interpreter) == kTfLiteOk);
    const TfLiteTensor *output = TfLiteInterpreterGetOutputTensor(interpreter, 0);
    assert(output->bytes == 16u * rows && output->dims->data[0] == rows);
    for (int i = 0; i < 4 * rows; i++) assert(output->data.f[i] == 2 * i);
    input->data.f[0] = -1;
    reported[0] = 0;
    assert(TfLiteInterpreterInvoke(interpreter) == kTfLiteError);
    assert(strstr(reported, "Twice"));
  }
  (void)error;
  TfLiteInterpreterDelete(interpreter);
}

/* Keeps the first message of a run. */
static char first[1024];
static void first_reporter(void *user_data, const char *format, va_list arguments) {
  if (!first[0]) vsnprintf(first, sizeof first, format, arguments);
  (void)user_data;
}

static void run_once(TfLiteModel *model, TfLiteInterpreterOptions *options, const char *expected) {
  TfLiteInterpreterOptionsSetErrorReporter(options, first_reporter, NULL);
  TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
  assert(TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk);
  TfLiteInterpreterGetInputTensor(interpreter, 0)->data.f[0] = -1;
  first[0] = 0;
  assert(TfLiteInterpreterInvoke(interpreter) == kTfLiteError);
  if (strcmp(first, expected)) printf("%s\n%s\n", first, expected);
  assert(!strcmp(first, expected));
  TfLiteInterpreterDelete(interpreter);
}

int main(int count, char **arguments) {
  TfLiteModel *model = TfLiteModelCreateFromFile(arguments[count - 1]);
  assert(model);
  TfLiteRegistration registration = {.init = init, .free = release, .prepare = prepare, .invoke = invoke};

  TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, reporter, reported);
  assert(!TfLiteInterpreterCreate(model, options) && strstr(reported, "Twice"));
  TfLiteInterpreterOptionsAddCustomOp(options, "Twice", &registration, 1, 1);
  run(model, options, "");
  /* Once for the node, however often it is prepared. */
  assert(inits == 1 && frees == 1 && prepares >= 3);
  run_once(model, options, "Twice: -3 1099511627776 1.5 7 8 9 ten 2.25");
  TfLiteInterpreterOptionsDelete(options);

  options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, reporter, reported);
  TfLiteOperator *twice = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Twice", 1, NULL);
  TfLiteOperatorSetInvoke(twice, invoke_opaque);
  TfLiteOperatorSetPrepare(twice, (TfLiteStatus(*)(TfLiteOpaqueContext *, TfLiteOpaqueNode *))prepare);
  TfLiteInterpreterOptionsAddOperator(options, twice);
  run(model, options, "");
  TfLiteInterpreterOptionsAddBuiltinOp(options, 0, &registration, 1, 1);
  assert(!TfLiteInterpreterCreate(model, options) && strstr(reported, "cannot be replaced"));
  TfLiteInterpreterOptionsDelete(options);
  TfLiteOperatorDelete(twice);

  options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, reporter, reported);
  int delegate;
  TfLiteInterpreterOptionsAddDelegate(options, (TfLiteDelegate *)&delegate);
  assert(!TfLiteInterpreterCreate(model, options) && strstr(reported, "delegate"));
  TfLiteInterpreterOptionsDelete(options);
  TfLiteModelDelete(model);
  puts("operators of clients run");
}
