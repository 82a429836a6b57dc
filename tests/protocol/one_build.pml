/* one_build.pml - one build of a key on a machine: processes, locks, stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/*
 * What src/stores/lock.c, src/task.c and the loose store do together, as the
 * kernel of the system sees it. Each process needs each key once, in an order
 * of its own; its worker takes the key's lock, looks into the stores, builds,
 * puts, lets go. Meanwhile, at any moment: processes are killed, stopped and
 * continued; one forks; an entry is evicted, by whoever prunes the folder; the
 * lock file is removed with the folder.
 *
 * What holds:
 *   ALONE      nobody builds without the lock while a holder that lives keeps
 *              to its time
 *   ONE        a key is built once, and once more for each builder that was
 *              killed, each eviction, each time-out and a removal
 *   RELEASED   a time-out is never for the lock of a process that has ended
 *   ENDS       each process that is neither killed nor stopped for ever has
 *              all its keys in the end; nobody waits for what does not come
 *
 * Each label is a step that the sources name. FAULT_* plants a fault.
 */

#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef KEYS
#define KEYS 1
#endif
#define CHILD (PROCESSES - 1) /* of process 0, if that forks */
#define FILES 2 /* lock files: the first one, and one after a removal */
#define NOBODY 255

#define LOCK(file, key) holder[(file) * KEYS + (key)]

byte holder[FILES * KEYS] = NOBODY; /* whose description has the byte */
bool entry[KEYS];                   /* a store has it */
byte file;                          /* the lock file that has the name */

bool alive[PROCESSES];
bool stopped[PROCESSES];
bool late[PROCESSES];     /* stopped at some time while it held a lock */
byte copies[PROCESSES];   /* descriptors of its description */
byte opened[PROCESSES] = NOBODY; /* the lock file that it has open */
bool settled[PROCESSES];  /* has all its keys */
byte building[PROCESSES] = NOBODY; /* the key */

bool forking; /* a child has not closed what is its parent's yet */

byte builds[KEYS];  /* begun */
byte allowed[KEYS]; /* beyond the first one */

#define RUNS(p) (alive[p] && !stopped[p])
#if KEYS == 1
#define HOLDS(p) (LOCK(0, 0) == p || LOCK(1, 0) == p)
#else
#define HOLDS(p) (LOCK(0, 0) == p || LOCK(0, 1) == p || LOCK(1, 0) == p || \
                  LOCK(1, 1) == p)
#endif

/* The kernel takes back what a closed description had. */
inline let_go(p)
{
    lock_ = 0;
    do
    :: lock_ == FILES * KEYS -> break
    :: else ->
        if
        :: copies[p] == 0 && holder[lock_] == p -> holder[lock_] = NOBODY
        :: else
        fi;
        lock_++
    od
}

inline build(me, key, alone)
{
    /* A build that begins although a store has the entry, or beside another
       one, has a reason. */
    builds[key]++;
    building[me] = key;
    if :: alone -> allowed[key]++ :: else fi;
    assert(builds[key] <= 1 + allowed[key]) /* ONE */
}

proctype process(byte me)
{
    byte first, done, key;
    bool alone;

    {
#if KEYS == 2
    if :: first = 0 :: first = 1 fi;
#endif
    do
    :: done == KEYS -> break
    :: else ->
        key = (first + done) % KEYS;
        alone = false;
TRY:    /* lock.c: a file without a name is opened anew, nothing being held */
        atomic {
            RUNS(me);
#ifdef FAULT_NO_REOPEN
            if :: opened[me] == NOBODY -> opened[me] = file :: else fi;
#else
            opened[me] = file;
#endif
            if
            :: LOCK(opened[me], key) == NOBODY ->
                LOCK(opened[me], key) = me;
                goto LOOK
            :: else
            fi
        }
WAIT:   /* trying again, until it is free or the time is over */
        do
        :: atomic { RUNS(me) && LOCK(opened[me], key) == NOBODY ->
                LOCK(opened[me], key) = me;
                goto LOOK }
#ifndef FAULT_NO_REOPEN
        :: atomic { RUNS(me) && opened[me] != file -> opened[me] = file }
#endif
#ifndef FAULT_NO_DEADLINE
TIME_OUT:
        :: atomic { RUNS(me) && LOCK(opened[me], key) != NOBODY &&
#ifdef FAULT_IMPATIENT
                    true ->
#else
                    (late[LOCK(opened[me], key)] ||
                     (!alive[LOCK(opened[me], key)] && !forking)) ->
#endif
                assert(alive[LOCK(opened[me], key)]); /* RELEASED */
                assert(late[LOCK(opened[me], key)]);  /* ALONE */
                alone = true;
                goto LOOK }
#endif
        od;
LOOK:   /* task.c: another process may have put it there meanwhile */
        atomic {
            RUNS(me);
            if
#ifndef FAULT_NO_LOOK
            :: entry[key] -> goto RELEASE
            :: !entry[key] -> build(me, key, alone)
#else
            :: true -> build(me, key, alone)
#endif
            fi
        }
BUILD:  atomic { RUNS(me);
#ifdef FAULT_RELEASE_FIRST
            if :: !alone -> LOCK(opened[me], key) = NOBODY :: else fi;
#endif
            skip }
PUBLISH: /* loose_write.c: whole or not there, and the first one stays */
        atomic { RUNS(me); entry[key] = true; building[me] = NOBODY }
RELEASE:
        atomic {
            RUNS(me);
            if
            :: !alone && LOCK(opened[me], key) == me ->
                LOCK(opened[me], key) = NOBODY
            :: else
            fi;
            if :: !HOLDS(me) -> late[me] = false :: else fi;
            done++
        }
    od;
    atomic { RUNS(me); settled[me] = true }
    } unless { !alive[me] || (stopped[me] && settled[me]) }
}

