/* toyrt.c - a small runtime that embeds Kiln: its language, its frontend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "toyrt.h"

#include <stdlib.h>
#include <string.h>

/*
 * A method of Toy is a head (name, types of parameters) and lines of LLVM IR.
 * `@(area 2)` stands for the function that a call of area goes to with the type
 * of parameter 2: of those that take it, the one with the narrowest types. A
 * type is a kind of each type that its name begins with.
 *
 *     area Shape            paint f32[:] Shape
 *       ret float 1.0         %a = call float @(area 2)(ptr %item, ptr %p2)
 *                             store float %a, ptr %p1
 *     area@rough Shape        ret i32 0
 *       ret float 3.0
 *
 * area@rough stands in the overlay table "rough"; paint is a kernel.
 * `@(object total)` is a float array of the heap (heap.c), `@(function twice)`
 * a function of C's that takes a float and gives one.
 */

int failures;

/* ---- methods ---- */

static void split(words *out, const char *text)
{
    char *rest = out->text, *word;

    snprintf(out->text, TEXT, "%.*s", (int)strcspn(text, "\n)"), text);
    out->count = 0;
    while (out->count < WORDS && (word = strtok_r(rest, " ", &rest)))
        out->at[out->count++] = word;
}

/* FNV-1a: equal in all processes that define the same. */
static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* True when `wide` takes all that `narrow`, a head or a call, takes. */
static int covers(const words *wide, const words *narrow)
{
    int good = wide->count == narrow->count && !strcmp(*wide->at, *narrow->at);

    for (size_t i = 1; good && i < wide->count; i++)
        good = !strncmp(wide->at[i], narrow->at[i], strlen(wide->at[i]));
    return good;
}

/* Overlays win, then narrower types, then what is newer. */
static int is_better(const method *m, const method *than)
{
    if (!than || !*m->table != !*than->table)
        return !than || *m->table;
    return covers(&than->head, &m->head);
}

/* Reads one setting, of scope [typed]: the list of overlay tables. */
static const method *dispatch(const toy *t, const char *text,
                              const kiln_config *config, uint64_t world)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const method *best = NULL;
    words call;

    split(&call, text);
    kiln_config_get_options(&settings, config);
    for (const method *m = t->methods; m; m = m->next)
        if (m->born <= world && world < m->died && covers(&m->head, &call) &&
            strstr(settings.overlays, m->table) && is_better(m, best))
            best = m;
    return best;
}

/* Defines a method in a new world; gives how many code instances that ended. */
size_t define(toy *t, uint32_t line, const char *text)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    method *m = calloc(1, sizeof *m);
    size_t ended;

    if (!m)
        abort(); /* Toy's own way with its own memory */
    m->line = line;
    m->digest = kiln_digest_bytes(text, strlen(text));
    m->body = text + strcspn(text, "\n");
    snprintf(m->label, TEXT, "%.*s", (int)(m->body - text), text);
    split(&m->head, text);
    strtok_r(m->head.at[0], "@", &m->table);
    m->subject = hash(m->head.at[0]);
    m->born = ++t->world;
    m->died = UINT64_MAX;
    for (method *old = t->methods; old; old = old->next)
        if (old->died == UINT64_MAX && strcmp(old->label, m->label) == 0)
            old->died = m->born;
    m->next = t->methods;
    t->methods = m;
    CHECK(kiln_world_changed(t->frontend, t->world, &m->subject, 1, &report) ==
          KILN_OK);
    ended = report.invalidated_count;
    kiln_change_report_dispose(&report);
    return ended;
}

/* ---- kernels ---- */

/* A Shape of any kind is three floats; other types are Kiln's own. */
static kiln_status resolve(kiln_signature *out, const kiln_type **types,
                           const toy *t, const char *text, kiln_error **error)
{
    kiln_foreign_type own = {sizeof own, "Shape", NULL, {{1}}, 12, 4};
    words call;
    kiln_status status;

    split(&call, text);
    *out = (kiln_signature){NULL, types, call.count - 1};
    status =
        kiln_function_new(&out->function, t->frontend, call.at[0], NULL, error);
    for (size_t i = 0; i < out->count && status == KILN_OK; i++) {
        const char *name = call.at[i + 1];

        own.name = strncmp(name, "Shape.", 6) == 0 ? name + 6 : NULL;
        status =
            own.name
                ? kiln_type_foreign(&types[i], t->context, &own, error)
                : kiln_type_parse(&types[i], t->context, NULL, name, error);
    }
    return status;
}

/* Compiles a kernel and runs it over `size` items that write to `out`. */
kiln_status toy_run(const toy *t, const char *call, const kiln_config *config,
                    uint64_t world, void *out, int64_t size, kiln_error **error)
{
    kiln_compile_options options = {.size = sizeof options, .world = world};
    kiln_array array = {.data = out, .sizes = {size}};
    kiln_launch launch = {.grid = {(uint64_t)size}};
    const void *arguments[] = {&array, (const float[]){5, 6, 7}};
    const kiln_type *types[WORDS];
    const kiln_kernel *kernel;
    kiln_signature signature;
    kiln_status status = resolve(&signature, types, t, call, error);

    if (status == KILN_OK)
        status = kiln_compile(&kernel, t->context, &signature, config, &options,
                              error);
    if (status == KILN_OK)
        status = kiln_queue_launch(t->queue, kernel, &launch, arguments,
                                   signature.count, error);
    return status;
}

