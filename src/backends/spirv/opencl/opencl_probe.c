/* opencl_probe.c - finds OpenCL devices and their properties. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/spirv/opencl/opencl.h"

/*
 * A device is used if it accepts modules, directly or as bitcode, and has
 * memory that is accessed by addresses. Anything else that it lacks is a
 * feature that its targets lack.
 */

#define PLATFORMS_MAX 16
#define DEVICES_MAX 64
#define EXTENSIONS_SIZE 8192

typedef struct asking {
    const kiln__opencl_api *api;
    cl_device_id id;
    char *extensions; /* the device's, separated by blanks */
} asking;

/* ---- asking ---- */

static void ask_text(const asking *a, cl_device_info what, char *text,
                     size_t capacity)
{
    text[0] = '\0';
    if (a->api->clGetDeviceInfo(a->id, what, capacity - 1, text, NULL) !=
        CL_SUCCESS)
        text[0] = '\0';
    text[capacity - 1] = '\0';
}

static uint64_t ask_number(const asking *a, cl_device_info what, size_t size)
{
    uint64_t number = 0;

    if (a->api->clGetDeviceInfo(a->id, what, size, &number, NULL) != CL_SUCCESS)
        return 0;
    return number;
}

static int has(const asking *a, const char *extension)
{
    const size_t size = strlen(extension);
    const char *at = a->extensions;

    while ((at = strstr(at, extension)) != NULL) {
        if ((at == a->extensions || at[-1] == ' ') &&
            (at[size] == ' ' || at[size] == '\0'))
            return 1;
        at += size;
    }
    return 0;
}

/* ---- capabilities ---- */

static void ask_version(kiln__opencl_facts *out, const asking *a)
{
    char text[128];
    char *end;

    ask_text(a, CL_DEVICE_VERSION, text, sizeof text);
    out->version = 0;
    if (strncmp(text, "OpenCL ", 7) != 0)
        return;
    out->version = 100 * (uint32_t)strtoul(text + 7, &end, 10);
    if (*end == '.')
        out->version += (uint32_t)strtoul(end + 1, NULL, 10);
}

/* Reads "SPIR-V_1.0 SPIR-V_1.2", the list of accepted intermediate
   languages. */
static uint32_t il_minors(const asking *a)
{
    static const char prefix[] = "SPIR-V_1.";
    char text[512];
    uint32_t minors = 0;

    ask_text(a, CL_DEVICE_IL_VERSION, text, sizeof text);
    for (const char *at = text; (at = strstr(at, prefix)) != NULL;) {
        at += sizeof prefix - 1;
        if (*at >= '0' && *at <= '9')
            minors |= 1u << (*at - '0');
    }
    return minors;
}

static void ask_modules(kiln__opencl_facts *out, const asking *a)
{
    const int takes_il =
        (out->version >= 201 && a->api->clCreateProgramWithIL != NULL) ||
        out->extensions.clCreateProgramWithILKHR != NULL;

    out->il_minors = takes_il ? il_minors(a) : 0;
    out->takes_bitcode = has(a, "cl_khr_spir");
    out->base.level.minor =
        out->takes_bitcode ? KILN__SPIRV_TRANSLATED_MINOR : 0;
    for (uint32_t minor = out->base.level.minor + 1;
         minor <= KILN__SPIRV_MINOR_MOST; minor++)
        if ((out->il_minors >> minor & 1) != 0)
            out->base.level.minor = minor;
}

/* Constants of cl_ext_float_atomics, which older headers lack. */
#define SINGLE_FP_ATOMICS 0x4231
#define DOUBLE_FP_ATOMICS 0x4232
#define FP_ATOMIC_ADD ((uint64_t)1 << 1 | (uint64_t)1 << 17)
#define FP_ATOMIC_MIN_MAX ((uint64_t)1 << 2 | (uint64_t)1 << 18)

/* True bits: supported in global and in local memory, for all of the device's
   floating-point types. */
static uint64_t float_atomics(const asking *a, uint64_t set)
{
    uint64_t able;
    uint64_t more = 0;

    if (!has(a, "cl_ext_float_atomics"))
        return 0;
    able = ask_number(a, SINGLE_FP_ATOMICS, sizeof(cl_bitfield));
    if ((set & KILN__SPIRV_BIT(FP64)) != 0)
        able &= ask_number(a, DOUBLE_FP_ATOMICS, sizeof(cl_bitfield));
    if ((able & FP_ATOMIC_ADD) == FP_ATOMIC_ADD)
        more |= KILN__SPIRV_BIT(ATOMIC_FLOAT_ADD);
    if ((able & FP_ATOMIC_MIN_MAX) == FP_ATOMIC_MIN_MAX)
        more |= KILN__SPIRV_BIT(ATOMIC_FLOAT_MIN_MAX);
    return more;
}

