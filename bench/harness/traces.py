# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program asks a file system about a folder, as strace sees it.

    lookups    what a metadata server answers: opening what is there or not,
               whether it is there, attributes by name, listing, closing
    changes    what it writes down: creating, renaming, removing, folders

Reading and writing bytes, and asking about a file that is open, is neither.
"""

import collections
import os
import re
import subprocess

LOOKUPS = ("open", "openat", "access", "faccessat", "faccessat2", "stat",
           "lstat", "newfstatat", "statx", "readlink", "getdents64", "close")
CHANGES = ("mkdir", "mkdirat", "rename", "renameat", "renameat2", "link",
           "linkat", "unlink", "unlinkat", "symlink", "utimensat")
CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)(?:<[^>]*>)?"
                  r"(?: (E\w+))?")


def kind_of(name, arguments, result):
    """One of these, or None: what is asked of an entry, as `miss` (opened,
    and not there) or `look`, comes first; "lookup" is any other."""
    if "AT_EMPTY_PATH" in arguments or (name == "getdents64" and result == 0):
        return None
    if name in CHANGES or (name.startswith("open") and "O_CREAT" in arguments):
        return "change"
    if name not in LOOKUPS:
        return None
    if name.startswith("open") and result < 0:
        return "miss"
    return "look" if "access" in name else "lookup"


def count(text, folder):
    """How many there are of each kind, about `folder`."""
    found = collections.Counter()
    for line in text.splitlines():
        call = CALL.match(line)
        if call and folder + "/" in call[2]:
            kind = kind_of(call[1], call[2], int(call[3]))
            if kind:
                found[kind] += 1
    return found


def trace(command, environment, folder, log):
    """Counts the requests of a process; None, where it cannot be traced. Its
    standard input is empty."""
    folder = os.path.realpath(folder)
    try:
        answer = subprocess.run(
            ["strace", "-f", "-y", "-qq", "-s", "0", "-e",
             "trace=%file,%desc", "-o", log, *command], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return None
    if answer.returncode != 0 or b"took_ns" not in answer.stdout:
        return None
    with open(log, encoding="utf-8", errors="replace") as file:
        return count(file.read(), folder)
