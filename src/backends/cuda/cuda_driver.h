/* cuda_driver.h - constants of CUDA's driver, and targets of CUDA. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CUDA_DRIVER_H
#define KILN_CUDA_DRIVER_H

#include "backends/gpu/gpu.h"

/* Constants of the driver's binary interface. A test compares them with the
   vendor's header, if there is one. */
#define KILN__CU_ATTRIBUTE_THREADS 1
#define KILN__CU_ATTRIBUTE_BLOCK_X 2
#define KILN__CU_ATTRIBUTE_GRID_X 5
#define KILN__CU_ATTRIBUTE_WARP 10
#define KILN__CU_ATTRIBUTE_MAJOR 75
#define KILN__CU_ATTRIBUTE_MINOR 76
#define KILN__CU_ATTRIBUTE_LOCAL 97 /* of a group that asks for it */
#define KILN__CU_FUNCTION_LOCAL 8   /* dynamic memory that it asks for */
#define KILN__CU_HOST_PORTABLE 1u
#define KILN__CU_HOST_MAPPED 2u
#define KILN__CU_LAUNCH_END 0

/* ---- cuda_target.c ---- */

kiln_status kiln__cuda_target(kiln__gpu_backend *backend, const char *name,
                              kiln_target *out, kiln_error **error);
kiln_status kiln__cuda_target_fits(const kiln__gpu_context *context,
                                   const char *target, const char *format,
                                   kiln_error **error);

extern const kiln__gpu_vendor kiln__cuda_vendor;
/* Makes the backend and its table. */
kiln_status kiln__cuda_backend_new(kiln_backend_ops *ops, void **self,
                                   kiln_context *context, kiln_error **error);

#endif /* KILN_CUDA_DRIVER_H */
