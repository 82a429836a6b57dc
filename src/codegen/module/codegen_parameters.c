/* codegen_parameters.c - how the arguments of a kernel are passed to code. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdbool.h>
#include <string.h>

#include "abi/scalars.h"
#include "base/error.h"
#include "codegen/module/codegen_stages.h"

/*
 * The types are read from their text. The text of a type is canonical
 * (kiln_type_text): a scalar is its name, and an array ends in "[:]", "[:, :]"
 * or, strided, in "[strided :]". Nothing else ends in a bracket, and everything
 * else is passed as bytes.
 */

static bool read_scalar(kiln__parameter *out, const char *text)
{
    const int32_t kind = kiln__scalar_named(text, strlen(text));

    *out = (kiln__parameter){
        .passing = KILN__PARAMETER_SCALAR,
        .kind = kind,
        .size = kiln__kind_bytes(kind),
        .alignment = kiln__kind_bytes(kind),
    };
    return kind != KILN_TYPE_NONE;
}

static bool read_array(kiln__parameter *out, const char *text)
{
    static const char strided[] = "strided";
    const char *p = strrchr(text, '[');
    uint32_t words;

    if (p == NULL || text[strlen(text) - 1] != ']')
        return false;
    *out = (kiln__parameter){
        .passing = KILN__PARAMETER_ARRAY,
        .alignment = 8,
    };
    p++;
    if (strncmp(p, strided, sizeof strided - 1) == 0) {
        out->strided = 1;
        p += sizeof strided - 1;
    }
    for (; *p != ']'; p++) {
        if (*p == ':')
            out->rank++;
        else if (*p != ',' && *p != ' ')
            return false;
    }
    words = out->strided != 0 ? 2 * out->rank : out->rank;
    out->size = 8 + 8 * (uint64_t)words;
    return p[1] == '\0' && out->rank >= 1 && out->rank <= KILN_RANK_MAX;
}

static kiln_status read_bytes(kiln__codegen_job *job, kiln__parameter *out,
                              size_t index)
{
    const kiln__codegen_request *request = job->request;
    uint64_t alignment;

    *out = (kiln__parameter){
        .passing = KILN__PARAMETER_EMPTY,
        .alignment = 1,
    };
    if (request->argument_sizes != NULL && request->argument_sizes[index] == 0)
        return KILN_OK;
    if (request->argument_sizes == NULL || request->argument_alignments == NULL)
        return kiln__job_fail(job, KILN_EINVAL,
                              "argument %zu: no size and alignment of %s",
                              index + 1, request->argument_types[index]);
    alignment = request->argument_alignments[index];
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 ||
        alignment > 4096)
        return kiln__job_fail(
            job, KILN_EINVAL, "argument %zu: alignment %llu of %s", index + 1,
            (unsigned long long)alignment, request->argument_types[index]);
    out->passing = KILN__PARAMETER_BYTES;
    out->size = request->argument_sizes[index];
    out->alignment = (uint32_t)alignment;
    return KILN_OK;
}

kiln_status kiln__parameters_read(kiln__codegen_job *job)
{
    const size_t count = job->request->argument_count;

    job->parameters = kiln__arena_allocate_array(&job->arena, count + 1,
                                                 sizeof *job->parameters);
    if (job->parameters == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    job->parameter_count = count;
    for (size_t i = 0; i < count; i++) {
        const char *text = job->request->argument_types[i];

        if (!read_scalar(&job->parameters[i], text) &&
            !read_array(&job->parameters[i], text))
            KILN_TRY(read_bytes(job, &job->parameters[i], i));
    }
    return KILN_OK;
}

size_t kiln__parameter_words(const kiln__parameter *parameter)
{
    if (parameter->passing == KILN__PARAMETER_EMPTY)
        return 0;
    if (parameter->passing != KILN__PARAMETER_ARRAY)
        return 1;
    return 1 + (size_t)parameter->rank * (parameter->strided != 0 ? 2 : 1);
}

/* At most one pointer, KILN_RANK_MAX sizes and as many strides. */
#define FLAT_MAX (1 + 2 * KILN_RANK_MAX)

static size_t flatten(const kiln__codegen_job *job, const kiln__parameter *from,
                      LLVMTypeRef out[FLAT_MAX])
{
    const size_t words = kiln__parameter_words(from);

    switch (from->passing) {
    case KILN__PARAMETER_SCALAR:
        out[0] = from->kind == KILN_TYPE_BOOL
                     ? LLVMInt8TypeInContext(job->context)
                     : kiln__job_scalar(job, from->kind);
        return 1;
    case KILN__PARAMETER_BYTES:
        out[0] = kiln__job_bytes_pointer(job);
        return 1;
    case KILN__PARAMETER_ARRAY:
        out[0] = kiln__job_array_pointer(job);
        for (size_t i = 1; i < words; i++)
            out[i] = kiln__job_i64(job);
        return words;
    default:
        return 0;
    }
}

LLVMTypeRef kiln__parameters_function_type(kiln__codegen_job *job)
{
    LLVMTypeRef *types = kiln__arena_allocate_array(
        &job->arena, 1 + FLAT_MAX * job->parameter_count, sizeof(LLVMTypeRef));
    size_t count = 0;

    if (types == NULL)
        return NULL;
    types[count++] = kiln__job_item_pointer(job);
    for (size_t i = 0; i < job->parameter_count; i++)
        count += flatten(job, &job->parameters[i], types + count);
    return LLVMFunctionType(kiln__job_i32(job), types, (unsigned)count, 0);
}

uint64_t kiln__parameter_place(const kiln__parameter *parameter, uint64_t *end)
{
    const uint64_t mask = (uint64_t)parameter->alignment - 1;
    const uint64_t offset = (*end + mask) & ~mask;

    *end = offset + parameter->size;
    return offset;
}
