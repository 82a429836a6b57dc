/* local_file.h - is a file on this machine, in the kernel's own hands? */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LOCAL_FILE_H
#define KILN_LOCAL_FILE_H

/* Only then it may be mapped, and locked. */
int kiln__file_is_local(int descriptor);

#endif /* KILN_LOCAL_FILE_H */
