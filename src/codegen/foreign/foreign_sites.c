/* foreign_sites.c - objects and functions of the host that a module refers
   to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"
#include "kiln/sys/frontend.h"

/*
 * A module declares a site as a global of the site's name. LLVM assumes much
 * about globals: that two of them differ, that none is null. For host objects
 * all of that may be false, so these globals are removed before optimisation.
 * Where sites are resolved, each use becomes the address, a constant. Where
 * they are patched, it becomes a load from a slot, with one load at the start
 * of each function that needs it.
 *
 * During the passes the table of slots is a constant that is defined elsewhere.
 * So LLVM may move and merge loads as if nobody ever wrote to the table, but
 * can assume nothing about the values. After the passes the table is defined,
 * as zeros that are "initialised elsewhere", in a section of its own; the
 * payload is then searched for this section. If the passes left no use of the
 * table, the code depends on no site.
 */

#define SLOT_SIZE 8
#define TABLE "kiln.sites"

/* A site that the module uses. */
typedef struct used_site {
    const kiln__codegen_site *site;
    LLVMValueRef global;
} used_site;

typedef struct binding {
    kiln__codegen_job *job;
    used_site *used;
    size_t count;
    LLVMValueRef table; /* NULL: the addresses are known */
} binding;

static kiln_status refuse_site(kiln__codegen_job *job, const char *name,
                               const char *why)
{
    return kiln__job_fail(job, KILN_ECODEGEN, "site \"%s\": %s", name, why);
}

static const char *site_name(LLVMValueRef global)
{
    const size_t prefix = sizeof KILN__SITE_PREFIX - 1;
    size_t size;
    const char *name = LLVMGetValueName2(global, &size);

    return strncmp(name, KILN__SITE_PREFIX, prefix) == 0 ? name + prefix : NULL;
}

static const kiln__codegen_site *find_site(const kiln__codegen_job *job,
                                           const char *name)
{
    for (size_t i = 0; i < job->request->site_count; i++)
        if (strcmp(job->request->sites[i].name, name) == 0)
            return &job->request->sites[i];
    return NULL;
}

int kiln__foreign_is_site(const kiln__codegen_job *job, LLVMValueRef global)
{
    const char *name = site_name(global);

    return name != NULL && find_site(job, name) != NULL;
}

/* ---- which declarations are allowed ---- */

static kiln_status check_global(kiln__codegen_job *job, LLVMValueRef global,
                                const kiln__codegen_site *site)
{
    const int is_function = LLVMIsAFunction(global) != NULL;

    if (is_function != (site->kind == KILN_SITE_FUNCTION))
        return refuse_site(job, site->name,
                           is_function
                               ? "it was named as an object and is declared "
                                 "as a function"
                               : "it was named as a function and is "
                                 "declared as a variable");
    if (!LLVMIsDeclaration(global))
        return refuse_site(job, site->name, "the module may not define it");
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != 0)
        return refuse_site(job, site->name, "it is in another address space");
    if (!is_function && LLVMIsThreadLocal(global))
        return refuse_site(job, site->name, "it is thread-local");
    if (is_function && LLVMGetFunctionCallConv(global) != LLVMCCallConv)
        return refuse_site(job, site->name,
                           "it has not C's calling convention");
    return KILN_OK;
}

/* Checks the uses of a site. Constant expressions become instructions; uses in
   an initialiser are refused. */
static kiln_status check_uses(kiln__codegen_job *job, LLVMValueRef global,
                              const kiln__codegen_site *site)
{
    LLVMUseRef use;

    kiln__llvm_expand_users(global);
    for (use = LLVMGetFirstUse(global); use != NULL; use = LLVMGetNextUse(use))
        if (LLVMIsAInstruction(LLVMGetUser(use)) == NULL)
            return refuse_site(job, site->name,
                               "the initialiser of a variable names it");
    return KILN_OK;
}

static LLVMValueRef find_global(const kiln__codegen_job *job,
                                const char *prefixed)
{
    LLVMValueRef variable = LLVMGetNamedGlobal(job->module, prefixed);

    return variable != NULL ? variable
                            : LLVMGetNamedFunction(job->module, prefixed);
}

static void delete_global(LLVMValueRef global)
{
    if (LLVMIsAFunction(global) != NULL)
        LLVMDeleteFunction(global);
    else
        LLVMDeleteGlobal(global);
}

