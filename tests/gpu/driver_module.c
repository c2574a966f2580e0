/* driver_module.c - of the emulated driver: modules, functions, linking.  See driver.h.
 *
 * What linking makes of PTX is not machine code but the PTX behind a head that names chip and driver: a module of
 * another chip or driver refuses it, as one refuses a cubin, and so does one whose bytes were changed.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MAGIC[16] = "\177emulated cubin";

typedef struct cubin {
  char magic[16];
  uint32_t chip, driver;
  uint64_t bytes, hash; /* of what is behind it, with the 0 */
} cubin;

static uint64_t hash_of(const char *text, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return hash;
}

/* ---- options ---------------------------------------------------------------------------------------- */

typedef struct log_buffer {
  char *text;
  size_t size;
} log_buffer;

static log_buffer error_buffer(unsigned options, const CUjit_option *option, void **value) {
  log_buffer log = {0};
  for (unsigned i = 0; i < options; i++) {
    if (option[i] == CU_JIT_ERROR_LOG_BUFFER) log.text = value[i];
    if (option[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) log.size = (uint32_t)(uintptr_t)value[i];
  }
  if (log.text && log.size) *log.text = 0;
  else log.size = 0;
  return log;
}

/* ---- what may be loaded ----------------------------------------------------------------------------- */

/* The number behind a directive, in tenths; -1 if there is none. */
static int directive(const char *text, const char *name, const char *prefix, int tenths) {
  const char *at = strstr(text, name);
  if (!at) return -1;
  at += strlen(name);
  at += strspn(at, " \t");
  if (strncmp(at, prefix, strlen(prefix))) return -1;
  int major = 0, minor = 0;
  if (sscanf(at + strlen(prefix), "%d.%d", &major, &minor) < 1) return -1;
  return tenths * major + minor;
}

/* The highest version of PTX that a driver reads: 7.x of CUDA 11.x, 8.x of 12.x, 9.x of 13.x. */
static int ptx_of_driver(void) { return (fake.set.driver / 1000 - 4) * 10 + fake.set.driver % 1000 / 10; }

static CUresult check_text(const char *text, log_buffer log) {
  int version = directive(text, ".version", "", 10), target = directive(text, ".target", "sm_", 1);
  if (version < 0 || target < 0) return CUDA_ERROR_INVALID_IMAGE;
  if (version > ptx_of_driver()) {
    if (log.size) snprintf(log.text, log.size, "PTX of version %d.%d", version / 10, version % 10);
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  }
  if (target > fake.set.chip) {
    if (log.size) snprintf(log.text, log.size, "PTX for sm_%d on sm_%d", target, fake.set.chip);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  return CUDA_SUCCESS;
}

/* The text in an image, which is PTX or what cuLinkComplete made. */
static CUresult text_of_image(const void *image, const char **text, log_buffer log) {
  *text = image;
  if (strncmp(image, MAGIC, sizeof MAGIC - 1)) return check_text(image, log);
  cubin head;
  memcpy(&head, image, sizeof head);
  if ((int)head.chip != fake.set.chip || (int)head.driver != fake.set.driver)
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  *text = (const char *)image + sizeof head;
  if (head.hash != hash_of(*text, head.bytes)) return CUDA_ERROR_INVALID_IMAGE;
  return CUDA_SUCCESS;
}

/* Without the lock, since it takes a while. */
static CUresult load(const char *text, log_buffer log, ptx_module **ptx) {
  char why[1000] = "";
  pthread_mutex_unlock(&fake.lock);
  *ptx = ptx_load(text, why, sizeof why);
  pthread_mutex_lock(&fake.lock);
  if (*ptx) return CUDA_SUCCESS;
  if (log.size) snprintf(log.text, log.size, "%s", why);
  return CUDA_ERROR_INVALID_PTX;
}

/* ---- modules ---------------------------------------------------------------------------------------- */

static bool place_variables(CUmodule module) {
  int count = ptx_globals(module->ptx);
  module->variable = calloc((size_t)count + 1, sizeof *module->variable);
  for (int v = 0; v < count; v++) {
    const ptx_global *variable = ptx_global_at(module->ptx, v);
    fake_block *block = fake_block_new(module->handle.context, variable->bytes ? variable->bytes : 1);
    if (!block) return false;
    memcpy(block->host, variable->initial, variable->bytes);
    if (block->written) memset(block->written, 1, variable->bytes);
    block->variable = true;
    module->variable[v] = block;
    ptx_place(module->ptx, v, block->base);
  }
  return true;
}

void fake_module_end(void *object) {
  CUmodule module = object;
  for (int v = 0; module->variable && v < ptx_globals(module->ptx); v++)
    if (module->variable[v]) fake_block_kill(module->variable[v]);
  for (int k = 0; module->function && k < ptx_kernels(module->ptx); k++)
    if (module->function[k]) fake_handle_end(module->function[k]);
  free(module->variable);
  free(module->function);
  ptx_free(module->ptx);
  fake_handle_end(module);
}

/* NUMBER.ptx in the folder of the list of launches. */
static void keep_text(CUmodule module, const char *text) {
  static int count;
  const char *folder = getenv("LGT_FAKE_CUDA_LAUNCHES");
  char path[4096];
  module->number = ++count;
  if (!folder || snprintf(path, sizeof path, "%s/%d.ptx", folder, count) >= (int)sizeof path) return;
  FILE *file = fopen(path, "w");
  if (!file) return;
  fputs(text, file);
  fclose(file);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, CUjit_option *option,
                            void **value) {
  ENTER(CURRENT);
  LEAVE_IF(!module || !image || (options && (!option || !value)), CUDA_ERROR_INVALID_VALUE);
  log_buffer log = error_buffer(options, option, value);
  const char *text;
  ptx_module *ptx;
  CUresult bad = text_of_image(image, &text, log);
  if (!bad) bad = load(text, log, &ptx);
  LEAVE_IF(bad, bad);
  CUmodule made = fake_handle_new(MODULE, sizeof *made, fake_self.current);
  made->ptx = ptx;
  made->function = calloc((size_t)ptx_kernels(ptx) + 1, sizeof(CUfunction));
  if (!place_variables(made)) {
    fake_module_end(made);
    LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
  }
  keep_text(made, text);
  fake_note("%s", text == image ? "PTX" : "cubin");
  *module = made;
  LEAVE(CUDA_SUCCESS);
}

/* Waits for kernels that run. */
CUresult cuModuleUnload(CUmodule module) {
  ENTER(CURRENT | RELEASES);
  CUresult bad = fake_handle_check(MODULE, module);
  LEAVE_IF(bad, bad);
  fake_context_wait(module->handle.context);
  fake_module_end(module);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(MODULE, module);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!function || !name, CUDA_ERROR_INVALID_VALUE);
  fake_note("%s", name);
  for (int k = 0; k < ptx_kernels(module->ptx); k++) {
    const ptx_kernel *kernel = ptx_kernel_at(module->ptx, k);
    if (strcmp(ptx_info(kernel)->name, name)) continue;
    if (!module->function[k]) {
      CUfunction made = fake_handle_new(FUNCTION, sizeof *made, module->handle.context);
      made->module = module;
      made->kernel = kernel;
      made->dynamic_shared = (48 << 10) - (int)ptx_info(kernel)->static_shared;
      module->function[k] = made;
    }
    *function = module->function[k];
    LEAVE(CUDA_SUCCESS);
  }
  LEAVE(CUDA_ERROR_NOT_FOUND);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(MODULE, module);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!name, CUDA_ERROR_INVALID_VALUE);
  for (int v = 0; v < ptx_globals(module->ptx); v++) {
    const ptx_global *variable = ptx_global_at(module->ptx, v);
    if (strcmp(variable->name, name)) continue;
    if (address) *address = module->variable[v]->base;
    if (bytes) *bytes = variable->bytes;
    LEAVE(CUDA_SUCCESS);
  }
  LEAVE(CUDA_ERROR_NOT_FOUND);
}

