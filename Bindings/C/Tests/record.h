// SPDX-License-Identifier: Apache-2.0
/* Records what a client that nobody edited gives and gets: preloaded, it writes each model as model-N.tflite into the folder APUS_RECORD, and
 * into its file "runs" the model's number, the inputs and the outputs of each run. Tensors are a type, a rank, dimensions, a size and bytes.
 * It has this ending because the project has no sources in C: Scripts/bindings-test.sh compiles it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tensorflow/lite/c/c_api.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
enum { LIMIT = 64 };
static struct { const void *handle; int32_t model; } models[LIMIT], interpreters[LIMIT];
static int32_t model_count, interpreter_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static FILE *open_file(const char *name, const char *mode) {
  char path[4096];
  const char *folder = getenv("APUS_RECORD");
  snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", name);
  FILE *file = fopen(path, mode);
  if (!file) abort();
  return file;
}

static void keep_model(const void *handle, const void *bytes, size_t size) {
  pthread_mutex_lock(&lock);
  if (model_count == LIMIT) abort();
  char name[64];
  snprintf(name, sizeof name, "model-%d.tflite", model_count);
  FILE *file = open_file(name, "w");
  fwrite(bytes, 1, size, file);
  fclose(file);
  models[model_count].handle = handle;
  models[model_count].model = model_count;
  model_count++;
  pthread_mutex_unlock(&lock);
}

TfLiteModel *TfLiteModelCreate(const void *bytes, size_t size) {
  TfLiteModel *model = REAL(TfLiteModelCreate)(bytes, size);
  if (model) keep_model(model, bytes, size);
  return model;
}

TfLiteModel *TfLiteModelCreateFromFile(const char *path) {
  TfLiteModel *model = REAL(TfLiteModelCreateFromFile)(path);
  FILE *file = model ? fopen(path, "r") : NULL;
  if (!file) return model;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  void *bytes = malloc(size);
  if (fread(bytes, 1, size, file) != size) abort();
  fclose(file);
  keep_model(model, bytes, size);
  free(bytes);
  return model;
}

TfLiteInterpreter *TfLiteInterpreterCreate(const TfLiteModel *model, const TfLiteInterpreterOptions *options) {
  TfLiteInterpreter *interpreter = REAL(TfLiteInterpreterCreate)(model, options);
  if (!interpreter) return NULL;
  pthread_mutex_lock(&lock);
  if (interpreter_count == LIMIT) abort();
  interpreters[interpreter_count].handle = interpreter;
  for (int32_t i = 0; i < model_count; i++)
    if (models[i].handle == model) interpreters[interpreter_count].model = models[i].model;
  interpreter_count++;
  pthread_mutex_unlock(&lock);
  return interpreter;
}

static void write_tensor(FILE *file, const TfLiteTensor *tensor) {
  int32_t head[2] = {TfLiteTensorType(tensor), TfLiteTensorNumDims(tensor)};
  fwrite(head, sizeof head, 1, file);
  for (int32_t i = 0; i < head[1]; i++) {
    int32_t dimension = TfLiteTensorDim(tensor, i);
    fwrite(&dimension, sizeof dimension, 1, file);
  }
  uint64_t size = TfLiteTensorByteSize(tensor);
  fwrite(&size, sizeof size, 1, file);
  fwrite(TfLiteTensorData(tensor), 1, size, file);
}

TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter *interpreter) {
  pthread_mutex_lock(&lock);
  FILE *file = open_file("runs", "a");
  int32_t head[3] = {-1, TfLiteInterpreterGetInputTensorCount(interpreter), TfLiteInterpreterGetOutputTensorCount(interpreter)};
  for (int32_t i = 0; i < interpreter_count; i++)
    if (interpreters[i].handle == interpreter) head[0] = interpreters[i].model;
  fwrite(head, sizeof head, 1, file);
  for (int32_t i = 0; i < head[1]; i++) write_tensor(file, TfLiteInterpreterGetInputTensor(interpreter, i));
  TfLiteStatus status = REAL(TfLiteInterpreterInvoke)(interpreter);
  if (status != kTfLiteOk) abort();
  for (int32_t i = 0; i < head[2]; i++) write_tensor(file, TfLiteInterpreterGetOutputTensor(interpreter, i));
  fclose(file);
  pthread_mutex_unlock(&lock);
  return status;
}