/* ---- the frontend: inference ---- */

/*
 * Toy's typed IR is LLVM IR in three texts: declarations of what is the host's,
 * all before a function's name and all after it, for a kernel's name is Kiln's
 * to choose. Others are named after their calls, "area Shape.Ball", and Kiln is
 * told so.
 */
typedef struct frame {
    const toy *toy;
    const method *method;
    const char *name; /* of what is inferred: a call */
    words call;
    const kiln_config *config;
    uint64_t world;
    kiln_inference *inference;
    kiln_error **error;
    FILE *sites; /* declared */
    FILE *out;
    uint32_t ordinal; /* of the line in the method */
} frame;

/* Writes the signature as a call, "area Shape.Ball". */
static void write_call(char out[TEXT], const kiln_signature *s)
{
    int size = snprintf(out, TEXT, "%s", kiln_function_name(s->function));

    for (size_t i = 0; i < s->count && size < TEXT; i++)
        size += snprintf(out + size, TEXT - (size_t)size, " %s",
                         kiln_type_text(s->types[i]));
}

/* Writes the call that "area 2" is in the method. */
static void read_call(char out[TEXT], const frame *f, const char *text)
{
    words call;
    int size = 0;

    split(&call, text);
    for (size_t i = 0; i < call.count && size < TEXT; i++)
        size += snprintf(out + size, TEXT - (size_t)size, "%s%s", i ? " " : "",
                         *call.at[i] <= '9' ? f->call.at[*call.at[i] - '0']
                                            : call.at[i]);
}

/* Has Kiln infer the callee. In a cycle it is not there yet: a frontend that
   needs its result assumes one, and restarts; Toy needs nothing of it. */
static kiln_status infer_callee(const frame *f, const char *call)
{
    const kiln_type *types[WORDS];
    kiln_signature callee;
    kiln_inference *head;
    const kiln_code *code;
    kiln_status status = resolve(&callee, types, f->toy, call, f->error);

    if (!dispatch(f->toy, call, f->config, f->world))
        return kiln_error_set(f->error, KILN_ECOMPILE, "line %u: no %s",
                              f->method->line + f->ordinal, call);
    if (status == KILN_OK)
        status = kiln_inference_callee(f->inference, &callee, &code, NULL,
                                       &head, f->error);
    return status == KILN_ERECURSION ? KILN_OK : status;
}

/* Tells Kiln what is the host's, and stands for its address. */
static kiln_status infer_site(const frame *f, const char *text, int32_t kind)
{
    char name[TEXT];

    text += strcspn(text, " ") + 1;
    snprintf(name, TEXT, "%.*s", (int)strcspn(text, ")"), text);
    fprintf(f->sites,
            kind == KILN_SITE_DATA
                ? "@kiln_site_%s = external global [0 x float]\n"
                : "declare float @kiln_site_%s(float)\n",
            name);
    fprintf(f->out, "@kiln_site_%s", name);
    return kiln_inference_use_site(f->inference, name, kind, f->error);
}

/* @(now kernel types) runs a kernel and stands for the bits that it gives,
   which hold as long as it does; @(label) names the method in exceptions. */
static kiln_status infer_hole(const frame *f, const char *text)
{
    int is_now = strncmp(text, "now ", 4) == 0;
    char call[TEXT];
    uint32_t bits = 0;
    kiln_status status;

    if (strncmp(text, "label)", 6) == 0)
        return fprintf(f->out, "@\"label %s\"", f->name) < 0 ? KILN_EIO : 0;
    if (strncmp(text, "object ", 7) == 0)
        return infer_site(f, text, KILN_SITE_DATA);
    if (strncmp(text, "function ", 9) == 0)
        return infer_site(f, text, KILN_SITE_FUNCTION);
    read_call(call, f, is_now ? text + 4 : text);
    status = infer_callee(f, call);
    if (status == KILN_OK && is_now)
        status = toy_run(f->toy, call, f->config, f->world, &bits, 1, f->error);
    if (is_now)
        fprintf(f->out, "%u", bits);
    else
        fprintf(f->out, "@\"%s\"", call);
    return status;
}

