/* kiln.c - the kiln command: finds and calls the command that is asked for. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_settings.h"
#include "kiln_tool.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char usage[] =
    "usage: kiln run FILE KERNEL ARG... --grid N[,N[,N]] [--block N[,N[,N]]]\n"
    "                [--target T] [--print I]... [--save I=FILE.npy]...\n"
    "                [--set NAME=VALUE]... [--local BYTES] [--heap KIB]\n"
    "                [--time-limit S] [--stats] [--time[=N]] [--with "
    "FILE]...\n"
    "                [CL]...\n"
    "       kiln compile FILE KERNEL TYPE... --emit FORM [--target T] [-o "
    "OUT]\n"
    "                [--set NAME=VALUE]... [--with FILE]... [CL]...\n"
    "       kiln targets\n"
    "       kiln precompile FILE... --workload LIST [--target T]... -o PACK\n"
    "                [--include TIERS] [--jobs N] [CL]...\n"
    "       kiln cache COMMAND ...; see kiln cache --help\n"
    "       kiln --help | --version\n"
    "\n"
    "  ARG     2.5:f32, 3 (i64), 0.5 (f64), true\n"
    "          (1, 2.5):TYPE      a struct, a tuple or a vector, also as\n"
    "                             TYPE(1, 2.5), Vec{f32, 2}(1, 2); a tuple\n"
    "                             (1, 2.5) is an (i64, f64)\n"
    "          f32[1024]=zeros|ones|iota|random:SEED, f32[16,16]=...\n"
    "          @FILE.npy          an array in C order has its shape reversed\n"
    "          fn:NAME            a function\n"
    "          local:4096         group memory, for a __local pointer\n"
    "  TYPE    f32, f32[:,:], Static{3}, fn:NAME\n"
    "  FORM    typed, asm, binary; llvm, llvm-opt: one module for LLVM's opt\n"
    "  T       host, host:x86-64-v3, cuda:sm_90, ...; see kiln targets\n"
    "  NAME    of a setting, and the VALUE that it takes:\n";

/* The names of settings are printed before this. */
static const char more_usage[] =
    "  LIST    a file of lines PACKAGE.KERNEL(TYPE, ...) [bounds=off ...], or "
    "-\n"
    "  TIERS   typed_ir,runtime,binary (all of them), or some\n"
    "  --grid  counts items, --block those of a group\n"
    "  --local  bytes of dynamic memory that each group gets (0)\n"
    "  --heap  bounds what kernels allocate at a time (8192)\n"
    "  --time  tells how long compiling and launching took; with N the launch "
    "is\n"
    "          repeated N times, on the same data: the median and the minimum\n"
    "  --time-limit  seconds after which the kernel is stopped, on the host\n"
    "  I       counts arguments from 0\n"
    "  FILE    of the kernel language, or x.cl of OpenCL C\n"
    "  --with  loads a file first, whose functions FILE imports or calls\n"
    "  CL      for OpenCL C: -D N[=V], -U N, -I FOLDER, -cl-std=CL3.0, ...\n"
    "\n"
    "Exit status: 0, 1 when the program or its data has an error, 2 for wrong\n"
    "usage.\n";

