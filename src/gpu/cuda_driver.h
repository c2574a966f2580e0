/* cuda_driver.h - the part of NVIDIA's driver API that lgt uses: types, constants, functions.
 *
 * Own declarations, so that one build serves machines with and without a toolkit: names, values and layouts are those of
 * the library, nothing else is.  tests/gpu/prototypes.py compares all of them with the toolkit's cuda.h where there is
 * one, which is why constants and functions are lists: LGT_CU_RESULTS(X) calls X(name, value) for each constant, and
 * LGT_CUDA_FUNCTIONS(X) calls X(name, since, arguments) for each function, where `name` is what the library exports (with
 * _v2 if that is the current form) and `since` the version of CUDA that brought it, as cuDriverGetVersion counts.  All
 * functions return CUresult.  A table of pointers:
 *
 *     #define FIELD(name, since, arguments) CUresult(*name) arguments;
 *     struct driver { LGT_CUDA_FUNCTIONS(FIELD) };
 *
 * tests/gpu builds a libcuda.so.1 with the same functions, for machines without a GPU.
 */
#ifndef LGT_CUDA_DRIVER_H
#define LGT_CUDA_DRIVER_H

#include <stddef.h>

/* ---- constants -------------------------------------------------------------------------------------- */

#define LGT_CU_RESULTS(X)                                                                                     \
  X(CUDA_SUCCESS, 0) X(CUDA_ERROR_INVALID_VALUE, 1) X(CUDA_ERROR_OUT_OF_MEMORY, 2)                            \
  X(CUDA_ERROR_NOT_INITIALIZED, 3) X(CUDA_ERROR_DEINITIALIZED, 4) X(CUDA_ERROR_STUB_LIBRARY, 34)              \
  X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46) X(CUDA_ERROR_NO_DEVICE, 100) X(CUDA_ERROR_INVALID_DEVICE, 101)         \
  X(CUDA_ERROR_INVALID_IMAGE, 200) X(CUDA_ERROR_INVALID_CONTEXT, 201) X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)    \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214) X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)                             \
  X(CUDA_ERROR_INVALID_PTX, 218) X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                    \
  X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222) X(CUDA_ERROR_INVALID_SOURCE, 300)                                \
  X(CUDA_ERROR_FILE_NOT_FOUND, 301) X(CUDA_ERROR_OPERATING_SYSTEM, 304) X(CUDA_ERROR_INVALID_HANDLE, 400)     \
  X(CUDA_ERROR_ILLEGAL_STATE, 401) X(CUDA_ERROR_NOT_FOUND, 500) X(CUDA_ERROR_NOT_READY, 600)                  \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700) X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                               \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702) X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                            \
  X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705) X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                          \
  X(CUDA_ERROR_ASSERT, 710) X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                                 \
  X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713) X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                       \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715) X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                \
  X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717) X(CUDA_ERROR_INVALID_PC, 718) X(CUDA_ERROR_LAUNCH_FAILED, 719)     \
  X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720) X(CUDA_ERROR_NOT_PERMITTED, 800)                            \
  X(CUDA_ERROR_NOT_SUPPORTED, 801) X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                        \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803) X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                 \
  X(CUDA_ERROR_UNKNOWN, 999)

#define LGT_CU_DEVICE_ATTRIBUTES(X)                                                                           \
  X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1) X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                   \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3) X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                         \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5) X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                           \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7) X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)              \
  X(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 9) X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11) X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)                     \
  X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13) X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                       \
  X(CU_DEVICE_ATTRIBUTE_INTEGRATED, 18) X(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                        \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20) X(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 31)                       \
  X(CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 32) X(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                \
  X(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34) X(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                       \
  X(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37) X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                 \
  X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39) X(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40)     \
  X(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41) X(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                      \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75) X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)     \
  X(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 78)                                                      \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)                                             \
  X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82) X(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83)       \
  X(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                                                               \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                                \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106)                                                   \
  X(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 111)                                                \
  X(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)

#define LGT_CU_FUNCTION_ATTRIBUTES(X)                                                                         \
  X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0) X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                     \
  X(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2) X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                           \
  X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4) X(CU_FUNC_ATTRIBUTE_PTX_VERSION, 5)                                        \
  X(CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6) X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                \
  X(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9)

