/* kiln_tool.h - what the parts of the kiln command share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_TOOL_H
#define KILN_TOOLS_TOOL_H

#include <stdio.h>

#include "kiln.h"

/* Exit statuses. */
#define TOOL_OK 0
#define TOOL_FAILED 1 /* errors in the user's code, files or device */
#define TOOL_USAGE 2

#define TOOL_ARGUMENTS_MAX KILN_ARGUMENTS_MAX
#define TOOL_TARGETS_MAX 16
#define TOOL_CL_MAX 256

/* ---- kiln.c ---- */

/* Prints "kiln: ..." on standard error and returns `status`. */
int tool_complain(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints an error with its diagnostics, frees it, and returns TOOL_FAILED. */
int tool_fail(kiln_error *error);
/* A context's log: prints warnings and errors on standard error. */
void tool_log(void *env, int32_t level, const char *message);

/* The options of a command; `words` are the other arguments. */
typedef struct tool_options {
    const char *words[2 + TOOL_ARGUMENTS_MAX]; /* file, kernel, arguments */
    size_t word_count;
    const char *target; /* NULL: the default */
    const char *emit;
    const char *output;
    kiln_launch launch;
    int has_grid;
    int stats;
    uint32_t time; /* launches that are timed; 0: none */
    size_t prints[TOOL_ARGUMENTS_MAX];
    size_t print_count;
    struct {
        size_t index;
        const char *path;
    } saves[TOOL_ARGUMENTS_MAX];
    size_t save_count;
    const char *targets[TOOL_TARGETS_MAX]; /* one for each --target */
    size_t target_count;
    const char *sets[TOOL_TARGETS_MAX]; /* NAME=VALUE texts */
    size_t set_count;
    const char *cl_words[TOOL_CL_MAX]; /* options of OpenCL C's compiler */
    size_t cl_count;
    const char *withs[TOOL_TARGETS_MAX]; /* files that are loaded before */
    size_t with_count;
    const char *workload;
    const char *include;
    uint32_t jobs; /* 0: all cores */
    uint32_t heap_kib;
    uint32_t time_limit_s; /* 0: none */
    int json;
    const char *kind;
    const char *name;
    const char *name_space;
    uint32_t sample; /* one entry in so many; 0: all */
    int repair;
    int yes;
    uint64_t older_s;
} tool_options;

/* ---- kiln_names.c ---- */

/* Returns the names of a list one after the other; NULL: there are no more. */
typedef const char *(*tool_name_fn)(size_t index);
/* Writes "a, b or c" to `out`. */
void tool_list_names(char *out, size_t size, tool_name_fn name);
/* Prints "a, b, c" in lines that begin with `indent` spaces. */
void tool_show_names(FILE *file, int indent, tool_name_fn name);

/* ---- kiln_options.c ---- */

/* Reads what follows the command. Returns TOOL_OK, or TOOL_USAGE after
   reporting an error. `known` lists the command's options: "--grid --block". */
int tool_read_options(tool_options *out, int count, char **words,
                      const char *known);

/* ---- kiln_output.c ---- */

/* Both report errors and return TOOL_... */

/* Refuses an output that is one of the files that the command reads; inputs may
   be NULL. */
int tool_output_spares(const char *output, const char *const *inputs,
                       size_t count);
/* Refuses an output that a new file must not replace: a device, a pipe, a
   folder, or a link, whose place the file would take. */
int tool_output_is_file(const char *output);

/* ---- kiln_source.c ---- */

struct kiln_opencl_program;

/* What a file of kernels became. One of the two is NULL. */
typedef struct tool_source {
    kiln_package *package;
    struct kiln_opencl_program *opencl;
} tool_source;

/* Loads a file, after those of --with; the suffix tells the language. */
kiln_status tool_source_load(tool_source *out, kiln_context *context,
                             const char *path, const tool_options *options,
                             kiln_error **error);
/* Finds what a loaded file became by its name. */
kiln_status tool_source_find(tool_source *out, kiln_context *context,
                             const char *name);
kiln_status tool_source_function(const kiln_function **out,
                                 const tool_source *source, const char *name,
                                 kiln_error **error);

/* ---- kiln_args.c: the arguments of a kernel ---- */

typedef struct tool_argument {
    const kiln_type *type;
    unsigned char scalar[8];
    void *record;        /* value of a struct, tuple or vector; from malloc */
    uint64_t local_size; /* of group memory, for OpenCL C; 0: none */
    kiln_array array;    /* its data is the buffer's address */
    void *bytes;         /* initial content of the buffer; from malloc */
    uint64_t size;       /* size of `bytes` */
    kiln_buffer *buffer; /* NULL: no array */
} tool_argument;

/* Reads an ARG: a value, an array, a file, a function or group memory. Reports
   errors and returns TOOL_... */
int tool_argument_read(tool_argument *out, kiln_context *context,
                       kiln_package *package, const char *text);
/* Makes the array's buffer and fills it. */
kiln_status tool_argument_send(tool_argument *argument, kiln_device *device,
                               kiln_error **error);
/* Gives the array's buffer its first content again. */
kiln_status tool_argument_fill(tool_argument *argument, kiln_error **error);
/* Reads the buffer back into `bytes`. */
kiln_status tool_argument_fetch(tool_argument *argument, kiln_error **error);
/* Prints the values, one line for each row of the first index. */
void tool_argument_print(const tool_argument *argument);
int tool_argument_save(const tool_argument *argument, const char *path);
void tool_argument_dispose(tool_argument *argument);

/* Finds the type for a TYPE: "f32[:,:]" or "fn:name". */
kiln_status tool_type_find(const kiln_type **out, kiln_context *context,
                           kiln_package *package, const char *text,
                           kiln_error **error);
/* As tool_type_find(), but reports errors and returns TOOL_... */
int tool_type_read(const kiln_type **out, kiln_context *context,
                   kiln_package *package, const char *text);

/* ---- commands ---- */

/* What every command with a kernel begins with. */
typedef struct tool_session {
    kiln_context *context;
    tool_source source;
    const kiln_function *function;
    const kiln_config *config;
} tool_session;

/* Loads the file and finds the kernel. Reports errors and returns TOOL_... */
int tool_session_open(tool_session *out, const tool_options *options);
void tool_session_close(tool_session *session);

int tool_run(int count, char **words);        /* kiln_run.c */
int tool_compile(int count, char **words);    /* kiln_compile.c */
int tool_targets(int count, char **words);    /* kiln_targets.c */
int tool_cache(int count, char **words);      /* kiln_cache.c */
int tool_precompile(int count, char **words); /* kiln_precompile.c */

#endif /* KILN_TOOLS_TOOL_H */
