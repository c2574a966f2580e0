/* prototypes.c - compiled, never run, by prototypes.py: is cuda_driver.h what the toolkit's cuda.h says?
 *
 * PLANT=1 to 3 make it wrong in a constant, a layout, a prototype, which the compiler must find.
 */
#define __CUDA_API_VERSION_INTERNAL /* declares all forms of a function, under the names that are exported */
#include <cuda.h>

#define CUuuid                     own_uuid
#define CUmemLocation              own_location
#define CUmemAccessDesc            own_access
#define CUmemPoolProps             own_pool_props
#define CUDA_MEMCPY2D              own_copy2
#define CUDA_MEMCPY3D              own_copy3
#define CUDA_MEMCPY3D_PEER         own_copy3_peer
#define CUDA_KERNEL_NODE_PARAMS_v1 own_kernel_node
#define CUDA_MEMSET_NODE_PARAMS    own_memset_node
#define CUDA_HOST_NODE_PARAMS      own_host_node
#define LGT_CU_WITH_TOOLKIT
#include "cuda_driver.h"
#undef CUuuid
#undef CUmemLocation
#undef CUmemAccessDesc
#undef CUmemPoolProps
#undef CUDA_MEMCPY2D
#undef CUDA_MEMCPY3D
#undef CUDA_MEMCPY3D_PEER
#undef CUDA_KERNEL_NODE_PARAMS_v1
#undef CUDA_MEMSET_NODE_PARAMS
#undef CUDA_HOST_NODE_PARAMS

/* ---- constants -------------------------------------------------------------------------------------- */

#define SAME_VALUE(name, value) _Static_assert((long)name == value, #name);
LGT_CU_RESULTS(SAME_VALUE)
LGT_CU_DEVICE_ATTRIBUTES(SAME_VALUE)
LGT_CU_FUNCTION_ATTRIBUTES(SAME_VALUE)
LGT_CU_JIT_OPTIONS(SAME_VALUE)
LGT_CU_JIT_INPUTS(SAME_VALUE)
LGT_CU_MEMORY_TYPES(SAME_VALUE)
LGT_CU_POOL_ATTRIBUTES(SAME_VALUE)
LGT_CU_ALLOCATION_TYPES(SAME_VALUE)
LGT_CU_HANDLE_TYPES(SAME_VALUE)
LGT_CU_LOCATION_TYPES(SAME_VALUE)
LGT_CU_ACCESS_FLAGS(SAME_VALUE)
LGT_CU_FLAGS(SAME_VALUE)

/* ---- layouts ---------------------------------------------------------------------------------------- */

#define SAME_SIZE(own, theirs) _Static_assert(sizeof(own) == sizeof(theirs), #theirs)
#define SAME_FIELD(own, theirs, field)                                    \
  _Static_assert(offsetof(own, field) == offsetof(theirs, field) &&       \
                     sizeof((own){0}.field) == sizeof((theirs){0}.field), \
                 #theirs "." #field)
#define SAME_ENDS(F) \
  F(srcXInBytes);    \
  F(srcY);           \
  F(srcMemoryType);  \
  F(srcHost);        \
  F(srcDevice);      \
  F(srcArray);       \
  F(srcPitch);       \
  F(dstXInBytes);    \
  F(dstY);           \
  F(dstMemoryType);  \
  F(dstHost);        \
  F(dstDevice);      \
  F(dstArray);       \
  F(dstPitch);       \
  F(WidthInBytes);   \
  F(Height)
#define SAME_SPACE(F) \
  SAME_ENDS(F);       \
  F(srcZ);            \
  F(srcLOD);          \
  F(srcHeight);       \
  F(dstZ);            \
  F(dstLOD);          \
  F(dstHeight);       \
  F(Depth)

SAME_SIZE(own_uuid, CUuuid);
SAME_SIZE(own_location, CUmemLocation);
SAME_FIELD(own_location, CUmemLocation, type);
SAME_FIELD(own_location, CUmemLocation, id);
SAME_SIZE(own_access, CUmemAccessDesc);
SAME_FIELD(own_access, CUmemAccessDesc, location);
SAME_FIELD(own_access, CUmemAccessDesc, flags);
SAME_SIZE(own_pool_props, CUmemPoolProps);
SAME_FIELD(own_pool_props, CUmemPoolProps, allocType);
SAME_FIELD(own_pool_props, CUmemPoolProps, handleTypes);
SAME_FIELD(own_pool_props, CUmemPoolProps, location);
SAME_FIELD(own_pool_props, CUmemPoolProps, win32SecurityAttributes);

#define COPY2(field) SAME_FIELD(own_copy2, CUDA_MEMCPY2D, field)
SAME_SIZE(own_copy2, CUDA_MEMCPY2D);
SAME_ENDS(COPY2);
#define COPY3(field) SAME_FIELD(own_copy3, CUDA_MEMCPY3D, field)
SAME_SIZE(own_copy3, CUDA_MEMCPY3D);
SAME_SPACE(COPY3);
#define COPY3_PEER(field) SAME_FIELD(own_copy3_peer, CUDA_MEMCPY3D_PEER, field)
SAME_SIZE(own_copy3_peer, CUDA_MEMCPY3D_PEER);
SAME_SPACE(COPY3_PEER);
COPY3_PEER(srcContext);
COPY3_PEER(dstContext);

SAME_SIZE(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, func);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, gridDimY);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, blockDimY);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
SAME_FIELD(own_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, extra);

SAME_SIZE(own_memset_node, CUDA_MEMSET_NODE_PARAMS);
SAME_FIELD(own_memset_node, CUDA_MEMSET_NODE_PARAMS, dst);
SAME_FIELD(own_memset_node, CUDA_MEMSET_NODE_PARAMS, pitch);
SAME_FIELD(own_memset_node, CUDA_MEMSET_NODE_PARAMS, value);
SAME_FIELD(own_memset_node, CUDA_MEMSET_NODE_PARAMS, elementSize);
SAME_FIELD(own_memset_node, CUDA_MEMSET_NODE_PARAMS, width);
SAME_FIELD(own_memset_node, CUDA_MEMSET_NODE_PARAMS, height);

SAME_SIZE(own_host_node, CUDA_HOST_NODE_PARAMS);
SAME_FIELD(own_host_node, CUDA_HOST_NODE_PARAMS, fn);
SAME_FIELD(own_host_node, CUDA_HOST_NODE_PARAMS, userData);

/* ---- functions -------------------------------------------------------------------------------------- */

#define SAME_FUNCTION(name, since, arguments) \
  _Static_assert(_Generic(&name, CUresult(*) arguments : 1, default : 0), #name);
LGT_CUDA_FUNCTIONS(SAME_FUNCTION)

#if PLANT == 1
SAME_VALUE(CUDA_ERROR_NOT_READY, 601)
#elif PLANT == 2
SAME_FIELD(own_copy3, CUDA_MEMCPY3D_PEER, srcPitch);
SAME_FIELD(
    struct {
      char pad[4];
      int id;
      CUmemLocationType type;
    },
    CUmemLocation, type);
#elif PLANT == 3
SAME_FUNCTION(cuMemFree_v2, 3020, (void *address))
#endif