int tool_complain(int status, const char *format, ...)
{
    va_list arguments;

    flockfile(stderr); /* Kiln's own threads print warnings, too. */
    (void)fputs("kiln: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    funlockfile(stderr);
    return status;
}

static uint32_t render_flags(void)
{
    const char *terminal = getenv("TERM");

    return isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL &&
                   (terminal == NULL || strcmp(terminal, "dumb") != 0)
               ? KILN_RENDER_COLOR
               : KILN_RENDER_PLAIN;
}

/* An exception in the runtime library says little without its caller. */
static void hint_at_calls(const kiln_error *error)
{
    const kiln_exception *exception = kiln_error_exception(error);

    if (exception != NULL && exception->frame_count == 0 &&
        exception->method != NULL &&
        strncmp(exception->method, "core.", sizeof "core." - 1) == 0)
        (void)fputs("      = hint: --set debug=2 shows the calls that led "
                    "there\n",
                    stderr);
}

int tool_fail(kiln_error *error)
{
    kiln_blob text;

    if (error == NULL)
        return tool_complain(TOOL_FAILED, "it failed without a reason");
    if (kiln_error_render(&text, error, render_flags()) == KILN_OK) {
        (void)fwrite(text.data, 1, text.size, stderr);
        kiln_blob_release(&text);
        hint_at_calls(error);
    } else {
        (void)tool_complain(0, "%s", kiln_error_message(error));
    }
    kiln_error_free(error);
    return TOOL_FAILED;
}

void tool_log(void *env, int32_t level, const char *message)
{
    (void)env;
    if (level <= KILN_LOG_WARNING)
        (void)tool_complain(0, "%s", message);
}

/* ---- sessions ---- */

/* What kernels print goes to the same stream as results. */
static void print_to_output(void *env, const char *text, size_t size)
{
    (void)env;
    (void)fwrite(text, 1, size, stdout);
}

/* Goes with the statistics. */
static void tell_checked(void *env, const kiln_event *event)
{
    (void)env;
    if (event->kind == KILN_EVENT_CHECKED)
        (void)tool_complain(0, "%s ran with all checks: %s", event->name,
                            event->reason);
}

static int open_context(tool_session *session, int with_statistics)
{
    const kiln_host_ops host = {
        .size = sizeof(kiln_host_ops),
        .log = tool_log,
        .print = print_to_output,
        .event = with_statistics ? tell_checked : NULL,
    };
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_error *error = NULL;

    options.host = &host;
    if (kiln_context_new(&session->context, &options, &error) != KILN_OK)
        return tool_fail(error);
    return TOOL_OK;
}

int tool_session_open(tool_session *out, const tool_options *options)
{
    kiln_error *error = NULL;
    int status;

    memset(out, 0, sizeof *out);
    status = open_context(out, options->stats);
    if (status == TOOL_OK)
        status = settings_config(&out->config, out->context, options);
    if (status != TOOL_OK)
        return status;
    if (tool_source_load(&out->source, out->context, options->words[0], options,
                         &error) != KILN_OK)
        return tool_fail(error);
    if (tool_source_function(&out->function, &out->source, options->words[1],
                             &error) != KILN_OK)
        return tool_fail(error);
    return TOOL_OK;
}

void tool_session_close(tool_session *session)
{
    kiln_context_free(session->context);
    memset(session, 0, sizeof *session);
}

/* ---- dispatch ---- */

static int show_version(void)
{
    (void)printf("kiln %s\n", kiln_version());
    return TOOL_OK;
}

static int show_help(FILE *file, int status)
{
    (void)fputs(usage, file);
    settings_show(file);
    (void)fputs(more_usage, file);
    return status;
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int dispatch(int count, char **words)
{
    const char *command = words[0];

    if (is_help(command) ||
        (count == 2 && is_help(words[1]) && strcmp(command, "cache") != 0))
        return show_help(stdout, TOOL_OK);
    if (strcmp(command, "run") == 0)
        return tool_run(count - 1, words + 1);
    if (strcmp(command, "compile") == 0)
        return tool_compile(count - 1, words + 1);
    if (strcmp(command, "targets") == 0)
        return tool_targets(count - 1, words + 1);
    if (strcmp(command, "cache") == 0)
        return tool_cache(count - 1, words + 1);
    if (strcmp(command, "precompile") == 0)
        return tool_precompile(count - 1, words + 1);
    if (strcmp(command, "--version") == 0)
        return show_version();
    return tool_complain(TOOL_USAGE, "unknown command \"%s\"; see kiln --help",
                         command);
}

/* A closed stream keeps its number, so that no file opened later gets it.
   Writing to the stream still fails. */
static void keep_standard_numbers(void)
{
    for (int number = 0; number <= 2; number++)
        if (fcntl(number, F_GETFD) < 0)
            (void)open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

/* Every command fits into this much stack with common kernels: see "Stacks" in
   docs/embedding.md. */
#define STACK_LEAST ((size_t)64 * 1024)

/* Too small a limit on the stack (ulimit -s) is reported here; later it would
   be a signal. */
static int check_stack(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST)
        return TOOL_OK;
    return tool_complain(TOOL_FAILED,
                         "a stack of %llu KiB is too small: %zu KiB are needed "
                         "(ulimit -s)",
                         (unsigned long long)limit.rlim_cur / 1024,
                         STACK_LEAST / 1024);
}

int main(int argc, char **argv)
{
    int status;

    keep_standard_numbers();
    if (check_stack() != TOOL_OK)
        return TOOL_FAILED;
    if (argc < 2)
        return show_help(stderr, TOOL_USAGE);
    status = dispatch(argc - 1, argv + 1);
    /* A full disk or a closed pipe is a failure. */
    if (fflush(stdout) != 0 || ferror(stdout))
        status = tool_complain(TOOL_FAILED, "cannot write standard output");
    return status;
}
