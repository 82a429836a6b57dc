/* llvm_gap.h - functions that LLVM's C API lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LLVM_GAP_H
#define KILN_LLVM_GAP_H

#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- llvm_gap.cc ---- */
int kiln__llvm_guard(void (*run)(void *env), void *env);
LLVMValueRef kiln__llvm_access_group(LLVMContextRef context);
/* Describes a loop over items, which counts up and has at least one iteration.
   KILN__ITEM_LOOP is a property that tells it from loops of others. */
#define KILN__ITEM_LOOP "kiln.items"
/* Of such a loop in which sums of integers that do not wrap around are small,
   so that their differences do not, either. */
#define KILN__SMALL_LOOP "kiln.small"
LLVMValueRef kiln__llvm_parallel_loop(LLVMContextRef context,
                                      LLVMValueRef access_group);
/* Sets of passes that code generation leaves out: those that cost more than
   they bring to the modules that Kiln lowers, and those that take too long for
   large functions. */
#define KILN__WITHOUT_COSTLY 1u
#define KILN__WITHOUT_SQUARE 2u
typedef struct kiln__llvm_emission {
    int as_text;
    unsigned without;
    /* A function that goes without passes that take long; or NULL. */
    LLVMValueRef rare;
} kiln__llvm_emission;
/* Returns the module as an object or as text; NULL: the machine cannot. */
LLVMMemoryBufferRef kiln__llvm_emit(LLVMTargetMachineRef machine,
                                    LLVMModuleRef module,
                                    const kiln__llvm_emission *what);
/* Between these two calls the machine generates code quickly instead of
   generating fast code. The first one returns the level that the other one
   wants. */
int kiln__llvm_begin_quick(LLVMTargetMachineRef machine);
void kiln__llvm_end_quick(LLVMTargetMachineRef machine, int level);
/* True when the processor, with those features, has all of `wanted`. */
int kiln__llvm_target_has(const char *triple, const char *processor,
                          const char *features, const char *wanted);
int kiln__llvm_target_knows(const char *triple, const char *processor,
                            const char *features, char *unknown,
                            size_t capacity);
/* Replaces the constant expressions that use the constant by instructions, at
   the instructions that use them. Those in initialisers are left. */
void kiln__llvm_expand_users(LLVMValueRef constant);
void kiln__llvm_on_bad_alloc(void (*handler)(const char *reason));

/* Reads text, or bitcode whose functions are read only when they are linked.
   Takes the buffer. On failure it returns NULL and a message for
   LLVMDisposeMessage(). */
LLVMModuleRef kiln__llvm_read_lazily(LLVMContextRef context,
                                     LLVMMemoryBufferRef buffer,
                                     char **message);
/* Links into `into` what it declares and `from` defines, with all that this
   needs. Takes `from`. */
int kiln__llvm_link_needed(LLVMModuleRef into, LLVMModuleRef from);
/* Drops named metadata, which describes a whole library. */
void kiln__llvm_drop_named_metadata(LLVMModuleRef module);
/* Puts the functions, and the private constants that they use, after all
   others, in this order. */
void kiln__llvm_put_last(const LLVMValueRef *functions, size_t count);
/* Writes bitcode that reads back as the very same module, with the same order
   of uses. */
LLVMMemoryBufferRef kiln__llvm_write_bitcode(LLVMModuleRef module);

/* Moves a value into memory when its definition no longer dominates all its
   uses. */
void kiln__llvm_restore_dominance(LLVMValueRef function);

/* ---- llvm_gap_passes.cc ---- */
/* Among the names of passes, six of our own: see there, item_choices.cc,
   item_jam.cc, wide.cc, item_records.cc and vector_safety.cc. LLVM's pipelines
   for levels have them already. */
#define KILN__SPLIT_CHOICES "kiln-split-choices"
#define KILN__WIDE_ITEMS "kiln-wide-items"
#define KILN__JAM_ITEMS "kiln-jam-items"
#define KILN__SPLIT_RECORDS "kiln-split-records"
#define KILN__HIDE_CUT_COUNTERS "kiln-hide-cut-counters"
#define KILN__SAFE_VECTORS "kiln-safe-vectors"
/* Among those of loops, two of LLVM's that leave loops alone of which nobody
   can know how often they run: see open_loops.h. */
