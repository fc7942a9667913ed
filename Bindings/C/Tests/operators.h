// SPDX-License-Identifier: Apache-2.0
/* Operators of a client's, by TfLiteRegistration and by TfLiteOperator: operators FUNCTIONS MODEL. MODEL's only operator is the custom one
 * "Twice". The functions f0, f1 and f2 of FUNCTIONS have the custom operator "Scale": versions 1, 1 and 2 with the options 2, 3 and 5.
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

/* Keeps the first message of a run. */
static char first[1024];
static void first_reporter(void *user_data, const char *format, va_list arguments) {
  if (!first[0]) vsnprintf(first, sizeof first, format, arguments);
  (void)user_data;
}

/* Messages of operators are those of printf. */
#define SAY(...) \
  do { \
    char wanted[sizeof first]; \
    snprintf(wanted, sizeof wanted, __VA_ARGS__); \
    first[0] = 0; \
    context->ReportError(context, __VA_ARGS__); \
    if (strcmp(first, wanted)) printf("%s\n%s\n", first, wanted); \
    assert(!strcmp(first, wanted)); \
  } while (0)

static void say_all(TfLiteContext *context) {
  char open[3] = {'a', 'b', 'c'};
  SAY("bad name %.*s in %s", 3, open, "node");
  SAY("%*d %s|%-*d|%*.*f|%s", 6, 42, "tail", -6, 43, 9, 3, 0.123456, "end");
  SAY("%.2f|%5d|%-5s|%5s|%05.1f|%+e|%G|%a|%s", 0.123456, 42, "ab", "abcdefg", 3.14159, 12345.678, 1e-10, 0.5, "end");
  SAY("%x|%#X|%o|%08lx|%hhd|%hu|%lld|%zu|%c|%5c|%%", 255u, 255u, 8u, 1UL << 40, 300, 70000, -1LL << 40, (size_t)7, 'x', 'y');
  SAY("%p %.3d %.0f %.s| %i", (void *)first, 7, 2.5, "nothing", -1);
  SAY("%.500f %300d", 0.1, 1);
  /* What is not printf's, or of another size than an integer's or a float's, ends the message as it stands. */
  first[0] = 0;
  context->ReportError(context, "%d %Lf %s", 1, (long double)2, "tail");
  assert(!strcmp(first, "1 %Lf %s"));
  first[0] = 0;
  context->ReportError(context, "%d %");
  assert(first[0]);
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
    if (input->data.f[0] == -2) say_all(context);
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

/* The functions of TfLiteContext that an operator cannot have each report their name. */
static TfLiteStatus prepare_refused(TfLiteContext *context, TfLiteNode *node) {
  int place;
  TfLiteIntArray *plan;
  const char *names[] = {"AddTensors", "GetExecutionPlan", "AllocatePersistentBuffer", "RequestScratchBufferInArena", "GetScratchBuffer"};
  for (int i = 0; i < 5; i++) {
    first[0] = 0;
    if (i == 0) assert(context->AddTensors(context, 1, &place) == kTfLiteError);
    if (i == 1) assert(context->GetExecutionPlan(context, &plan) == kTfLiteError);
    if (i == 2) assert(!context->AllocatePersistentBuffer(context, 64));
    if (i == 3) assert(context->RequestScratchBufferInArena(context, 64, &place) == kTfLiteError);
    if (i == 4) assert(!context->GetScratchBuffer(context, 0));
    assert(!strncmp(first, names[i], strlen(names[i])));
  }
  return prepare(context, node);
}

/* In TensorFlow's c_api_opaque.h. */
size_t TfLiteOpaqueContextGetNumTensors(const TfLiteOpaqueContext *context);

/* Contexts, nodes and tensors of operators that are gone are refused, whatever has been made since. */
static TfLiteContext *contexts[100];
static TfLiteNode *nodes[100];
static TfLiteTensor *tensors[100];
static int kept;
static TfLiteStatus prepare_kept(TfLiteContext *context, TfLiteNode *node) {
  for (int i = 0; i < kept; i++) assert(contexts[i] != context && nodes[i] != node && tensors[i] != context->tensors);
  contexts[kept] = context;
  nodes[kept] = node;
  tensors[kept] = context->tensors;
  assert(TfLiteOpaqueContextGetNumTensors((TfLiteOpaqueContext *)context) == 2 && TfLiteOpaqueNodeNumberOfInputs((TfLiteOpaqueNode *)node) == 1);
  return prepare(context, node);
}
static void forget(TfLiteModel *model) {
  TfLiteRegistration registration = {.prepare = prepare_kept, .invoke = invoke};
  TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, first_reporter, NULL);
  TfLiteInterpreterOptionsAddCustomOp(options, "Twice", &registration, 1, 1);
  for (kept = 0; kept < 100; kept++) {
    TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
    assert(TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk);
    TfLiteInterpreterDelete(interpreter);
  }
  /* Messages about pointers of nobody's go to standard error. */
  FILE *standard = freopen("/dev/null", "w", stderr);
  for (int i = 0; i < kept; i++) {
    assert(TfLiteOpaqueContextGetNumTensors((TfLiteOpaqueContext *)contexts[i]) == 0);
    assert(TfLiteOpaqueNodeNumberOfInputs((TfLiteOpaqueNode *)nodes[i]) <= 0);
    assert(TfLiteTensorType(tensors[i]) == kTfLiteNoType && !tensors[i]->data.raw);
  }
  assert(standard);
  TfLiteInterpreterOptionsDelete(options);
}