static kiln_status infer_method(frame *f)
{
    const method *m = f->method;
    kiln_status status = KILN_OK;

    fprintf(f->out, "@\"label %s\" = private constant [%zu x i8] c\"%s\\00\"\n",
            f->name, strlen(m->label) + 1, m->label);
    fprintf(f->out, "define %s %c(ptr %%item",
            strstr(m->body, "ret i32") ? "i32" : "float", '\0');
    for (size_t i = 1; i < f->call.count; i++) {
        const char *of = f->call.at[i];

        fprintf(f->out, ", %s %%p%zu", strcmp(of, "f32") ? "ptr" : "float", i);
        if (strchr(of, '['))
            fprintf(f->out, ", i64 %%p%zu.n", i);
    }
    fputs(") {", f->out);
    for (const char *at = m->body; *at && status == KILN_OK; at++) {
        f->ordinal += *at == '\n';
        if (strncmp(at, "@(", 2) == 0) {
            status = infer_hole(f, at + 2);
            at += strcspn(at, ")");
        } else {
            fputc(*at, f->out);
        }
    }
    fprintf(f->out, "}\n%c", '\0');
    return status;
}

/* A result rests on where its call goes; what its callees rest on Kiln knows.
 */
static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *inference, kiln_error **error)
{
    char name[TEXT], *sites = NULL, *ir = NULL;
    frame f = {.toy = self,
               .name = name,
               .config = config,
               .world = world,
               .inference = inference,
               .error = error};
    kiln_query query;
    size_t size, sites_size;
    kiln_status status;

    write_call(name, signature);
    split(&f.call, name);
    f.method = dispatch(self, name, config, world);
    if (!f.method)
        return kiln_error_set(error, KILN_ENOTFOUND, "no method for %s", name);
    f.sites = open_memstream(&sites, &sites_size);
    f.out = open_memstream(&ir, &size);
    if (!f.sites || !f.out)
        abort();
    query = (kiln_query){f.method->subject, name, strlen(name) + 1,
                         f.method->digest};
    kiln_inference_set_root(inference, query.answer);
    status = kiln_inference_add_query(inference, &query);
    if (status == KILN_OK)
        status = kiln_inference_set_name(inference, name);
    if (status == KILN_OK)
        status = infer_method(&f);
    fclose(f.out);
    fputc('\0', f.sites);
    fwrite(ir, 1, size, f.sites);
    fclose(f.sites);
    if (status == KILN_OK)
        status = kiln_inference_set_ir(inference, sites, sites_size);
    free(sites);
    free(ir);
    return status;
}

/* ---- the frontend: the rest ---- */

static uint64_t world_of(void *self)
{
    return ((toy *)self)->world;
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    const method *m = dispatch(self, query, config, world);

    (void)size; /* of the text, its end included */
    *out = m ? m->digest : (kiln_digest){0};
    return KILN_OK;
}

static void text_free(kiln_blob *text)
{
    free(text->private_data);
}

/* What two functions need is declared once. */
static void declare_sites(FILE *module, const kiln_lower_request *request)
{
    for (size_t i = 0; i < request->code_count; i++)
        for (const char *line = kiln_code_ir(request->codes[i], NULL); *line;
             line += strcspn(line, "\n") + 1) {
            size_t size = strcspn(line, "\n") + 1, is_new = 1;

            for (size_t k = 0; k <= i; k++)
                for (const char *at = kiln_code_ir(request->codes[k], NULL);
                     *at && at != line; at += strcspn(at, "\n") + 1)
                    is_new &= strncmp(at, line, size) != 0;
            if (is_new)
                fwrite(line, 1, size, module);
        }
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    char *text = NULL;
    FILE *module = open_memstream(&text, &out->size);

    (void)self;
    if (!module)
        return kiln_error_set(error, KILN_ENOMEM, "no memory");
    fputs("@none = private constant [1 x i8] zeroinitializer\n"
          "declare i64 @kiln_global_id(ptr, i32)\n"
          "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n",
          module);
    declare_sites(module, request);
    for (size_t i = 0; i < request->code_count; i++) {
        const char *head = kiln_code_ir(request->codes[i], NULL);

        head += strlen(head) + 1; /* behind the declarations */
        fprintf(module, "%s@\"%s\"%s", head,
                i ? kiln_code_name(request->codes[i]) : request->entry,
                head + strlen(head) + 1);
    }
    fclose(module);
    *out = (kiln_blob){text, out->size, text_free, text};
    return KILN_OK;
}

static kiln_status locate(void *self, const char *label, uint32_t ordinal,
                          kiln_location *out)
{
    for (const method *m = ((toy *)self)->methods; m; m = m->next)
        if (strcmp(m->label, label) == 0) {
            *out = (kiln_location){"toy", m->line + ordinal, 0, 0};
            return KILN_OK;
        }
    return KILN_ENOTFOUND;
}

static void end(void *self)
{
    for (method *m = ((toy *)self)->methods, *next; m; m = next) {
        next = m->next;
        free(m);
    }
}

const kiln_frontend_ops toy_frontend = {
    .size = sizeof toy_frontend,
    .name = "toy 1",
    .world = world_of,
    .infer = infer,
    .answer = answer,
    .free = end,
    .lower = lower,
    .locate = locate,
};

/* ---- the host ---- */

/* Others may run Toy while this thread waits in Kiln. */
void let_go(void *env)
{
    ((toy *)env)->waits++;
    pthread_mutex_unlock(&((toy *)env)->lock);
}

void take_back(void *env)
{
    pthread_mutex_lock(&((toy *)env)->lock);
}