#define KILN__DELETE_LOOPS "kiln-delete-loops"
#define KILN__UNROLL_LOOPS "kiln-unroll-loops"
/* Runs passes, given by their names. Returns NULL, or a message for free(). */
char *kiln__llvm_run_passes(LLVMModuleRef module, const char *names,
                            LLVMTargetMachineRef machine, int vectorizes);

/* ---- narrow.cc ---- */
/* Computes in 32 bits what is known to fit there, by the ranges of parameters
   and of what calls return. */
void kiln__llvm_narrow(LLVMValueRef function);
/* Says that an integer of 64 bits that the function returns, or its parameter
   number `at`, is at least 0 and below `end`. */
void kiln__llvm_returns_below(LLVMValueRef function, uint64_t end);
void kiln__llvm_is_below(LLVMValueRef function, unsigned at, uint64_t end);

/* ---- neighbours.cc ---- */
/* Lets loops move pointers on, for indices that they would compute, and
   accesses that are a known number of bytes apart share an address. */
void kiln__llvm_shorten_addresses(LLVMValueRef function);

/* ---- apart.cc: arrays that do not overlap ---- */
typedef struct kiln__llvm_array {
    unsigned at; /* number of the kernel's parameter */
    int is_read; /* found */
    int is_written;
} kiln__llvm_array;

/* All arrays of a kernel, at most 64. */
typedef struct kiln__llvm_arrays {
    kiln__llvm_array *items;
    unsigned count;
    int *matters; /* found: it makes a difference that they do not overlap */
} kiln__llvm_arrays;

/* Finds what the kernel does with its arrays. Returns false if it does more
   than to access them. */
int kiln__llvm_find_uses(LLVMValueRef kernel, const kiln__llvm_arrays *arrays,
                         int has_read_only);
/* Says that no array overlaps one that is written. `scope` is that of fences
   between all items. */
void kiln__llvm_set_apart(LLVMValueRef kernel, const kiln__llvm_arrays *arrays,
                          const char *scope);
/* Says how the pointer that is parameter number `at` is aligned. */
void kiln__llvm_set_aligned(LLVMValueRef function, unsigned at,
                            unsigned alignment);

/* ---- llvm_gap_read.cc: modules of others ---- */
/* Reads and verifies a module, text or bitcode. If it names no data layout, it
   gets this one, since alignments that a text leaves out follow from the
   layout. Takes the buffer. On failure it returns NULL and a message for
   LLVMDisposeMessage(); `*invalid` tells whether the module can be read, but
   is invalid. */
LLVMModuleRef kiln__llvm_read_module(LLVMContextRef context,
                                     LLVMMemoryBufferRef buffer,
                                     const char *layout, int *invalid,
                                     char **message);
/* True if a struct of the module has more parts, counting those of its parts;
   the elements of an array or vector count as one. */
int kiln__llvm_has_large_type(LLVMModuleRef module, uint64_t most);

/* ---- llvm_gap_foreign.cc: the same ---- */
/* Drops all named metadata and all flags of the module except those listed.
   Both lists end in NULL. */
void kiln__llvm_keep_metadata(LLVMModuleRef module, const char *const *names,
                              const char *const *flags);
/* Sets a flag of the module, or replaces it. */
void kiln__llvm_set_flag(LLVMModuleRef module, const char *name,
                         uint32_t value);
/* Drops from a global what only linkers and loaders would interpret. */
void kiln__llvm_plain_global(LLVMValueRef global);
/* Replaces the alias by what it stands for. */
void kiln__llvm_replace_alias(LLVMValueRef alias);
/* Drops the function's personality if it has no landing pad or other pad. */
void kiln__llvm_drop_idle_personality(LLVMValueRef function);
/* Returns NULL, or the name of a kind of constants that only linkers
   understand. */