static void *init_scale(TfLiteContext *context, const char *options, size_t size) {
  assert(context && size == 1);
  inits++;
  float *factor = malloc(sizeof *factor);
  *factor = options[0];
  return factor;
}
static TfLiteStatus scale(TfLiteContext *context, TfLiteNode *node, float more) {
  TfLiteTensor *input = &context->tensors[node->inputs->data[0]], *output = &context->tensors[node->outputs->data[0]];
  for (size_t i = 0; i < input->bytes / 4; i++) output->data.f[i] = more * *(float *)node->user_data * input->data.f[i];
  return kTfLiteOk;
}
static TfLiteStatus scale_1(TfLiteContext *context, TfLiteNode *node) { return scale(context, node, 1); }
static TfLiteStatus scale_2(TfLiteContext *context, TfLiteNode *node) { return scale(context, node, 10); }
static TfLiteStatus fail(TfLiteContext *context, TfLiteNode *node) {
  assert(context && node);
  return kTfLiteError;
}

static TfLiteStatus run_function(TfLiteInterpreter *interpreter, const char *name, float expected) {
  TfLiteSignatureRunner *runner = TfLiteInterpreterGetSignatureRunner(interpreter, name);
  assert(runner);
  int dims[] = {2, 4}, others[] = {2, 5};
  /* A dimension that the file fixes changes only on request. */
  assert(TfLiteSignatureRunnerResizeInputTensor(runner, "x", others, 2) == kTfLiteError);
  assert(TfLiteSignatureRunnerResizeInputTensor(runner, "x", dims, 1) == kTfLiteError);
  assert(ApusSignatureRunnerResizeInputTensor(runner, "x", others, 2) == kTfLiteOk);
  assert(TfLiteSignatureRunnerResizeInputTensor(runner, "x", dims, 2) == kTfLiteOk);
  TfLiteStatus status = TfLiteSignatureRunnerAllocateTensors(runner);
  if (status == kTfLiteOk) {
    TfLiteSignatureRunnerGetInputTensor(runner, "x")->data.f[7] = 7;
    assert(TfLiteSignatureRunnerInvoke(runner) == kTfLiteOk);
    const TfLiteTensor *output = TfLiteSignatureRunnerGetOutputTensor(runner, "y");
    assert(output->bytes == 32 && output->data.f[7] == 7 * expected && ApusTensorGetIndex(output) == 1);
  }
  TfLiteSignatureRunnerDelete(runner);
  return status;
}

