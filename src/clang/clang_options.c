/* clang_options.c - OpenCL's compiler options, as arguments for clang. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "clang/clang_job.h"

/* Passed on as they are. */
static const char *const passed[] = {"-cl-fast-relaxed-math",
                                     "-cl-mad-enable",
                                     "-cl-no-signed-zeros",
                                     "-cl-unsafe-math-optimizations",
                                     "-cl-single-precision-constant",
                                     "-w",
                                     "-Werror"};

/* Kiln's own settings decide about these, and it keeps subnormal numbers. */
static const char *const accepted[] = {"-cl-denorms-are-zero",
                                       "-cl-opt-disable",
                                       "-cl-kernel-arg-info",
                                       "-cl-uniform-work-group-size",
                                       "-cl-fp32-correctly-rounded-divide-sqrt",
                                       "-cl-strict-aliasing"};

static const char *const standards[] = {"CL1.0", "CL1.1", "CL1.2", "CL2.0",
                                        "CL3.0"};

/* Allocas have no names, so that renaming a variable changes no module. A
   program asks by macros which version the device has, and whether there are
   images. A format that printf() does not have is an error where the text has
   it. */
static const char *const always[] = {"-triple",
                                     "spir64-unknown-unknown",
                                     "-x",
                                     "cl",
                                     "-fdeclare-opencl-builtins",
                                     "-O2",
                                     "-disable-llvm-passes",
                                     "-discard-value-names",
                                     "-ferror-limit",
                                     "20",
                                     "-fbracket-depth",
                                     "256",
                                     "-Werror=format-invalid-specifier",
                                     "-Werror=format-insufficient-args",
                                     "-nobuiltininc",
                                     "-nostdsysteminc",
                                     "-include",
                                     KILN__CLANG_BASE_PATH,
                                     "-D__OPENCL_VERSION__=120",
                                     "-U__IMAGE_SUPPORT__",
                                     "-U__opencl_c_images",
                                     "-U__opencl_c_pipes",
                                     "-U__SPIR__",
                                     "-U__SPIR64__"};

/* Every extension and feature that is there; types come with the target. Images
   and pipes are not there, and no program is told that they are: but OpenCL C
   3.0 would not even know their types, and then none of a text's kernels could
   be used. */
#define EXTENSIONS \
    "-cl-ext=-all,+cl_khr_byte_addressable_store," \
    "+cl_khr_global_int32_base_atomics," \
    "+cl_khr_global_int32_extended_atomics," \
    "+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics," \
    "+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics," \
    "+cl_clang_storage_class_specifiers,+__opencl_c_atomic_order_acq_rel," \
    "+__opencl_c_atomic_order_seq_cst,+__opencl_c_atomic_scope_device," \
    "+__opencl_c_atomic_scope_all_devices,+__opencl_c_generic_address_space," \
    "+__opencl_c_work_group_collective_functions,+cl_khr_subgroups," \
    "+__opencl_c_subgroups,+cl_khr_subgroup_ballot," \
    "+cl_khr_subgroup_shuffle,+cl_khr_subgroup_shuffle_relative," \
    "+__opencl_c_images,+__opencl_c_pipes"

static void add(kiln__clang_arguments *out, const char *word)
{
    out->words[out->count++] = word;
}

/* Takes the value of -D, -U or -I, which may be the next option. */
static kiln_status take_value(kiln__clang_arguments *out, kiln__clang_job *job,
                              size_t *at)
{
    const kiln__source_request *request = job->request;
    const char *word = request->options[*at];

    add(out, word);
    if (word[2] != '\0')
        return KILN_OK;
    if (++*at == request->option_count)
        return kiln__clang_fail(job, KILN_EINVAL, "%s lacks its value", word);
    add(out, request->options[*at]);
    return KILN_OK;
}

static kiln_status take_option(kiln__clang_arguments *out, kiln__clang_job *job,
                               size_t *at)
{
    static const char standard[] = "-cl-std=";
    const char *word = job->request->options[*at];

    if (word[0] == '-' && word[1] != '\0' && strchr("DUI", word[1]) != NULL)
        return take_value(out, job, at);
    if (strncmp(word, standard, sizeof standard - 1) == 0) {
        if (!KILN__CLANG_LISTS(standards, word + sizeof standard - 1))
            return kiln__clang_fail(
                job, KILN_EINVAL,
                "%s: the versions are CL1.0 to CL1.2, CL2.0 and CL3.0", word);
        add(out, word);
        return KILN_OK;
    }
    if (strcmp(word, "-g") == 0) {
        add(out, "-debug-info-kind=limited");
        add(out, "-dwarf-version=5");
        return KILN_OK;
    }
    if (strcmp(word, "-cl-finite-math-only") == 0) {
        /* By itself the option only defines a macro. */
        add(out, "-menable-no-nans");
        add(out, "-menable-no-infs");
        return KILN_OK;
    }
    if (KILN__CLANG_LISTS(passed, word))
        add(out, word);
    else if (!KILN__CLANG_LISTS(accepted, word))
        return kiln__clang_fail(job, KILN_EINVAL,
                                "%s is no option for OpenCL C", word);
    return KILN_OK;
}

int kiln__clang_groups_differ(const kiln__source_request *request)
{
    static const char *const later[] = {"-cl-std=CL2.0", "-cl-std=CL3.0"};
    int differ = 0;

    for (size_t i = 0; i < request->option_count; i++) {
        const char *word = request->options[i];

        if (strcmp(word, "-cl-uniform-work-group-size") == 0)
            return 0;
        if (strncmp(word, "-cl-std=", 8) == 0)
            differ = KILN__CLANG_LISTS(later, word);
        if (strcmp(word, "-D") == 0 || strcmp(word, "-U") == 0 ||
            strcmp(word, "-I") == 0)
            i++; /* its value */
    }
    return differ;
}

static const char *extensions(kiln__clang_job *job)
{
    return kiln__arena_format(
        &job->out->arena, EXTENSIONS "%s%s",
        job->request->has_f64 ? ",+cl_khr_fp64,+__opencl_c_fp64" : "",
        job->request->has_f16 ? ",+cl_khr_fp16" : "");
}

kiln_status kiln__clang_arguments_read(kiln__clang_arguments *out,
                                       kiln__clang_job *job)
{
    const kiln__source_request *request = job->request;
    const size_t fixed = sizeof always / sizeof *always;

    /* No option becomes more than two words. */
    *out = (kiln__clang_arguments){
        kiln__arena_allocate_array(&job->out->arena,
                                   fixed + 2 + 2 * request->option_count,
                                   sizeof *out->words),
        0};
    if (out->words == NULL)
        return KILN_ENOMEM;
    for (size_t i = 0; i < fixed; i++)
        add(out, always[i]);
    add(out, extensions(job));
    for (size_t i = 0; i < request->option_count; i++)
        KILN_TRY(take_option(out, job, &i));
    return job->out->arena.failed ? KILN_ENOMEM : KILN_OK;
}