static int has_subgroups(const kiln__opencl_facts *facts, const asking *a)
{
    return has(a, "cl_khr_subgroups") ||
           (facts->version >= 201 &&
            ask_number(a, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(cl_uint)) > 0);
}

static void ask_features(kiln__opencl_facts *out, const asking *a)
{
    uint64_t set = 0;

    if (has(a, "cl_khr_fp16"))
        set |= KILN__SPIRV_BIT(FP16);
    if (has(a, "cl_khr_fp64") ||
        ask_number(a, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_ulong)) != 0)
        set |= KILN__SPIRV_BIT(FP64);
    if (has(a, "cl_khr_int64_base_atomics") &&
        has(a, "cl_khr_int64_extended_atomics"))
        set |= KILN__SPIRV_BIT(INT64_ATOMICS);
    if (has_subgroups(out, a))
        set |= KILN__SPIRV_BIT(SUBGROUPS);
    out->base.argument_bytes =
        ask_number(a, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t));
    out->base.local_bytes =
        ask_number(a, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
    if (out->base.argument_bytes >= KILN__SPIRV_LARGE_BYTES)
        set |= KILN__SPIRV_BIT(LARGE_ARGUMENTS);
    out->base.level.features = set | float_atomics(a, set);
}

static int has_shared(const kiln__opencl_api *api)
{
    return api->clSVMAlloc != NULL && api->clSVMFree != NULL &&
           api->clSetKernelArgSVMPointer != NULL &&
           api->clSetKernelExecInfo != NULL && api->clEnqueueSVMMemcpy != NULL;
}