/* Each node has its own state and the operator of its version; of several registrations of one version the last one counts. */
static void run_functions(TfLiteModel *model) {
  TfLiteRegistration failing = {.init = init_scale, .free = release, .prepare = fail, .invoke = fail};
  TfLiteRegistration first = {.init = init_scale, .free = release, .prepare = prepare, .invoke = scale_1};
  TfLiteRegistration second = {.init = init_scale, .free = release, .prepare = prepare, .invoke = scale_2};
  TfLiteInterpreterOptions *options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, reporter, reported);
  TfLiteInterpreterOptionsAddCustomOp(options, "Scale", &failing, 1, 2);
  TfLiteInterpreterOptionsAddCustomOp(options, "Scale", &first, 1, 1);
  TfLiteInterpreterOptionsAddCustomOp(options, "Scale", &second, 2, 2);
  TfLiteInterpreter *interpreter = TfLiteInterpreterCreate(model, options);
  assert(interpreter);
  inits = frees = 0;
  assert(run_function(interpreter, "f0", 2) == kTfLiteOk);
  assert(run_function(interpreter, "f1", 3) == kTfLiteOk);
  assert(run_function(interpreter, "f2", 50) == kTfLiteOk);
  TfLiteInterpreterDelete(interpreter);
  assert(inits == 3 && frees == 3);
  TfLiteInterpreterOptionsDelete(options);

  /* A version between others is no version of theirs. */
  options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, reporter, reported);
  TfLiteInterpreterOptionsAddCustomOp(options, "Scale", &second, 3, 4);
  TfLiteInterpreterOptionsAddCustomOp(options, "Scale", &first, 1, 1);
  interpreter = TfLiteInterpreterCreate(model, options);
  assert(interpreter);
  assert(run_function(interpreter, "f0", 2) == kTfLiteOk);
  assert(run_function(interpreter, "f2", 50) == kTfLiteError && strstr(reported, "version 2 is not registered, only 3 to 4, 1"));
  TfLiteInterpreterDelete(interpreter);
  TfLiteInterpreterOptionsDelete(options);
}

/* Arrays of any length are copied and compared. */
static void compare_arrays(void) {
  TfLiteIntArray *array = TfLiteIntArrayCreate(70000);
  for (int i = 0; i < array->size; i++) array->data[i] = i;
  TfLiteIntArray *copy = TfLiteIntArrayCopy(array);
  assert(copy && copy->size == 70000 && copy->data[69999] == 69999);
  assert(TfLiteIntArrayEqual(array, copy) && TfLiteIntArrayEqualsArray(array, copy->size, copy->data));
  assert(!TfLiteIntArrayEqualsArray(array, 69999, copy->data) && !TfLiteIntArrayEqual(array, NULL));
  copy->data[69999] = 0;
  assert(!TfLiteIntArrayEqual(array, copy) && !TfLiteIntArrayEqualsArray(array, copy->size, copy->data));
  assert(!TfLiteIntArrayCopy(NULL) && TfLiteIntArrayEqual(NULL, NULL) && TfLiteIntArrayEqualsArray(NULL, 0, NULL));
  TfLiteIntArrayFree(array);
  TfLiteIntArrayFree(copy);
  TfLiteFloatArray *numbers = TfLiteFloatArrayCreate(70000);
  numbers->data[69999] = 0.5f;
  TfLiteFloatArray *same = TfLiteFloatArrayCopy(numbers);
  assert(same && same->size == 70000 && same->data[69999] == 0.5f);
  TfLiteFloatArrayFree(numbers);
  TfLiteFloatArrayFree(same);
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
  run_once(model, options, "Twice: -3 1099511627776 1.5 7 8 9 ten 2.250000");
  TfLiteInterpreter *saying = TfLiteInterpreterCreate(model, options);
  assert(TfLiteInterpreterAllocateTensors(saying) == kTfLiteOk);
  TfLiteInterpreterGetInputTensor(saying, 0)->data.f[0] = -2;
  assert(TfLiteInterpreterInvoke(saying) == kTfLiteError);
  TfLiteInterpreterDelete(saying);
  TfLiteInterpreterOptionsDelete(options);

  options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetErrorReporter(options, first_reporter, NULL);
  registration.prepare = prepare_refused;
  TfLiteInterpreterOptionsAddCustomOp(options, "Twice", &registration, 1, 1);
  registration.prepare = prepare;
  TfLiteInterpreter *refused = TfLiteInterpreterCreate(model, options);
  assert(TfLiteInterpreterAllocateTensors(refused) == kTfLiteOk);
  TfLiteInterpreterDelete(refused);
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
  forget(model);
  TfLiteModelDelete(model);

  model = TfLiteModelCreateFromFile(arguments[count - 2]);
  assert(model);
  run_functions(model);
  TfLiteModelDelete(model);
  compare_arrays();
  puts("operators of clients run");
}