const char *kiln__llvm_linker_constant(LLVMValueRef value);
/* Writes the name of a scope to `name` and returns it; NULL: the scope has
   none, or a longer one. */
const char *kiln__llvm_scope_name(LLVMContextRef context, unsigned number,
                                  char *name, size_t capacity);

/* ---- llvm_gap_neutral.cc: functions with one more parameter ---- */
/* Returns a function that takes a parameter of the type and then those of the
   other one. It has the other's name, attributes and body; the other one is
   left as a declaration, and its calls with it. */
LLVMValueRef kiln__llvm_prepend_parameter(LLVMValueRef function,
                                          LLVMTypeRef type);
/* Replaces the call by one of `callee` that passes `argument` first. */
void kiln__llvm_prepend_argument(LLVMValueRef call, LLVMValueRef callee,
                                 LLVMValueRef argument);

/* ---- llvm_gap_spaces.cc: other address spaces for a whole module ---- */
#define KILN__LLVM_NO_SPACE 0xffffffffu

typedef struct kiln__llvm_spaces {
    const unsigned *to; /* new numbers by old ones; KILN__LLVM_NO_SPACE: none */
    unsigned count;
    unsigned constants; /* new number for variables with an initialiser in */
    unsigned generic;   /* memory of this old number */
} kiln__llvm_spaces;

/* Gives all pointers, variables and functions of the module their new address
   spaces. A variable whose pointer has another one is used through a cast.
   Returns false, and the old number, if a space has no new number; then the
   module is not to be used. */
int kiln__llvm_map_spaces(LLVMModuleRef module, const kiln__llvm_spaces *map,
                          unsigned *unknown);
/* Puts all allocas into one address space; a cast makes the pointer that they
   were before. */
void kiln__llvm_move_allocas(LLVMModuleRef module, unsigned space);

/* ---- llvm_gap_raise.cc: functions that return a flag ---- */
LLVMValueRef kiln__llvm_replace_result(LLVMValueRef function,
                                       LLVMTypeRef result);
LLVMValueRef kiln__llvm_call_raising(LLVMValueRef call, LLVMValueRef callee);
void kiln__llvm_return_after(LLVMValueRef instruction, LLVMValueRef value);
/* Ends the block before the instruction, which may not be one of its phis.
   Returns the new block that begins with it. */
LLVMBasicBlockRef kiln__llvm_split_before(LLVMValueRef instruction);
/* For each block of the function, in its order: the first block of the
   innermost loop around it, and that of the next loop around that one; NULL:
   none. */
void kiln__llvm_find_loops(LLVMValueRef function, LLVMBasicBlockRef *innermost,
                           LLVMBasicBlockRef *outer);
void kiln__llvm_return_if(LLVMValueRef condition, LLVMValueRef value);

/* ---- llvm_gap_lines.cc ---- */
/* The name of the compile unit that Kiln makes for code that it lowers. */
#define KILN__LLVM_PRODUCER "Kiln"
typedef struct kiln__llvm_lines {
    int kind;               /* LLVMDWARFEmissionKind */
    unsigned dwarf_version; /* 0: as it is */
    int is_optimised;
} kiln__llvm_lines;
/* Makes the lines of what other compilers made a part of the kernel's. */
void kiln__llvm_take_lines(LLVMModuleRef module, const kiln__llvm_lines *how);

/* ---- ahead.cc ---- */
/* Asks checks of loops ahead of their iterations where exceptions are calls of
   the function: those that counters decide, and, of up to `most` iterations
   together, those that data decide. Returns 0 where nothing was changed. */
int kiln__llvm_ask_ahead(LLVMModuleRef module, const char *raise,
                         unsigned most);

/* ---- raise_loops.cc ---- */
/* Prepares loops with calls of the function, which never returns, for the pass
   that unrolls loops. Returns whether there are any; then code seems to go on
   behind these calls. */
int kiln__llvm_raises_return(LLVMModuleRef module, const char *name);
/* Puts an `unreachable` in the place of an instruction and of all that follows
   it in its block. */
