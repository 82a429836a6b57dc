/* gpu_error.c - the meaning of a driver's results. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdarg.h>
#include <stdio.h>

#include "backends/gpu/gpu.h"
#include "base/error.h"

/*
 * HIP has the numbers of CUDA under its own names. A result that is not listed
 * is KILN_EDEVICE and may not occur the next time. A lasting failure has
 * destroyed everything that the process has on the device.
 */
static const struct meaning {
    kiln__gpu_result result;
    kiln_status status;
    int is_lasting;
    const char *text;
} meanings[] = {
    {2, KILN_ENOMEM, 0, "out of memory"},
    {34, KILN_ENODEVICE, 0, "the library is a stub"},
    {35, KILN_ENODEVICE, 0, "the driver is too old"},
    {46, KILN_ENODEVICE, 0, "the device is taken"},
    {100, KILN_ENODEVICE, 0, "no device"},
    {101, KILN_ENODEVICE, 0, "no such device"},
    {200, KILN_ECORRUPT, 0, "the image is invalid"},
    {209, KILN_ENODEVICE, 0, "no code for this device"},
    {214, KILN_EDEVICE, 1, "an uncorrectable memory error"},
    {218, KILN_ECORRUPT, 0, "the image or text is invalid"},
    {220, KILN_EDEVICE, 1, "an uncorrectable error of a link"},
    {221, KILN_ENODEVICE, 0, "the driver's compiler is missing"},
    {222, KILN_ENODEVICE, 0, "the driver is too old for this PTX"},
    {223, KILN_ENODEVICE, 0, "the driver's compiler is switched off"},
    {300, KILN_ECORRUPT, 0, "the text is invalid"},
    {700, KILN_EDEVICE, 1, "an illegal address"},
    {702, KILN_EDEVICE, 1, "a launch ran too long"},
    {709, KILN_EDEVICE, 1, "the context was destroyed"},
    {710, KILN_EDEVICE, 1, "an assertion on the device"},
    {714, KILN_EDEVICE, 1, "an error of the hardware's stack"},
    {715, KILN_EDEVICE, 1, "an illegal instruction"},
    {716, KILN_EDEVICE, 1, "a misaligned address"},
    {717, KILN_EDEVICE, 1, "an address of the wrong kind"},
    {718, KILN_EDEVICE, 1, "an invalid program counter"},
    {719, KILN_EDEVICE, 1, "a launch failed"},
    {801, KILN_EUNSUPPORTED, 0, "not supported"},
    {802, KILN_ENODEVICE, 0, "the system is not ready"},
    {803, KILN_ENODEVICE, 0, "driver and library do not fit"},
    {804, KILN_ENODEVICE, 0, "the library does not know this device"},
    {900, KILN_EBUSY, 0, "not during a capture"},
    {901, KILN_EBUSY, 0, "the capture was ended by an error"},
    {904, KILN_EBUSY, 0, "not during a capture"},
    {905, KILN_EBUSY, 0, "not during a capture"},
    {906, KILN_EBUSY, 0, "not during a capture"},
    {908, KILN_EBUSY, 0, "another thread is capturing"},
};

static const struct meaning *find_meaning(kiln__gpu_result result)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].result == result)
            return &meanings[i];
    return NULL;
}

void kiln__gpu_result_text(char *text, size_t size, const kiln__gpu_api *api,
                           kiln__gpu_result result)
{
    const struct meaning *known = find_meaning(result);
    const char *name = NULL, *words = NULL;

    if (api->error_name == NULL || api->error_name(result, &name) != 0)
        name = NULL;
    if (api->error_text == NULL || api->error_text(result, &words) != 0)
        words = NULL;
    if (words == NULL)
        words = known != NULL ? known->text : "unknown";
    if (name != NULL)
        (void)snprintf(text, size, "%s (%s)", name, words);
    else
        (void)snprintf(text, size, "error %d (%s)", (int)result, words);
}

kiln_status kiln__gpu_result_status(kiln__gpu_result result, int *is_lasting)
{
    const struct meaning *known = find_meaning(result);

    *is_lasting = known != NULL && known->is_lasting;
    return known != NULL ? known->status : KILN_EDEVICE;
}

/* A missing device stays missing. A system that is not ready becomes ready, and
   a device that is in use is released. */
int kiln__gpu_result_may_pass(kiln__gpu_result result)
{
    const struct meaning *known = find_meaning(result);

    return known == NULL || known->status != KILN_ENODEVICE || result == 46 ||
           result == 802;
}

kiln_status kiln__gpu_fail(kiln__gpu_context *context, kiln__gpu_result result,
                           kiln_error **error, const char *format, ...)
{
    int is_lasting;
    const kiln_status status = kiln__gpu_result_status(result, &is_lasting);
    int32_t alive = 0;
    char what[512], text[512];
    va_list arguments;

    if (is_lasting)
        (void)atomic_compare_exchange_strong(&context->lost, &alive, result);
    if (error == NULL)
        return status;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    kiln__gpu_result_text(text, sizeof text, context->api, result);
    return kiln__error_set(
        error, status, "%s: %s: %s%s", context->backend->vendor->name, what,
        text,
        is_lasting ? "; the device takes no more work in this process" : "");
}

kiln_status kiln__gpu_check_process(const kiln__gpu_context *context,
                                    kiln_error **error)
{
    const kiln__gpu_backend *backend = context->backend;

    if (!backend->is_child)
        return KILN_OK;
    return kiln__error_set(error, KILN_EDEVICE,
                           "%s: the driver was opened before fork(): devices "
                           "stay with the parent",
                           backend->vendor->name);
}

kiln_status kiln__gpu_check(const kiln__gpu_context *context,
                            kiln_error **error)
{
    const int32_t lost =
        atomic_load_explicit(&context->lost, memory_order_relaxed);
    char text[512];

    KILN_TRY(kiln__gpu_check_process(context, error));
    if (lost == 0)
        return KILN_OK;
    kiln__gpu_result_text(text, sizeof text, context->api, lost);
    return kiln__error_set(error, KILN_EDEVICE,
                           "%s: device %s failed before: %s; it takes no more "
                           "work in this process",
                           context->backend->vendor->name, context->name, text);
}
