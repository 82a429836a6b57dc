/* namespaces.h - namespaces of users and processes, for tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_NAMESPACES_H
#define KILN_TESTS_NAMESPACES_H

/* Leaves for a user namespace, and the others that `more` has (CLONE_NEW...).
   This user keeps his number: he would be anybody else, and trust no file.
   False: the machine gives none. */
int namespaces_leave(int more);

#endif /* KILN_TESTS_NAMESPACES_H */
