/* fake_ze.h - a Level Zero driver for tests, on top of OpenCL. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAKE_ZE_H
#define KILN_TESTS_FAKE_ZE_H

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

#include "backends/spirv/opencl/opencl.h"

/*
 * The real loader opens this driver (ZE_ENABLE_ALT_DRIVERS) and asks for its
 * tables of functions. It has one device: OpenCL's first one with memory that
 * both sides see. Functions that Kiln does not call are missing.
 */
typedef struct fake_device {
    kiln_context *kiln; /* for the translator */
    kiln__opencl_api api;
    kiln__spirv_list list;           /* of lists of kiln__opencl_facts */
    const kiln__opencl_facts *facts; /* NULL: there is no device */
    cl_context context;
} fake_device;

/* Returns the device, which the first call looks for. */
fake_device *fake_device_get(void);

ze_result_t fake_result(cl_int code);

typedef struct fake_module {
    uint32_t *words; /* words of its SPIR-V */
    size_t size;     /* in bytes */
    ze_context_handle_t context;
    cl_program program;
} fake_module;

typedef struct fake_kernel {
    cl_kernel native;
    ze_context_handle_t context;
    uint32_t parameters;
    uint8_t is_pointer[64]; /* by parameter */
    size_t group[3];
} fake_kernel;

typedef struct fake_list {
    cl_command_queue queue;
    ze_context_handle_t context;
    int is_synchronous;
    struct fake_list *next;
} fake_list;

/* An event is signalled when its marker has completed. */
typedef struct fake_event {
    cl_command_queue queue;
    cl_event marker; /* NULL: nothing signals it yet */
} fake_event;

/* ---- fake_ze_module.c ---- */
void fake_module_table(ze_module_dditable_t *table);
void fake_build_log_table(ze_module_build_log_dditable_t *table);
void fake_kernel_table(ze_kernel_dditable_t *table);

/* ---- fake_ze_list.c ---- */
void fake_list_table(ze_command_list_dditable_t *table);
void fake_event_table(ze_event_dditable_t *table);
void fake_event_pool_table(ze_event_pool_dditable_t *table);
void fake_memory_table(ze_mem_dditable_t *table);

#endif /* KILN_TESTS_FAKE_ZE_H */