/* Lists the sites that the module uses, in the request's order. */
static kiln_status find_used(binding *b)
{
    kiln__codegen_job *job = b->job;

    for (size_t i = 0; i < job->request->site_count; i++) {
        const kiln__codegen_site *site = &job->request->sites[i];
        const char *name = kiln__arena_format(&job->arena, "%s%s",
                                              KILN__SITE_PREFIX, site->name);
        LLVMValueRef global = name != NULL ? find_global(job, name) : NULL;

        if (name == NULL)
            return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        if (global == NULL)
            continue;
        KILN_TRY(check_global(job, global, site));
        KILN_TRY(check_uses(job, global, site));
        if (LLVMGetFirstUse(global) != NULL)
            b->used[b->count++] = (used_site){site, global};
        else
            delete_global(global);
    }
    return KILN_OK;
}

/* ---- the value of a site ---- */

static void mark_invariant(const kiln__codegen_job *job, LLVMValueRef load)
{
    static const char name[] = "invariant.load";

    LLVMSetMetadata(
        load, LLVMGetMDKindIDInContext(job->context, name, sizeof name - 1),
        LLVMMetadataAsValue(job->context,
                            LLVMMDNodeInContext2(job->context, NULL, 0)));
}

/* Loads slot `index` at the start of the function. */
static LLVMValueRef load_slot(const binding *b, LLVMValueRef function,
                              size_t index)
{
    LLVMContextRef context = b->job->context;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
    LLVMValueRef offset =
        LLVMConstInt(LLVMInt64TypeInContext(context), index * SLOT_SIZE, 0);
    LLVMValueRef slot = LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(context),
                                              b->table, &offset, 1);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    LLVMValueRef load;

    while (LLVMIsAAllocaInst(at))
        at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(builder, at);
    load = LLVMBuildLoad2(builder, pointer, slot, "");
    LLVMSetAlignment(load, SLOT_SIZE);
    mark_invariant(b->job, load);
    LLVMDisposeBuilder(builder);
    return load;
}

static LLVMValueRef address_of(const binding *b, const kiln__codegen_site *site)
{
    LLVMContextRef context = b->job->context;

    return LLVMConstIntToPtr(
        LLVMConstInt(LLVMInt64TypeInContext(context), site->address, 0),
        LLVMPointerTypeInContext(context, 0));
}

/* ---- calls ----
 *
 * A call of a known function takes its attributes from the declaration, which
 * is removed. So they are copied to the call: above all, how arguments are
 * extended or passed.
 */

static void copy_attributes(LLVMValueRef call, LLVMValueRef function,
                            LLVMAttributeIndex index)
{
    const unsigned count = LLVMGetAttributeCountAtIndex(function, index);
    LLVMAttributeRef list[64];

    if (count == 0 || count > sizeof list / sizeof list[0])
        return;
    LLVMGetAttributesAtIndex(function, index, list);
    for (unsigned i = 0; i < count; i++)
        LLVMAddCallSiteAttribute(call, index, list[i]);
}

static void copy_function_attributes(LLVMValueRef call, LLVMValueRef function)
{
    static const char *const names[] = {"memory", "nofree", "nosync",
                                        "willreturn", "cold"};
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(
            function, self, kiln__attribute_kind(names[i]));

        if (attribute != NULL)
            LLVMAddCallSiteAttribute(call, self, attribute);
    }
}

static void settle_call(const kiln__codegen_job *job, LLVMValueRef call,
                        LLVMValueRef function)
{
    const unsigned kind = kiln__attribute_kind("nounwind");

    LLVMAddCallSiteAttribute(call,
                             (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(job->context, kind, 0));
    if (LLVMGetCalledFunctionType(call) != LLVMGlobalGetValueType(function))
        return;
    for (unsigned i = 0; i <= LLVMCountParams(function); i++)
        copy_attributes(call, function, i);
    copy_function_attributes(call, function);
}

/* ---- replacing a site ---- */

static void replace_operands(LLVMValueRef user, LLVMValueRef old,
                             LLVMValueRef fresh)
{
    const int count = LLVMGetNumOperands(user);

    for (int i = 0; i < count; i++)
        if (LLVMGetOperand(user, (unsigned)i) == old)
            LLVMSetOperand(user, (unsigned)i, fresh);
}

/* Replaces all uses in the function that contains the first use. */
static void replace_in_function(const binding *b, size_t index,
                                LLVMValueRef function)
{
    LLVMValueRef global = b->used[index].global;
    LLVMValueRef fresh = b->table != NULL ? load_slot(b, function, index)
                                          : address_of(b, b->used[index].site);
    LLVMUseRef use = LLVMGetFirstUse(global);

    while (use != NULL) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) !=
            function) {
            use = LLVMGetNextUse(use);
            continue;
        }
        if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == global)
            settle_call(b->job, user, global);
        replace_operands(user, global, fresh);
        use = LLVMGetFirstUse(global); /* the list of uses has changed */
    }
}

