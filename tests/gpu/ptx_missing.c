/* ptx_missing.c - stands in for the emulator of PTX: loads nothing, and says so. */
#include "ptx.h"

#include <stdio.h>

ptx_module *ptx_load(const char *text, char *log, size_t log_size) {
  (void)text;
  if (log_size) snprintf(log, log_size, "there is no emulator of PTX");
  return NULL;
}
void ptx_free(ptx_module *module) { (void)module; }
int ptx_kernels(const ptx_module *module) { return (void)module, 0; }
const ptx_kernel *ptx_kernel_at(const ptx_module *module, int number) {
  return (void)module, (void)number, NULL;
}
const ptx_kernel_info *ptx_info(const ptx_kernel *kernel) { return (void)kernel, NULL; }
int ptx_globals(const ptx_module *module) { return (void)module, 0; }
const ptx_global *ptx_global_at(const ptx_module *module, int number) {
  return (void)module, (void)number, NULL;
}
void ptx_place(ptx_module *module, int number, uint64_t address) {
  (void)module, (void)number, (void)address;
}
bool ptx_run(const ptx_kernel *kernel, const ptx_launch *launch, char *error, size_t error_size) {
  (void)kernel, (void)launch, (void)error, (void)error_size;
  return false;
}