/* A child of fork(): what it has of the parent's descriptors is closed first
   of all, and it holds nothing. */
proctype child()
{
    byte lock_;

CHILD_CLOSES:
    atomic {
#ifdef FAULT_CHILD_UNLOCKS
        if :: LOCK(0, 0) == 0 -> LOCK(0, 0) = NOBODY :: else fi;
#endif
#ifndef FAULT_CHILD_KEEPS
        copies[0]--;
        let_go(0);
#endif
        forking = false;
        run process(CHILD)
    }
}

inline kill(p)
{
    alive[p] = false;
    settled[p] = true;
    /* What it began must be begun again. */
    if
    :: building[p] != NOBODY ->
        allowed[building[p]]++;
        building[p] = NOBODY
    :: else
    fi;
    copies[p]--;
    let_go(p)
}

#define CAN_KILL(p) (alive[p] && !settled[p])
#define CAN_STOP(p) (RUNS(p) && HOLDS(p))
#define CAN_CONTINUE(p) stopped[p]

inline stop(p)
{
    stopped[p] = true;
    late[p] = true
}

inline continue(p)
{
    stopped[p] = false
}

#if PROCESSES == 3
#define ANY(can, does) \
    :: atomic { can(0) -> does(0); events++ } \
    :: atomic { can(1) -> does(1); events++ } \
    :: atomic { can(2) -> does(2); events++ }
#else
#define ANY(can, does) \
    :: atomic { can(0) -> does(0); events++ } \
    :: atomic { can(1) -> does(1); events++ }
#endif

/* What happens from outside, a few times and at any moment; or not at all. */
proctype outside()
{
    byte p, lock_, events;

    do
    :: events == EVENTS -> break
    :: break
    :: events < EVENTS ->
        if
        :: break
#ifdef KILLS
        ANY(CAN_KILL, kill)
#endif
#ifdef STOPS
        ANY(CAN_STOP, stop)
        ANY(CAN_CONTINUE, continue)
#endif
#ifdef EVICTIONS
        :: atomic { entry[0] -> entry[0] = false; allowed[0]++; events++ }
#endif
#ifdef REMOVALS
        :: atomic { file == 0 ->
               file = 1;
               /* What is held below a name that is gone is held for nobody. */
               for (p : 0 .. KEYS - 1) {
                   if :: LOCK(0, p) != NOBODY -> allowed[p]++ :: else fi
               };
               events++ }
#endif
        fi
    od;
    /* What is stopped for ever waits for nothing. */
    atomic {
        for (p : 0 .. CHILD) {
            if :: stopped[p] -> settled[p] = true :: else fi
        }
    }
}

#ifdef FORKS
/* Process 0 forks at any moment; or not at all. */
proctype forks()
{
    if
    :: true
    :: atomic { RUNS(0) ->
           forking = true;
           copies[0]++; /* until the child closes it */
           alive[CHILD] = true;
           copies[CHILD] = 1;
           settled[CHILD] = false;
           run child() }
    fi
}
#endif

init {
    atomic {
        alive[0] = true;
        copies[0] = 1;
#if PROCESSES == 3
        alive[1] = true;
        copies[1] = 1;
#endif
#ifdef FORKS
        settled[CHILD] = true;
        run forks();
#else
        alive[CHILD] = true;
        copies[CHILD] = 1;
        run process(CHILD);
#endif
        run process(0);
#if PROCESSES == 3
        run process(1);
#endif
        run outside()
    }
}

#define ALL_SETTLED (settled[0] && settled[1] && settled[CHILD])

ltl ends { <> [] ALL_SETTLED }