static void replace(const binding *b, size_t index)
{
    LLVMValueRef global = b->used[index].global;
    LLVMUseRef use;

    while ((use = LLVMGetFirstUse(global)) != NULL)
        replace_in_function(b, index,
                            LLVMGetBasicBlockParent(
                                LLVMGetInstructionParent(LLVMGetUser(use))));
    delete_global(global);
}

/* The table is hidden, so that its address needs no table of the linker. */
static void add_table(binding *b)
{
    LLVMTypeRef type =
        LLVMArrayType2(LLVMPointerTypeInContext(b->job->context, 0), b->count);

    b->table = LLVMAddGlobal(b->job->module, type, TABLE);
    LLVMSetGlobalConstant(b->table, 1);
    LLVMSetVisibility(b->table, LLVMHiddenVisibility);
    LLVMSetAlignment(b->table, SLOT_SIZE);
}

static kiln_status list_used(const binding *b)
{
    kiln__codegen_job *job = b->job;

    job->sites =
        kiln__arena_allocate_array(&job->arena, b->count, sizeof *job->sites);
    if (job->sites == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    for (size_t i = 0; i < b->count; i++)
        job->sites[i] = (kiln_site_info){
            .name = b->used[i].site->name,
            .size = b->table != NULL ? SLOT_SIZE : 0,
            .strategy = job->settings->sites,
        };
    job->site_count = b->count;
    return KILN_OK;
}

/* Refuses a declared name of a site's form that inference did not report. */
static kiln_status check_unnamed(kiln__codegen_job *job)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        const char *name = site_name(f);

        if (name != NULL && LLVMIsDeclaration(f))
            return refuse_site(job, name, "inference did not name it");
    }
    return KILN_OK;
}

kiln_status kiln__foreign_sites(kiln__codegen_job *job)
{
    binding b = {.job = job};

    if (job->request->site_count > 0) {
        b.used = kiln__arena_allocate_array(
            &job->arena, job->request->site_count, sizeof *b.used);
        if (b.used == NULL)
            return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        KILN_TRY(find_used(&b));
    }
    if (b.count == 0)
        return check_unnamed(job);
    if (job->settings->sites == KILN_SITES_PATCH) {
        if (job->backend->payload.find_sites == NULL)
            return kiln__job_fail(job, KILN_EUNSUPPORTED,
                                  "backend %s patches no sites",
                                  job->backend->name);
        add_table(&b);
    }
    KILN_TRY(list_used(&b));
    for (size_t i = 0; i < b.count; i++)
        replace(&b, i);
    return check_unnamed(job);
}

/* ---- after the passes ---- */

void kiln__foreign_sites_define(kiln__codegen_job *job)
{
    LLVMValueRef table = LLVMGetNamedGlobal(job->module, TABLE);

    if (job->settings->sites != KILN_SITES_PATCH || job->site_count == 0)
        return;
    if (table == NULL || LLVMGetFirstUse(table) == NULL) {
        if (table != NULL)
            LLVMDeleteGlobal(table);
        job->site_count = 0;
        return;
    }
    LLVMSetInitializer(table, LLVMConstNull(LLVMGlobalGetValueType(table)));
    LLVMSetExternallyInitialized(table, 1);
    LLVMSetVisibility(table, LLVMDefaultVisibility);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMSetSection(table, KILN__SITE_TABLE);
}

kiln_status kiln__foreign_sites_place(kiln__codegen_job *job,
                                      const kiln_blob *payload)
{
    uint64_t offset;

    if (job->settings->sites != KILN_SITES_PATCH || job->site_count == 0)
        return KILN_OK;
    KILN_TRY(job->backend->payload.find_sites(
        job, payload, job->site_count * SLOT_SIZE, &offset));
    for (size_t i = 0; i < job->site_count; i++)
        job->sites[i].offset = offset + i * SLOT_SIZE;
    return KILN_OK;
}