#define LGT_CU_JIT_OPTIONS(X)                                                                                 \
  X(CU_JIT_MAX_REGISTERS, 0) X(CU_JIT_THREADS_PER_BLOCK, 1) X(CU_JIT_INFO_LOG_BUFFER, 3)                      \
  X(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4) X(CU_JIT_ERROR_LOG_BUFFER, 5)                                       \
  X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6) X(CU_JIT_OPTIMIZATION_LEVEL, 7)                                    \
  X(CU_JIT_TARGET_FROM_CUCONTEXT, 8) X(CU_JIT_TARGET, 9) X(CU_JIT_FALLBACK_STRATEGY, 10)                      \
  X(CU_JIT_GENERATE_DEBUG_INFO, 11) X(CU_JIT_LOG_VERBOSE, 12) X(CU_JIT_GENERATE_LINE_INFO, 13)                \
  X(CU_JIT_CACHE_MODE, 14)

#define LGT_CU_JIT_INPUTS(X)                                                                                  \
  X(CU_JIT_INPUT_CUBIN, 0) X(CU_JIT_INPUT_PTX, 1)

#define LGT_CU_MEMORY_TYPES(X)                                                                                \
  X(CU_MEMORYTYPE_HOST, 1) X(CU_MEMORYTYPE_DEVICE, 2) X(CU_MEMORYTYPE_ARRAY, 3) X(CU_MEMORYTYPE_UNIFIED, 4)

#define LGT_CU_POOL_ATTRIBUTES(X)                                                                             \
  X(CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, 1) X(CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 2)       \
  X(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 3) X(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)             \
  X(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5) X(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 6)                          \
  X(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 7) X(CU_MEMPOOL_ATTR_USED_MEM_HIGH, 8)

#define LGT_CU_ALLOCATION_TYPES(X)                                                                            \
  X(CU_MEM_ALLOCATION_TYPE_INVALID, 0) X(CU_MEM_ALLOCATION_TYPE_PINNED, 1)

#define LGT_CU_HANDLE_TYPES(X)                                                                                \
  X(CU_MEM_HANDLE_TYPE_NONE, 0)

#define LGT_CU_LOCATION_TYPES(X)                                                                              \
  X(CU_MEM_LOCATION_TYPE_INVALID, 0) X(CU_MEM_LOCATION_TYPE_DEVICE, 1)

#define LGT_CU_ACCESS_FLAGS(X)                                                                                \
  X(CU_MEM_ACCESS_FLAGS_PROT_NONE, 0) X(CU_MEM_ACCESS_FLAGS_PROT_READ, 1)                                     \
  X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)

#define LGT_CU_FLAGS(X)                                                                                       \
  X(CU_STREAM_DEFAULT, 0) X(CU_EVENT_DEFAULT, 0) X(CU_CTX_SCHED_AUTO, 0) X(CU_COMPUTEMODE_DEFAULT, 0)         \
  X(CU_EVENT_RECORD_DEFAULT, 0) X(CU_EVENT_WAIT_DEFAULT, 0) X(CU_STREAM_NON_BLOCKING, 1)                      \
  X(CU_EVENT_BLOCKING_SYNC, 1) X(CU_MEMHOSTALLOC_PORTABLE, 1) X(CU_MEMHOSTREGISTER_PORTABLE, 1)               \
  X(CU_CTX_SCHED_SPIN, 1) X(CU_EVENT_DISABLE_TIMING, 2) X(CU_MEMHOSTALLOC_DEVICEMAP, 2)                       \
  X(CU_MEMHOSTREGISTER_DEVICEMAP, 2) X(CU_CTX_SCHED_YIELD, 2) X(CU_COMPUTEMODE_PROHIBITED, 2)                 \
  X(CU_COMPUTEMODE_EXCLUSIVE_PROCESS, 3) X(CU_EVENT_INTERPROCESS, 4) X(CU_MEMHOSTALLOC_WRITECOMBINED, 4)      \
  X(CU_CTX_SCHED_BLOCKING_SYNC, 4) X(CU_MEMHOSTREGISTER_READ_ONLY, 8)