static kiln__opencl_memory ask_memory(const kiln__opencl_facts *facts,
                                      const asking *a)
{
    const kiln__opencl_extensions *more = &facts->extensions;
    uint64_t shared = 0;

    if (facts->version >= 200 && has_shared(a->api))
        shared = ask_number(a, CL_DEVICE_SVM_CAPABILITIES,
                            sizeof(cl_device_svm_capabilities));
    if ((shared & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0)
        return KILN__OPENCL_MEMORY_FINE;
    if (has(a, "cl_intel_unified_shared_memory") &&
        more->clDeviceMemAllocINTEL != NULL &&
        more->clHostMemAllocINTEL != NULL && more->clMemFreeINTEL != NULL &&
        more->clSetKernelArgMemPointerINTEL != NULL &&
        more->clEnqueueMemcpyINTEL != NULL)
        return KILN__OPENCL_MEMORY_USM;
    if ((shared & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0)
        return KILN__OPENCL_MEMORY_COARSE;
    return KILN__OPENCL_MEMORY_NONE;
}

static void ask_extensions(kiln__opencl_facts *out, const asking *a)
{
    const struct {
        const char *name;
        size_t member;
    } functions[] = {
#define ENTRY(function) \
    {#function, offsetof(kiln__opencl_extensions, function)},
        KILN__OPENCL_EXTENSION_MAP(ENTRY)
#undef ENTRY
    };
    const int has_il = has(a, "cl_khr_il_program");
    const int has_usm = has(a, "cl_intel_unified_shared_memory");

    memset(&out->extensions, 0, sizeof out->extensions);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = NULL;

        /* the first function is from another extension than the rest */
        if (i == 0 ? has_il : has_usm)
            function = a->api->clGetExtensionFunctionAddressForPlatform(
                out->platform, functions[i].name);
        memcpy((char *)&out->extensions + functions[i].member, &function,
               sizeof function);
    }
}

/* ---- identity ---- */

static void ask_place(kiln__opencl_facts *out, const asking *a)
{
    cl_device_pci_bus_info_khr bus;

    memset(&out->base.place, 0, sizeof out->base.place);
    if (has(a, "cl_khr_device_uuid"))
        out->base.place.has_uuid =
            a->api->clGetDeviceInfo(a->id, CL_DEVICE_UUID_KHR,
                                    sizeof out->base.place.uuid,
                                    out->base.place.uuid, NULL) == CL_SUCCESS;
    if (has(a, "cl_khr_pci_bus_info") &&
        a->api->clGetDeviceInfo(a->id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof bus,
                                &bus, NULL) == CL_SUCCESS) {
        const uint32_t pci[4] = {bus.pci_domain, bus.pci_bus, bus.pci_device,
                                 bus.pci_function};

        out->base.place.has_pci = 1;
        memcpy(out->base.place.pci, pci, sizeof pci);
    }
}

static void ask_identity(kiln__opencl_facts *out, const asking *a)
{
    char platform[160] = "", platform_version[160] = "";
    char version[128], driver[64];

    (void)a->api->clGetPlatformInfo(out->platform, CL_PLATFORM_NAME,
                                    sizeof platform - 1, platform, NULL);
    (void)a->api->clGetPlatformInfo(out->platform, CL_PLATFORM_VERSION,
                                    sizeof platform_version - 1,
                                    platform_version, NULL);
    ask_text(a, CL_DEVICE_NAME, out->name, sizeof out->name);
    ask_text(a, CL_DEVICE_VERSION, version, sizeof version);
    ask_text(a, CL_DRIVER_VERSION, driver, sizeof driver);
    out->specialises = strcmp(platform, "Portable Computing Language") == 0;
    (void)snprintf(out->identity, sizeof out->identity,
                   "opencl; %s; %s; %s; %s; driver %s", platform,
                   platform_version, out->name, version, driver);
}

static void ask_sizes(kiln__opencl_facts *out, const asking *a)
{
    size_t sizes[16] = {0};
    const uint64_t dimensions =
        ask_number(a, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof(cl_uint));

    if (dimensions > 16 ||
        a->api->clGetDeviceInfo(a->id, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                                sizeof sizes, sizes, NULL) != CL_SUCCESS)
        sizes[0] = 1;
    for (int i = 0; i < 3; i++) {
        if (sizes[i] == 0)
            sizes[i] = 1;
        out->local_sizes[i] =
            sizes[i] < UINT32_MAX ? (uint32_t)sizes[i] : UINT32_MAX;
    }
}

/* ---- one device ---- */

static int judge(const kiln__opencl_facts *facts, char *reason, size_t capacity)
{
    const char *fault = NULL;

    if (facts->il_minors == 0 && !facts->takes_bitcode)
        fault = "takes neither SPIR-V nor its bitcode";
    else if (facts->memory == KILN__OPENCL_MEMORY_NONE)
        fault = "has no memory that is known by addresses (SVM, USM)";
    if (fault != NULL)
        (void)snprintf(reason, capacity, "%s %s", facts->name, fault);
    return fault == NULL;
}

int kiln__opencl_ask(kiln__opencl_facts *out, const kiln__opencl_api *api,
                     cl_device_id id, char *reason, size_t capacity)
{
    char extensions[EXTENSIONS_SIZE];
    const asking a = {api, id, extensions};

    memset(out, 0, sizeof *out);
    out->id = id;
    if (api->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof out->platform,
                             &out->platform, NULL) != CL_SUCCESS) {
        (void)snprintf(reason, capacity, "a device has no platform");
        return 0;
    }
    ask_text(&a, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    ask_version(out, &a);
    ask_extensions(out, &a);
    ask_modules(out, &a);
    ask_features(out, &a);
    out->memory = ask_memory(out, &a);
    ask_place(out, &a);
    ask_identity(out, &a);
    ask_sizes(out, &a);
    return judge(out, reason, capacity);
}

/* ---- all devices ---- */

static kiln_status add_devices(kiln__spirv_list *list,
                               const kiln__opencl_api *api,
                               cl_platform_id platform, cl_device_type type,
                               const kiln_alloc *alloc)
{
    cl_device_id ids[DEVICES_MAX];
    cl_uint count = 0;

    if (api->clGetDeviceIDs(platform, type, DEVICES_MAX, ids, &count) !=
        CL_SUCCESS)
        return KILN_OK;
    for (cl_uint i = 0; i < count && i < DEVICES_MAX; i++) {
        kiln__opencl_facts *facts =
            kiln__spirv_list_room(list, sizeof *facts, alloc);

        if (facts == NULL)
            return KILN_ENOMEM;
        list->count += kiln__opencl_ask(facts, api, ids[i], list->reason,
                                        sizeof list->reason) != 0;
    }
    return KILN_OK;
}

kiln_status kiln__opencl_probe(kiln__spirv_list *out,
                               const kiln__opencl_api *api,
                               const kiln_alloc *alloc)
{
    static const cl_device_type types[] = {
        CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    const cl_int code = api->clGetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    kiln_status status = KILN_OK;

    if (code != CL_SUCCESS)
        count = 0;
    (void)snprintf(out->reason, sizeof out->reason,
                   count == 0 ? "there is no platform"
                              : "no platform has a device");
    if (count > PLATFORMS_MAX)
        count = PLATFORMS_MAX;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (cl_uint p = 0; p < count && status == KILN_OK; p++)
            status = add_devices(out, api, platforms[p], types[i], alloc);
    return status;
}