/* ---- functions -------------------------------------------------------------------------------------- */

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(FUNCTION, function);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!value, CUDA_ERROR_INVALID_VALUE);
  const ptx_kernel_info *info = ptx_info(function->kernel);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = (int)fake_threads_most(function);
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = (int)info->static_shared;
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = 0;
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = (int)info->local_bytes;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = info->registers < 32 ? (int)info->registers : 32;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = fake.set.chip;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->dynamic_shared;
      break;
    default:
      LEAVE(CUDA_ERROR_INVALID_VALUE);
  }
  LEAVE(CUDA_SUCCESS);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(FUNCTION, function);
  LEAVE_IF(bad, bad);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) LEAVE(CUDA_SUCCESS);
  LEAVE_IF(attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CUDA_ERROR_INVALID_VALUE);
  int most = (163 << 10) - (int)ptx_info(function->kernel)->static_shared;
  LEAVE_IF(value < 0 || value > most, CUDA_ERROR_INVALID_VALUE);
  function->dynamic_shared = value;
  LEAVE(CUDA_SUCCESS);
}

/* ---- linking ---------------------------------------------------------------------------------------- */

struct CUlinkState_st {
  fake_handle handle;
  log_buffer log;
  char *text;  /* owned: the PTX that was added */
  char *cubin; /* owned */
};

