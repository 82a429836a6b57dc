/* codegen_debug.c - line tables of the code that Kiln lowered itself. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "codegen/module/codegen_stages.h"
#include "ir/ir_tables.h"
#include "kiln/config.h"
#include "kiln/type.h"

/*
 * Each module of a job has its own builder, made when the module's first
 * function is described. A function that Kiln did not lower in this job, such
 * as a runtime function, has no lines: after inlining, its code has the lines
 * of its caller.
 */

struct kiln__debug {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef unit;
    /* one for all: nobody looks at types of functions */
    LLVMMetadataRef signature;
};

/* LLVM has one more kind than its C interface names: line directives in
   assembly and no sections. PTX with sections would mean code for a
   debugger. */
#define DIRECTIVES_ONLY ((LLVMDWARFEmissionKind)3)

#define TEXT_DWARF 2 /* the version that PTX takes */

static LLVMDWARFEmissionKind kind_of(const kiln__codegen_job *job)
{
    if (job->settings->debug_level >= KILN_DEBUG_FULL)
        return LLVMDWARFEmissionFull;
    return job->backend->emits_text ? DIRECTIVES_ONLY
                                    : LLVMDWARFEmissionLineTablesOnly;
}

/* A module of another language that was linked in may have it already. */
static void add_flag(const kiln__codegen_job *job, const char *name,
                     unsigned value)
{
    const LLVMTypeRef i32 = kiln__job_i32(job);

    if (LLVMGetModuleFlag(job->module, name, strlen(name)) != NULL)
        return;
    LLVMAddModuleFlag(job->module, LLVMModuleFlagBehaviorWarning, name,
                      strlen(name),
                      LLVMValueAsMetadata(LLVMConstInt(i32, value, 0)));
}

static LLVMMetadataRef file_of(const struct kiln__debug *debug,
                               const char *file)
{
    return LLVMDIBuilderCreateFile(debug->builder, file, strlen(file), "", 0);
}

static struct kiln__debug *begin_lines(kiln__codegen_job *job, const char *path)
{
    struct kiln__debug *debug =
        kiln__arena_allocate(&job->arena, sizeof *debug);
    LLVMMetadataRef file;

    if (debug == NULL)
        return NULL;
    debug->builder = LLVMCreateDIBuilder(job->module);
    file = file_of(debug, path);
    debug->unit = LLVMDIBuilderCreateCompileUnit(
        debug->builder, LLVMDWARFSourceLanguageC, file, KILN__LLVM_PRODUCER,
        sizeof KILN__LLVM_PRODUCER - 1, job->settings->opt_level > 0, "", 0, 0,
        "", 0, kind_of(job), 0, 1, 0, "", 0, "", 0);
    debug->signature = LLVMDIBuilderCreateSubroutineType(
        debug->builder, file, NULL, 0, LLVMDIFlagZero);
    add_flag(job, "Debug Info Version", LLVMDebugMetadataVersion());
    if (job->backend->emits_text)
        add_flag(job, "Dwarf Version", TEXT_DWARF);
    job->debug = debug;
    return debug;
}

static struct kiln__debug *debug_of(kiln__codegen_job *job,
                                    const kiln__codegen_function *source)
{
    if (job->settings->debug_level == KILN_DEBUG_NONE || source->file == NULL ||
        source->place_count == 0 || source->runtime != NULL)
        return NULL;
    return job->debug != NULL ? job->debug : begin_lines(job, source->file);
}

LLVMMetadataRef kiln__debug_function(kiln__codegen_job *job,
                                     LLVMValueRef function,
                                     const kiln__codegen_function *source)
{
    const struct kiln__debug *debug = debug_of(job, source);
    const unsigned line = debug != NULL ? source->places[0].line : 0;
    LLVMMetadataRef subprogram;
    size_t size;
    const char *name = LLVMGetValueName2(function, &size);

    if (debug == NULL)
        return NULL;
    subprogram = LLVMDIBuilderCreateFunction(
        debug->builder, debug->unit, source->symbol, strlen(source->symbol),
        name, size, file_of(debug, source->file), line, debug->signature, 1, 1,
        line, LLVMDIFlagZero, job->settings->opt_level > 0);
    LLVMSetSubprogram(function, subprogram);
    return subprogram;
}