/* Arguments of the streams that every context has. */
#define LGT_CU_STREAM_LEGACY ((CUstream)0)

#ifndef LGT_CU_WITH_TOOLKIT /* defined by the test, which has these from cuda.h */
#define LGT_CU_ENUMERATOR(name, value) name = value,
typedef enum CUresult { LGT_CU_RESULTS(LGT_CU_ENUMERATOR) } CUresult;
typedef enum CUdevice_attribute { LGT_CU_DEVICE_ATTRIBUTES(LGT_CU_ENUMERATOR) } CUdevice_attribute;
typedef enum CUfunction_attribute { LGT_CU_FUNCTION_ATTRIBUTES(LGT_CU_ENUMERATOR) } CUfunction_attribute;
typedef enum CUjit_option { LGT_CU_JIT_OPTIONS(LGT_CU_ENUMERATOR) } CUjit_option;
typedef enum CUjitInputType { LGT_CU_JIT_INPUTS(LGT_CU_ENUMERATOR) } CUjitInputType;
typedef enum CUmemorytype { LGT_CU_MEMORY_TYPES(LGT_CU_ENUMERATOR) } CUmemorytype;
typedef enum CUmemPool_attribute { LGT_CU_POOL_ATTRIBUTES(LGT_CU_ENUMERATOR) } CUmemPool_attribute;
typedef enum CUmemAllocationType { LGT_CU_ALLOCATION_TYPES(LGT_CU_ENUMERATOR) } CUmemAllocationType;
typedef enum CUmemAllocationHandleType { LGT_CU_HANDLE_TYPES(LGT_CU_ENUMERATOR) } CUmemAllocationHandleType;
typedef enum CUmemLocationType { LGT_CU_LOCATION_TYPES(LGT_CU_ENUMERATOR) } CUmemLocationType;
typedef enum CUmemAccess_flags { LGT_CU_ACCESS_FLAGS(LGT_CU_ENUMERATOR) } CUmemAccess_flags;
enum { LGT_CU_FLAGS(LGT_CU_ENUMERATOR) };
#endif

/* ---- types ------------------------------------------------------------------------------------------ */

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUarray_st *CUarray;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef void (*CUhostFn)(void *context);

typedef struct lgt_cu_uuid {
  char bytes[16];
} CUuuid;

typedef struct lgt_cu_location {
  CUmemLocationType type;
  int id;
} CUmemLocation;

typedef struct lgt_cu_access {
  CUmemLocation location;
  CUmemAccess_flags flags;
} CUmemAccessDesc;

/* `maxSize` and `usage` are reserved, and must be 0, before 12.2 and 12.4. */
typedef struct lgt_cu_pool_props {
  CUmemAllocationType allocType;
  CUmemAllocationHandleType handleTypes;
  CUmemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
} CUmemPoolProps;

