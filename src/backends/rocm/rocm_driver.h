/* rocm_driver.h - constants of the HIP runtime, and targets of ROCm. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ROCM_DRIVER_H
#define KILN_ROCM_DRIVER_H

#include "backends/gpu/gpu.h"

/* Constants of the runtime's binary interface, unchanged since ROCm 5. */
#define KILN__HIP_ATTRIBUTE_MAJOR 23
#define KILN__HIP_ATTRIBUTE_BLOCK_X 26
#define KILN__HIP_ATTRIBUTE_GRID_X 29
#define KILN__HIP_ATTRIBUTE_THREADS 56
#define KILN__HIP_ATTRIBUTE_MINOR 61
#define KILN__HIP_ATTRIBUTE_LOCAL 74
#define KILN__HIP_ATTRIBUTE_WIDTH 87
#define KILN__HIP_HOST_PORTABLE 0x1u
#define KILN__HIP_HOST_MAPPED 0x2u
#define KILN__HIP_HOST_COHERENT 0x40000000u
#define KILN__HIP_LAUNCH_END 3

/* ---- rocm_target.c ---- */

kiln_status kiln__rocm_target(kiln__gpu_backend *backend, const char *name,
                              kiln_target *out, kiln_error **error);
kiln_status kiln__rocm_target_fits(const kiln__gpu_context *context,
                                   const char *target, const char *format,
                                   kiln_error **error);
/* Finds "gfx90a:sramecc+:xnack-" in a driver's properties of a device; "" if it
   is not there. */
void kiln__rocm_architecture(char *out, size_t size, const char *properties,
                             size_t properties_size);

extern const kiln__gpu_vendor kiln__rocm_vendor;
/* Makes the backend and its table. */
kiln_status kiln__rocm_backend_new(kiln_backend_ops *ops, void **self,
                                   kiln_context *context, kiln_error **error);

#endif /* KILN_ROCM_DRIVER_H */