CUresult cuLinkCreate_v2(unsigned options, CUjit_option *option, void **value, CUlinkState *link) {
  ENTER(CURRENT);
  LEAVE_IF(!link || (options && (!option || !value)), CUDA_ERROR_INVALID_VALUE);
  *link = fake_handle_new(LINK, sizeof **link, fake_self.current);
  (*link)->log = error_buffer(options, option, value);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuLinkAddData_v2(CUlinkState link, CUjitInputType type, void *data, size_t bytes, const char *name,
                          unsigned options, CUjit_option *option, void **value) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(LINK, link);
  LEAVE_IF(bad, bad);
  fake_note("%s", name ? name : "");
  LEAVE_IF(!data || (options && (!option || !value)), CUDA_ERROR_INVALID_VALUE);
  LEAVE_IF(type != CU_JIT_INPUT_PTX || link->text,
           CUDA_ERROR_NOT_SUPPORTED);                                    /* one text of PTX is linked here */
  LEAVE_IF(!bytes || ((char *)data)[bytes - 1], CUDA_ERROR_INVALID_PTX); /* the 0 is counted */
  bad = check_text(data, link->log);
  ptx_module *ptx = NULL;
  if (!bad) bad = load(data, link->log, &ptx);
  LEAVE_IF(bad, bad);
  ptx_free(ptx);
  link->text = strdup(data);
  LEAVE(CUDA_SUCCESS);
}

CUresult cuLinkComplete(CUlinkState link, void **image, size_t *bytes) {
  ENTER(CURRENT);
  CUresult bad = fake_handle_check(LINK, link);
  LEAVE_IF(bad, bad);
  LEAVE_IF(!image || !link->text || link->cubin, CUDA_ERROR_INVALID_VALUE);
  cubin head = {
      .chip = (uint32_t)fake.set.chip, .driver = (uint32_t)fake.set.driver, .bytes = strlen(link->text) + 1};
  memcpy(head.magic, MAGIC, sizeof MAGIC);
  head.hash = hash_of(link->text, head.bytes);
  link->cubin = malloc(sizeof head + head.bytes);
  memcpy(link->cubin, &head, sizeof head);
  memcpy(link->cubin + sizeof head, link->text, head.bytes);
  *image = link->cubin;
  if (bytes) *bytes = sizeof head + head.bytes;
  LEAVE(CUDA_SUCCESS);
}

CUresult cuLinkDestroy(CUlinkState link) {
  ENTER(CURRENT | RELEASES);
  CUresult bad = fake_handle_check(LINK, link);
  LEAVE_IF(bad, bad);
  if (link->cubin) memset(link->cubin, 0xfb, sizeof(cubin)); /* whoever still has it has nothing */
  free(link->cubin);
  free(link->text);
  fake_handle_end(link);
  LEAVE(CUDA_SUCCESS);
}