typedef struct lgt_cu_copy2 {
  size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct lgt_cu_copy3 {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void *reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct lgt_cu_copy3_peer {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  CUcontext srcContext;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  CUcontext dstContext;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;

/* Two fields follow in the struct that cuGraphAddKernelNode_v2 takes. */
typedef struct lgt_cu_kernel_node {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct lgt_cu_memset_node {
  CUdeviceptr dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct lgt_cu_host_node {
  CUhostFn fn;
  void *userData;
} CUDA_HOST_NODE_PARAMS;

/* ---- functions -------------------------------------------------------------------------------------- */

#define LGT_CUDA_FUNCTIONS(X)                                                                                 \
  X(cuInit, 2000, (unsigned flags))                                                                           \
  X(cuDriverGetVersion, 2020, (int *version))                                                                 \
  X(cuGetErrorName, 6000, (CUresult error, const char **text))                                                \
  X(cuGetErrorString, 6000, (CUresult error, const char **text))                                              \
  X(cuDeviceGet, 2000, (CUdevice *device, int ordinal))                                                       \
  X(cuDeviceGetCount, 2000, (int *count))                                                                     \
  X(cuDeviceGetName, 2000, (char *name, int length, CUdevice device))                                         \
  X(cuDeviceGetUuid, 9020, (CUuuid *uuid, CUdevice device))                                                   \
  X(cuDeviceTotalMem_v2, 3020, (size_t *bytes, CUdevice device))                                              \
  X(cuDeviceGetAttribute, 2000, (int *value, CUdevice_attribute attribute, CUdevice device))                  \
  X(cuDeviceGetPCIBusId, 4010, (char *id, int length, CUdevice device))                                       \
  X(cuDeviceCanAccessPeer, 4000, (int *can, CUdevice device, CUdevice peer))                                  \
  X(cuDevicePrimaryCtxRetain, 7000, (CUcontext *context, CUdevice device))                                    \
  X(cuDevicePrimaryCtxRelease_v2, 11000, (CUdevice device))                                                   \
  X(cuCtxSetCurrent, 4000, (CUcontext context))                                                               \
  X(cuCtxGetCurrent, 4000, (CUcontext *context))                                                              \
  X(cuCtxGetDevice, 2000, (CUdevice *device))                                                                 \
  X(cuCtxSynchronize, 2000, (void))                                                                           \
  X(cuCtxEnablePeerAccess, 4000, (CUcontext peer, unsigned flags))                                            \
  X(cuModuleLoadDataEx, 2010, (CUmodule *module, const void *image, unsigned options, CUjit_option            \
    *option, void **value))                                                                                   \
  X(cuModuleUnload, 2000, (CUmodule module))                                                                  \
  X(cuModuleGetFunction, 2000, (CUfunction *function, CUmodule module, const char *name))                     \
  X(cuModuleGetGlobal_v2, 3020, (CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name))     \
  X(cuLinkCreate_v2, 6050, (unsigned options, CUjit_option *option, void **value, CUlinkState *link))         \
  X(cuLinkAddData_v2, 6050, (CUlinkState link, CUjitInputType type, void *data, size_t bytes, const char      \
    *name, unsigned options, CUjit_option *option, void **value))                                             \
  X(cuLinkComplete, 5050, (CUlinkState link, void **cubin, size_t *bytes))                                    \
  X(cuLinkDestroy, 5050, (CUlinkState link))                                                                  \
  X(cuFuncGetAttribute, 2020, (int *value, CUfunction_attribute attribute, CUfunction function))              \
  X(cuFuncSetAttribute, 9000, (CUfunction function, CUfunction_attribute attribute, int value))               \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, (int *blocks, CUfunction function, int threads,        \
    size_t shared))                                                                                           \
  X(cuLaunchKernel, 4000, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,            \
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **params,    \
    void **extra))                                                                                            \
  X(cuLaunchCooperativeKernel, 9000, (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned         \
    grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void      \
    **params))                                                                                                \
  X(cuLaunchHostFunc, 10000, (CUstream stream, CUhostFn function, void *context))                             \
  X(cuMemGetInfo_v2, 3020, (size_t *free, size_t *total))                                                     \
  X(cuMemAlloc_v2, 3020, (CUdeviceptr *address, size_t bytes))                                                \
  X(cuMemFree_v2, 3020, (CUdeviceptr address))                                                                \
  X(cuMemPoolCreate, 11020, (CUmemoryPool *pool, const CUmemPoolProps *props))                                \
  X(cuMemPoolDestroy, 11020, (CUmemoryPool pool))                                                             \
  X(cuMemPoolSetAttribute, 11020, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value))            \
  X(cuMemPoolGetAttribute, 11020, (CUmemoryPool pool, CUmemPool_attribute attribute, void *value))            \
  X(cuMemPoolTrimTo, 11020, (CUmemoryPool pool, size_t keep))                                                 \
  X(cuMemPoolSetAccess, 11020, (CUmemoryPool pool, const CUmemAccessDesc *access, size_t count))              \
  X(cuMemAllocFromPoolAsync, 11020, (CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream          \
    stream))                                                                                                  \
  X(cuMemFreeAsync, 11020, (CUdeviceptr address, CUstream stream))                                            \
  X(cuMemHostAlloc, 2020, (void **block, size_t bytes, unsigned flags))                                       \
  X(cuMemFreeHost, 2000, (void *block))                                                                       \
  X(cuMemHostRegister_v2, 6050, (void *block, size_t bytes, unsigned flags))                                  \
  X(cuMemHostUnregister, 4000, (void *block))                                                                 \
  X(cuMemcpyHtoD_v2, 3020, (CUdeviceptr to, const void *from, size_t bytes))                                  \
  X(cuMemcpyDtoH_v2, 3020, (void *to, CUdeviceptr from, size_t bytes))                                        \
  X(cuMemcpyHtoDAsync_v2, 3020, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))            \
  X(cuMemcpyDtoHAsync_v2, 3020, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                  \
  X(cuMemcpyDtoDAsync_v2, 3020, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))            \
  X(cuMemcpyPeerAsync, 4000, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext               \
    from_context, size_t bytes, CUstream stream))                                                             \
  X(cuMemcpy2DAsync_v2, 3020, (const CUDA_MEMCPY2D *copy, CUstream stream))                                   \
  X(cuMemcpy3DAsync_v2, 3020, (const CUDA_MEMCPY3D *copy, CUstream stream))                                   \
  X(cuMemcpy3DPeerAsync, 4000, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream))                             \
  X(cuMemsetD8Async, 3020, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))              \
  X(cuMemsetD16Async, 3020, (CUdeviceptr to, unsigned short value, size_t count, CUstream stream))            \
  X(cuMemsetD32Async, 3020, (CUdeviceptr to, unsigned value, size_t count, CUstream stream))                  \
  X(cuStreamCreate, 2000, (CUstream *stream, unsigned flags))                                                 \
  X(cuStreamCreateWithPriority, 5050, (CUstream *stream, unsigned flags, int priority))                       \
  X(cuStreamDestroy_v2, 4000, (CUstream stream))                                                              \
  X(cuStreamQuery, 2000, (CUstream stream))                                                                   \
  X(cuStreamSynchronize, 2000, (CUstream stream))                                                             \
  X(cuStreamWaitEvent, 3020, (CUstream stream, CUevent event, unsigned flags))                                \
  X(cuEventCreate, 2000, (CUevent *event, unsigned flags))                                                    \
  X(cuEventRecord, 2000, (CUevent event, CUstream stream))                                                    \
  X(cuEventQuery, 2000, (CUevent event))                                                                      \
  X(cuEventSynchronize, 2000, (CUevent event))                                                                \
  X(cuEventElapsedTime, 2000, (float *milliseconds, CUevent begin, CUevent end))                              \
  X(cuEventDestroy_v2, 4000, (CUevent event))                                                                 \
  X(cuGraphCreate, 10000, (CUgraph *graph, unsigned flags))                                                   \
  X(cuGraphAddKernelNode, 10000, (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t          \
    count, const CUDA_KERNEL_NODE_PARAMS_v1 *params))                                                         \
  X(cuGraphAddMemcpyNode, 10000, (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t          \
    count, const CUDA_MEMCPY3D *copy, CUcontext context))                                                     \
  X(cuGraphAddMemsetNode, 10000, (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t          \
    count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context))                                         \
  X(cuGraphAddHostNode, 10000, (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,     \
    const CUDA_HOST_NODE_PARAMS *params))                                                                     \
  X(cuGraphAddEmptyNode, 10000, (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t           \
    count))                                                                                                   \
  X(cuGraphAddDependencies, 10000, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t     \
    count))                                                                                                   \
  X(cuGraphInstantiateWithFlags, 11040, (CUgraphExec *exec, CUgraph graph, unsigned long long flags))         \
  X(cuGraphExecKernelNodeSetParams, 10010, (CUgraphExec exec, CUgraphNode node, const                         \
    CUDA_KERNEL_NODE_PARAMS_v1 *params))                                                                      \
  X(cuGraphExecMemcpyNodeSetParams, 10020, (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,    \
    CUcontext context))                                                                                       \
  X(cuGraphUpload, 11010, (CUgraphExec exec, CUstream stream))                                                \
  X(cuGraphLaunch, 10000, (CUgraphExec exec, CUstream stream))                                                \
  X(cuGraphExecDestroy, 10000, (CUgraphExec exec))                                                            \
  X(cuGraphDestroy, 10000, (CUgraph graph))

#endif