void kiln__llvm_end_at(LLVMValueRef instruction);

/* ---- unroll_limit.cc ---- */
/* Marks loops of more than `most` iterations, or of a number that is not known,
   so that they are not unrolled. 1: all loops. */
void kiln__llvm_limit_unrolling(LLVMModuleRef module, unsigned most);

/* ---- llvm_gap_size.cc: what large functions cost ---- */
/* Returns the instructions of the largest function, counted with all that is
   always inlined into it. */
uint64_t kiln__llvm_largest(LLVMModuleRef module);
/* True when the function has a loop, or jumps back in any other way. */
int kiln__llvm_has_loops(LLVMValueRef function);
/* True when the body of an innermost loop has a branch. */
int kiln__llvm_loops_branch(LLVMModuleRef module);
/* Inlines every alwaysinline function, and drops functions that nothing calls
   any more. */
void kiln__llvm_inline_always(LLVMModuleRef module);
/* Returns the largest value of any function: for each block, its instructions
   times the values that live in it at the same time, summed. Register
   allocation takes time by this number. */
uint64_t kiln__llvm_crowding(LLVMModuleRef module);
/* Returns the largest value of any function: variables times blocks. Turning
   variables into values takes time by this number. */
uint64_t kiln__llvm_variables(LLVMModuleRef module);
/* Lets counters of loops that are not nested in each other share one
   variable. */
void kiln__llvm_share_counters(LLVMModuleRef module);
/* Cuts blocks into pieces of at most so many instructions, phis not counted. */
void kiln__llvm_cut_blocks(LLVMModuleRef module, unsigned most);

/* ---- trim.cc: guards of loops over items ---- */
/* Makes them the bounds of their loops where that can be done. */
void kiln__llvm_trim(LLVMModuleRef module);

/* ---- item_unroll.cc ---- */
/* Makes short loops inside of items straight code; true: there was one. */
int kiln__llvm_unroll_items(LLVMModuleRef module);

/* ---- item_hoist.cc ---- */
/* Moves loads that are the same for all items in front of loops over items. */
void kiln__llvm_hoist_items(LLVMModuleRef module);
/* item_edges.cc: gives items at the edges of a grid loops of their own, so that
   the others compute the same and load neighbouring elements. */
void kiln__llvm_split_edges(LLVMModuleRef module);
/* item_windows.cc: gives items of which the inner loops stay away from edges a
   loop of their own, which asks nothing about that. */
void kiln__llvm_split_windows(LLVMModuleRef module);
/* item_halves.cc: gives items before and after a certain one a loop each, where
   they read or write different places. */
void kiln__llvm_split_halves(LLVMModuleRef module);
/* float_ranges.cc: replaces comparisons of floats whose answer is known: of
   what was rounded or clamped. Returns 1 where it did. */
int kiln__llvm_decide_floats(LLVMModuleRef module);
/* item_checks.cc: asks checks that data decide for all items of a loop, so that
   the loop itself has none. Returns 1 where it did, and then the loops that ask
   keep their answers in variables: let "mem2reg" run behind what splits loops.
 */
int kiln__llvm_ask_items(LLVMModuleRef module);
/* True when a loop inside of an item may raise. If it is unrolled, its checks
   can be asked. */
int kiln__llvm_items_raise_in_loops(LLVMModuleRef module);
/* True when an item goes on behind an exception, as out of a function, and asks
   only then whether it ends. */
int kiln__llvm_items_raise_inside(LLVMModuleRef module);
/* item_runs.cc: gives items whose places bits of their numbers decide loops in
   which neighbours have neighbouring elements. */
void kiln__llvm_split_runs(LLVMModuleRef module);

/* ---- item_divide.cc: integers that items divide ---- */
/* True if there are divisions that the other function may replace. */
int kiln__llvm_has_divisions(LLVMModuleRef module);
/* Lets loops over items divide integers as floats, with the same results. */
void kiln__llvm_divide_items(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif /* KILN_LLVM_GAP_H */
