/* process.c - programs as child processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/descriptor.h"
#include "base/system/passing.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

/* ---- starting ---- */

/* Opens a file that reads nothing; works in processes without /dev, too. */
static int open_null_file(void)
{
    const int null_file =
        kiln__descriptor_open(AT_FDCWD, "/dev/null", O_RDONLY, 0);
    int ends[2];

    if (null_file >= 0 || kiln__passes(errno))
        return null_file;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    (void)close(ends[1]);
    return kiln__descriptor_clear(ends[0]);
}

static int add_actions(posix_spawn_file_actions_t *actions,
                       const kiln__program *program, int null_file)
{
    const int count = (int)program->file_count;
    int reason =
        posix_spawn_file_actions_adddup2(actions, null_file, STDIN_FILENO);

    for (int i = 0; reason == 0 && i < count; i++)
        reason =
            posix_spawn_file_actions_adddup2(actions, program->files[i], 1 + i);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    /* Files that the host forgot to close must not reach the program. */
    if (reason == 0)
        reason = posix_spawn_file_actions_addclosefrom_np(actions, 1 + count);
#endif
    return reason;
}

/* Threads of Kiln's block all signals, and a host may ignore some: the child
   starts with the defaults. */
static int set_attributes(posix_spawnattr_t *attributes, int leads)
{
    const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                      (leads ? POSIX_SPAWN_SETSID : 0);
    sigset_t none, all;
    int reason;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    reason = posix_spawnattr_setsigmask(attributes, &none);
    if (reason == 0)
        reason = posix_spawnattr_setsigdefault(attributes, &all);
    return reason != 0 ? reason
                       : posix_spawnattr_setflags(attributes, (short)flags);
}

static int spawn(pid_t *out, const kiln__program *program, int null_file)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int reason = posix_spawn_file_actions_init(&actions);

    if (reason != 0)
        return reason;
    reason = posix_spawnattr_init(&attributes);
    if (reason == 0) {
        reason = add_actions(&actions, program, null_file);
        if (reason == 0)
            reason = set_attributes(&attributes, program->leads);
        if (reason == 0)
            reason = posix_spawn(out, program->path, &actions, &attributes,
                                 program->arguments, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return reason;
}

int kiln__process_start(kiln__process *out, const kiln__program *program)
{
    const int null_file = open_null_file();
    const int reason =
        null_file < 0 ? errno : spawn(&out->pid, program, null_file);

    if (null_file >= 0)
        (void)close(null_file);
    out->file = KILN__KEPT_NONE;
    out->leads = program->leads;
    if (reason == 0)
        out->file = kiln__kept_of(
            kiln__descriptor_clear((int)syscall(SYS_pidfd_open, out->pid, 0)));
    return reason;
}

/* Older systems give one inode to everything that is no file, so this also
   checks that the descriptor is that of a process. */
static int file_is_ours(const kiln__process *process)
{
    siginfo_t info;

    return kiln__kept_is_ours(&process->file) &&
           (waitid((idtype_t)P_PIDFD, (id_t)process->file.number, &info,
                   WEXITED | WNOHANG | WNOWAIT) == 0 ||
            errno == ECHILD);
}

void kiln__process_dispose(kiln__process *process)
{
    if (file_is_ours(process))
        (void)close(process->file.number);
    process->file = KILN__KEPT_NONE;
}

/* ---- ending ---- */

kiln__process_end kiln__process_wait(const kiln__process *process,
                                     siginfo_t *info, int options)
{
    const int has_file = process->file.number >= 0;
    int result;

    info->si_pid = 0;
    if (has_file && !file_is_ours(process))
        return KILN__PROCESS_UNKNOWN;
    do {
        result =
            waitid(has_file ? (idtype_t)P_PIDFD : P_PID,
                   has_file ? (id_t)process->file.number : (id_t)process->pid,
                   info, WEXITED | options);
    } while (result != 0 && errno == EINTR);
    if (result != 0)
        return KILN__PROCESS_UNKNOWN;
    return info->si_pid == 0 ? KILN__PROCESS_RUNS : KILN__PROCESS_ENDED;
}

void kiln__process_kill(const kiln__process *process)
{
    siginfo_t info;

    if (kiln__process_wait(process, &info, WNOHANG | WNOWAIT) ==
        KILN__PROCESS_UNKNOWN)
        return; /* the number may belong to another process by now */
    if (process->leads)
        (void)kill(-process->pid, SIGKILL);
    if (process->file.number >= 0)
        (void)syscall(SYS_pidfd_send_signal, process->file.number, SIGKILL,
                      NULL, 0);
    else
        (void)kill(process->pid, SIGKILL);
}