LLVMMetadataRef kiln__debug_place(const kiln__codegen_job *job,
                                  LLVMMetadataRef subprogram,
                                  const kiln__codegen_function *source,
                                  uint32_t ordinal)
{
    const kiln__codegen_place *place;

    if (subprogram == NULL || ordinal >= source->place_count)
        return NULL;
    place = &source->places[ordinal];
    return LLVMDIBuilderCreateDebugLocation(job->context, place->line,
                                            place->column, subprogram, NULL);
}

void kiln__debug_wrapper(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef function)
{
    const kiln__codegen_function *entry = job->request->functions;
    LLVMMetadataRef subprogram;

    if (job->request->module != NULL || job->request->function_count == 0)
        return;
    subprogram = kiln__debug_function(job, function, entry);
    if (subprogram != NULL)
        LLVMSetCurrentDebugLocation2(
            builder, kiln__debug_place(job, subprogram, entry, 0));
}

/* ---- variables ---- */

static LLVMMetadataRef scalar_type(const struct kiln__debug *debug,
                                   int32_t kind)
{
    const unsigned width = kiln__kind_width(kind);
    /* These are DWARF's DW_ATE_boolean, _float, _signed and _unsigned. */
    const LLVMDWARFTypeEncoding encoding = kind == KILN_TYPE_BOOL       ? 2
                                           : kiln__kind_is_float(kind)  ? 4
                                           : kiln__kind_is_signed(kind) ? 5
                                                                        : 7;

    return LLVMDIBuilderCreateBasicType(
        debug->builder, kiln__kind_name(kind), strlen(kiln__kind_name(kind)),
        width < 8 ? 8 : width, encoding, LLVMDIFlagZero);
}

void kiln__debug_variable(const kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMMetadataRef subprogram,
                          const kiln__codegen_function *source,
                          const kiln__debug_local *local)
{
    const struct kiln__debug *debug = job->debug;
    LLVMMetadataRef variable;

    if (subprogram == NULL || debug == NULL ||
        job->settings->debug_level < KILN_DEBUG_FULL ||
        !kiln__kind_is_scalar(local->kind) || local->name == NULL)
        return;
    variable = LLVMDIBuilderCreateAutoVariable(
        debug->builder, subprogram, local->name, strlen(local->name),
        file_of(debug, source->file), source->places[0].line,
        scalar_type(debug, local->kind), 1, LLVMDIFlagZero, 0);
    LLVMDIBuilderInsertDeclareRecordAtEnd(
        debug->builder, local->address, variable,
        LLVMDIBuilderCreateExpression(debug->builder, NULL, 0),
        kiln__debug_place(job, subprogram, source, 0),
        LLVMGetInsertBlock(builder));
}

/* ---- the end ---- */

static void end(struct kiln__debug **debug)
{
    if (*debug == NULL)
        return;
    LLVMDIBuilderFinalize((*debug)->builder);
    LLVMDisposeDIBuilder((*debug)->builder);
    *debug = NULL;
}

void kiln__debug_take(kiln__codegen_job *job)
{
    const kiln__llvm_lines how = {
        .kind = kind_of(job),
        .dwarf_version = job->backend->emits_text ? TEXT_DWARF : 0,
        .is_optimised = job->settings->opt_level > 0,
    };

    if (job->settings->debug_level == KILN_DEBUG_NONE)
        return;
    kiln__llvm_take_lines(job->module, &how);
    if (job->checked_module != NULL)
        kiln__llvm_take_lines(job->checked_module, &how);
}

void kiln__debug_end(kiln__codegen_job *job)
{
    end(&job->debug);
    end(&job->checked_debug);
}
