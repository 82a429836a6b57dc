/* level_zero_api.c - the functions of the Level Zero loader, and its codes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <string.h>

#include "backends/spirv/level_zero/level_zero.h"
#include "base/error.h"

kiln_status kiln__level_zero_api_open(kiln__level_zero_api *api, char *reason,
                                      size_t capacity)
{
    static const kiln__spirv_import imports[] = {
#define IMPORT(needed, function) \
    {#function, offsetof(kiln__level_zero_api, function), needed},
        KILN__LEVEL_ZERO_MAP(IMPORT)
#undef IMPORT
    };

    memset(api, 0, sizeof *api);
    return kiln__spirv_library_open(api, "libze_loader.so.1", imports,
                                    sizeof imports / sizeof *imports, reason,
                                    capacity);
}

/* ---- codes ---- */

#define CODE_MAP(X) \
    X(ZE_RESULT_NOT_READY) \
    X(ZE_RESULT_ERROR_DEVICE_LOST) \
    X(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY) \
    X(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY) \
    X(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE) \
    X(ZE_RESULT_ERROR_MODULE_LINK_FAILURE) \
    X(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET) \
    X(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE) \
    X(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS) \
    X(ZE_RESULT_ERROR_NOT_AVAILABLE) \
    X(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE) \
    X(ZE_RESULT_ERROR_UNINITIALIZED) \
    X(ZE_RESULT_ERROR_UNSUPPORTED_VERSION) \
    X(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) \
    X(ZE_RESULT_ERROR_INVALID_ARGUMENT) \
    X(ZE_RESULT_ERROR_INVALID_NULL_HANDLE) \
    X(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) \
    X(ZE_RESULT_ERROR_INVALID_NULL_POINTER) \
    X(ZE_RESULT_ERROR_INVALID_SIZE) \
    X(ZE_RESULT_ERROR_UNSUPPORTED_SIZE) \
    X(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT) \
    X(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT) \
    X(ZE_RESULT_ERROR_INVALID_ENUMERATION) \
    X(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION) \
    X(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY) \
    X(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME) \
    X(ZE_RESULT_ERROR_INVALID_KERNEL_NAME) \
    X(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME) \
    X(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION) \
    X(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION) \
    X(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX) \
    X(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE) \
    X(ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE) \
    X(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED) \
    X(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE) \
    X(ZE_RESULT_ERROR_OVERLAPPING_REGIONS) \
    X(ZE_RESULT_ERROR_UNKNOWN)

const char *kiln__level_zero_code_name(ze_result_t code)
{
    static const struct {
        ze_result_t code;
        const char *name;
    } codes[] = {
#define CODE(name) {name, #name},
        CODE_MAP(CODE)
#undef CODE
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return codes[i].name;
    return "";
}

kiln_status kiln__level_zero_status(ze_result_t code)
{
    if (code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY ||
        code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
        return KILN_ENOMEM;
    if (code == ZE_RESULT_ERROR_UNINITIALIZED)
        return KILN_ENODEVICE;
    return code == ZE_RESULT_SUCCESS ? KILN_OK : KILN_EDEVICE;
}

kiln_status kiln__level_zero_failed(kiln_error **error, ze_result_t code,
                                    const char *what)
{
    return kiln__error_set(error, kiln__level_zero_status(code),
                           "Level Zero: %s: %s (%#x)", what,
                           kiln__level_zero_code_name(code), (unsigned)code);
}
