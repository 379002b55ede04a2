/*===- ccn.h - Compiled programs in applications ------------------*- C -*-===*\
|*
|* Loads packages that cccompile made, and runs them on the caller's buffers, on
|* the CPU or on GPUs. C99, and C++. The library, libccn, needs no LLVM; CUDA
|* and MPI are opened when they are asked for.
|*
|*   ccn_program    a package, ready to be run by this process
|*   ccn_team       the ranks that run programs together: threads of this
|*                  process, or processes that mpirun, torchrun or Slurm started
|*   ccn_executor   a program that one rank of a team is ready to run
|*
|* Every rank, in a thread of its own, does
|*
|*   ccn_executor_create(team, program, rank, CCN_ANY_DEVICE, &executor);
|*   ccn_executor_run(executor, arguments, count, stream);    (again and again)
|*   ccn_executor_synchronize(executor, stream);
|*   ccn_executor_release(executor);
|*   ccn_team_leave(team, rank);
|*
|* and all ranks of a team create and run the same programs in the same order.
|* `cccompile --emit header` makes a header with functions that have each
|* program's own parameters.
|*
|* Functions that can fail return a status; ccn_last_error() has its text. A
|* call that is wrong returns CCN_ERROR_ARGUMENT, and changes nothing. When a
|* rank fails, its team has failed: every call of every rank that waits, and
|* every later one, returns CCN_ERROR_TEAM, with the rank and the cause as its
|* text. No call of these waits for ever.
|*
|* Programs may be used by all threads at once, teams too, but for each rank by
|* one thread at a time, and executors belong to their rank. A handle is not to
|* be used after it was released. Strings and arrays that functions give live as
|* long as the handle.
|*
\*===----------------------------------------------------------------------===*/

#ifndef CCN_H
#define CCN_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CCN_API __attribute__((visibility("default")))
#else
#define CCN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*===----------------------------------------------------------------------===*\
|* The version
\*===----------------------------------------------------------------------===*/

/** Of this header. All of ccn has this version: the build reads it here. */
#define CCN_VERSION_MAJOR 0
#define CCN_VERSION_MINOR 1
#define CCN_VERSION_PATCH 0
/** A number that grows with the version, for `#if CCN_VERSION >= 100`. */
#define CCN_VERSION                                                            \
  (CCN_VERSION_MAJOR * 10000 + CCN_VERSION_MINOR * 100 + CCN_VERSION_PATCH)
#define CCN_VERSION_TEXT_(number) #number
#define CCN_VERSION_JOIN_(major, minor, patch)                                 \
  CCN_VERSION_TEXT_(major)                                                     \
  "." CCN_VERSION_TEXT_(minor) "." CCN_VERSION_TEXT_(patch)
/** "MAJOR.MINOR.PATCH". */
#define CCN_VERSION_STRING                                                     \
  CCN_VERSION_JOIN_(CCN_VERSION_MAJOR, CCN_VERSION_MINOR, CCN_VERSION_PATCH)

/** The version of the library that is loaded, like CCN_VERSION_STRING. */
CCN_API const char *ccn_version(void);

/*===----------------------------------------------------------------------===*\
|* Statuses
\*===----------------------------------------------------------------------===*/

/** The numbers of errors are like the exit codes of the tools. */
typedef enum ccn_status {
  CCN_OK = 0,
  /** This is no package that can be used: it cannot be read, is corrupt, of
      another version, or another program than expected. */
  CCN_ERROR_PACKAGE = 1,
  /** The call is wrong, as it is or at this time, and has changed nothing. */
  CCN_ERROR_ARGUMENT = 2,
  /** This machine cannot run it: its CPU lacks what the code needs, there is no
      GPU, no driver, no memory. */
  CCN_ERROR_MACHINE = 3,
  /** The team has failed: a rank could not compute something, was lost, did not
      come in time, or its device failed. */
  CCN_ERROR_TEAM = 4
} ccn_status;

/** The text of the error that the last call of this thread that failed has
    returned, lower case and without a final period; empty if none has. It
    changes with the next error. */
CCN_API const char *ccn_last_error(void);

/** "CCN_ERROR_TEAM". Of what is no status, "unknown". */
CCN_API const char *ccn_status_name(ccn_status status);

/*===----------------------------------------------------------------------===*\
|* Elements
\*===----------------------------------------------------------------------===*/

/** The bits of elements for which C has no type: IEEE binary16 (CUDA's __half),
    the upper half of a float (__nv_bfloat16), E4M3 and E5M2 (__nv_fp8_e4m3,
    __nv_fp8_e5m2). */
typedef uint16_t ccn_f16;
typedef uint16_t ccn_bf16;
typedef uint8_t ccn_f8e4m3;
typedef uint8_t ccn_f8e5m2;
/** 0 or 1. */
typedef uint8_t ccn_bool;

typedef enum ccn_type {
  CCN_F64,
  CCN_F32,
  CCN_F16,
  CCN_BF16,
  CCN_F8E4M3,
  CCN_F8E5M2,
  CCN_I8,
  CCN_I16,
  CCN_I32,
  CCN_I64,
  CCN_U8,
  CCN_U16,
  CCN_U32,
  CCN_U64,
  CCN_BOOL
} ccn_type;

/** The bytes of an element; 0 if that is no type. */
CCN_API size_t ccn_type_size(ccn_type type);
/** As the language has it: "f32"; "unknown" if that is no type. */
CCN_API const char *ccn_type_name(ccn_type type);

/*===----------------------------------------------------------------------===*\
|* Programs
\*===----------------------------------------------------------------------===*/

typedef struct ccn_program ccn_program;

/** What executes a program. */
typedef enum ccn_target {
  /** What its package is made for. */
  CCN_TARGET_DEFAULT,
  /** The CPU, also if the package is for GPUs. */
  CCN_TARGET_CPU,
  /** GPUs. */
  CCN_TARGET_GPU
} ccn_target;

/** Loads the package in a file. It holds machine code, so one must trust who
    made it. Of a package with variants it takes the one that `ccrun --tune` has
    chosen on this machine, for GPUs with the same CCN_GPU_TRANSPORT; ranks that
    were launched take it when they join a team, if it is the same for all, else
    the default. CCN_ERROR_MACHINE if the target is not here. */
CCN_API ccn_status ccn_program_load(const char *path, ccn_target target,
                                    ccn_program **program);
/** Likewise from `size` bytes in memory, which are not needed afterwards. */
CCN_API ccn_status ccn_program_load_memory(const void *bytes, size_t size,
                                           ccn_target target,
                                           ccn_program **program);
/** Gives up the handle; teams and executors keep what they need. Null is
    nothing to give up. */
CCN_API void ccn_program_release(ccn_program *program);

typedef struct ccn_mesh_axis {
  const char *name;
  int64_t size;
} ccn_mesh_axis;

typedef struct ccn_program_info {
  /** The program's name, and the schedule's; empty is none. */
  const char *name;
  const char *schedule;
  /** The ranks and arguments, as text: programs of equal signatures are called
      alike. */
  const char *signature;
  /** Of the package's content, 64 hexadecimal digits. */
  const char *hash;
  /** CCN_TARGET_CPU or CCN_TARGET_GPU. */
  ccn_target target;
  /** The axes of the mesh, and how many ranks it has: the rank is the row-major
      index of its coordinates. */
  const ccn_mesh_axis *mesh;
  int mesh_axes;
  int ranks;
  /** Arguments and results together. */
  int arguments;
} ccn_program_info;

CCN_API ccn_status ccn_program_describe(const ccn_program *program,
                                        ccn_program_info *info);

/** CCN_ERROR_PACKAGE unless the program has this signature. */
CCN_API ccn_status ccn_program_check(const ccn_program *program,
                                     const char *signature);

typedef enum ccn_kind {
  /** Is read. */
  CCN_INPUT,
  /** Is read and written. */
  CCN_INOUT,
  /** Is written. */
  CCN_RESULT
} ccn_kind;

/** An argument, or a result, which comes after the arguments. */
typedef struct ccn_argument {
  const char *name;
  /** As the language writes it: "f32[1003] sliced(0, dp)". */
  const char *type_name;
  ccn_kind kind;
  ccn_type type;
  /** The shape of the whole tensor. No dimensions is a scalar; `shape` may be
      null then. */
  int dims;
  const int64_t *shape;
  /** Whether ranks hold the same part, which must have the same values. */
  int is_replicated;
  /** Whether it is passed as a list of buffers (`scattered`): as the address
      of a ccn_buffers. */
  int is_scattered;
} ccn_argument;

CCN_API ccn_status ccn_program_argument(const ccn_program *program, int index,
                                        ccn_argument *argument);
/** The index of the argument of that name; CCN_ERROR_ARGUMENT if there is
    none. */
CCN_API ccn_status ccn_program_find(const ccn_program *program,
                                    const char *name, int *index);

/** The part of a tensor that a rank holds, as a row-major array. */
typedef struct ccn_part {
  /** As many as the argument has. */
  int dims;
  /** Where it begins in the whole tensor, and its shape. */
  const int64_t *offset;
  const int64_t *shape;
  /** Its elements, and its bytes. */
  int64_t count;
  int64_t bytes;
} ccn_part;

CCN_API ccn_status ccn_program_part(const ccn_program *program, int index,
                                    int rank, ccn_part *part);

/*===----------------------------------------------------------------------===*\
|* Teams
\*===----------------------------------------------------------------------===*/

typedef struct ccn_team ccn_team;

/** A team whose ranks are threads of this process, which the caller starts.
    `programs` are those of which the ranks will create executors, each as often
    as it is listed; all have as many ranks. `time_limit` is how many seconds a
    rank waits for another at a time; 0 is what CCN_TIMEOUT says, else 60.
    CCN_ERROR_MACHINE if there is not the memory for all executors. */
CCN_API ccn_status ccn_team_create(ccn_program *const *programs, size_t count,
                                   double time_limit, ccn_team **team);
/** The team of the processes that mpirun, torchrun or Slurm has started, on any
    hosts, of which this process is one rank. All of them call this with the
    same programs. Where the programs have one rank nothing need have started
    it: it is rank 0. CCN_LAUNCHER and CCN_TRANSPORT can say who has started
   them and how they reach each other. Until the rank leaves, SIGTERM, by which
    launchers end ranks, has a handler if the application has set none: where
    another rank is lost it says so and ends the process with status 4. Once in
    a process; after an error the process
    should end: CCN_ERROR_ARGUMENT if nothing has started it as a rank, or if
    the programs have another number of ranks, CCN_ERROR_MACHINE on all ranks
    if the memory is lacking on a host, else CCN_ERROR_TEAM. */
CCN_API ccn_status ccn_team_join(ccn_program *const *programs, size_t count,
                                 double time_limit, ccn_team **team);
/** How many ranks the team has, and the rank of this process, -1 if all are
    threads of it. Either may be null. */
CCN_API ccn_status ccn_team_describe(const ccn_team *team, int *ranks,
                                     int *own_rank);
/** Of how many executors of a rank runs may be in progress on its GPU at once,
    on several streams, from 1 to 32; 1 unless this is called. It holds for
    executors that are created later; all ranks call it with the same number.

    Kernels that wait for those of other ranks must all be on the device at
    once, so each executor then has only its part of the device for them. By
    default one executor may have all of it: runs of different executors are
    then ordered by the caller (one stream, or events), on all ranks alike.

    CUDA puts streams into few queues of a device, in which they wait for each
    other: CUDA_DEVICE_MAX_CONNECTIONS=32 in the environment, before CUDA is
    used, gives it as many as there can be. That also holds for ranks that are
    threads and share a GPU. Executors have few streams of their own then, so
    that those of all fit the queues; ranks and runs that have more kernels at
    once than queues or multiprocessors are refused when an executor is made.
    CUDA may also put streams into one queue that threads begin to use at the
    same time. Executors therefore begin to use a stream one after the other; of
    streams that an application begins to use in other ways before, by copies
    say, in several threads at once, or in which it launches kernels of its own
    that wait for each other, it has to see to that itself. */
CCN_API ccn_status ccn_team_set_runs_at_once(ccn_team *team, int runs);
/** CCN_ERROR_TEAM if the team has failed. */
CCN_API ccn_status ccn_team_check(const ccn_team *team);
/** Waits until all ranks have called this. For what must not be done while
   other ranks run: calls of CUDA that wait for a device (taking and freeing
   memory, making a graph) would wait for those that wait for this rank. */
CCN_API ccn_status ccn_team_meet(ccn_team *team, int rank);
/** Fails the team, because of something that the caller says, so that no other
    rank waits for this one. */
CCN_API ccn_status ccn_team_fail(ccn_team *team, int rank, const char *cause);
/** Says that a rank takes part no longer, so that others do not wait for it.
    Its executors have been released. A process waits for the other ranks to
    come to their end. Returns the team's failure. */
CCN_API ccn_status ccn_team_leave(ccn_team *team, int rank);
/** Gives up the handle; executors keep what they need. Of a process, leaves.
    Null is nothing to give up. */
CCN_API void ccn_team_release(ccn_team *team);

/*===----------------------------------------------------------------------===*\
|* Executors
\*===----------------------------------------------------------------------===*/

typedef struct ccn_executor ccn_executor;

/** One of the buffers that a scattered argument consists of. */
typedef struct ccn_buffer {
  /** Aligned as its elements are; null if there are none. */
  void *data;
  /** Its elements. */
  int64_t count;
} ccn_buffer;

/** A scattered argument: buffers whose elements are, in this order, those of
    the rank's part, as parameters of a model are. Each rank may have other
    ones. */
typedef struct ccn_buffers {
  const ccn_buffer *list;
  size_t count;
} ccn_buffers;

/** Instead of a device: ranks take turns at those that this process sees, by
    their number on this host where a launcher says it. */
#define CCN_ANY_DEVICE (-1)

/** Makes a program ready to run on a rank: takes all memory that runs need, and
    compiles kernels or takes them from the cache. All ranks of the team call
    this, each in its thread, and wait for each other. `device` is a GPU's
    number in this process. */
CCN_API ccn_status ccn_executor_create(ccn_team *team,
                                       const ccn_program *program, int rank,
                                       int device, ccn_executor **executor);

/** Runs the program once, as all ranks do. `arguments` has, for each argument
    and result, the address of this rank's part, aligned as its elements are;
    null if that has no elements. Of a scattered argument it is the address of
    a ccn_buffers in host memory, which has been read when this returns. What is
    written overlaps nothing else.

    On the CPU the run is done when this returns; `stream` is null. Buffers of a
    scattered argument that do not lie one after the other are copied there, by
    the run, which takes memory for that when it is first needed.

    On GPUs addresses are in the memory of the rank's device, those of scalars
    too, and `stream` is a CUstream or cudaStream_t of it. The run is only
    started, and memory must stay as it is until the stream has come past it.
    Allocates nothing; the stream may be capturing a graph, which can be run any
    number of times, as often on each rank. An executor's runs, and replays of
    its graphs, use the same memory: on several streams events must order
    them. Kernels access the buffers of scattered arguments where they are; runs
    that are given others than were bound first tell the device where, at most
    4095 of each argument. */
CCN_API ccn_status ccn_executor_run(ccn_executor *executor,
                                    void *const *arguments, size_t count,
                                    void *stream);

/** Likewise, but scalars that are only read are in host memory, on GPUs too,
    and have been read when this returns. A graph that is captured keeps their
    values. */
CCN_API ccn_status ccn_executor_run_values(ccn_executor *executor,
                                           void *const *arguments, size_t count,
                                           void *stream);

/** On GPUs: lets the other ranks access arguments where the caller has them,
    which else are copied in each run. All ranks call this at the same point,
    with addresses in memory that stays until the executor is released or this
    is called again; that of a scalar that is only read may be null, for those
    that are passed by ccn_executor_run_values. Waits for this rank's last run;
    graphs that were captured before must have ended, and are not run any more.

    What the others' devices cannot access is still copied. They can access what
    cuMemAlloc or cudaMalloc gave, and what was mapped by cuMemMap; the latter
    of another process if cuMemCreate was asked for handles that are file
    descriptors, as PyTorch's expandable segments and ncclMemAlloc do, and if
    the processes see each other's sockets (they share a network namespace). A
    scattered argument is copied, too, if its buffers are not of the same sizes
    on all ranks.
    Runs may still be given other addresses. They use what was bound for their
    copies, and overwrite it; nothing that such a run is given overlaps it. On
    the CPU this does nothing. */
CCN_API ccn_status ccn_executor_bind(ccn_executor *executor,
                                     void *const *arguments, size_t count);

/** Whether each run copies an argument, to or from memory that the other ranks
    access: on GPUs, if they access it and it is not bound, or bound to memory
    that they cannot access. Runs that are given other addresses than were bound
    copy it too. On the CPU, and for what only its own rank accesses, 0. */
CCN_API ccn_status ccn_executor_copies(const ccn_executor *executor, int index,
                                       int *copies);

/** Waits until all in `stream` is done, and returns what a run could not do, or
    the team's failure. On the CPU nothing is left to wait for. A caller that
    waits for its stream by itself is told of failures by the next call, and
    waits for ranks that are lost at most as long as the time limit. */
CCN_API ccn_status ccn_executor_synchronize(ccn_executor *executor,
                                            void *stream);

/** The number of the rank's device; -1 on the CPU. */
CCN_API ccn_status ccn_executor_device(const ccn_executor *executor,
                                       int *device);

/** On GPUs waits for the last run, and for the other ranks to come to the end
    of theirs, since they use this rank's memory; graphs must have ended, and
    where GPUs send messages (CCN_GPU_TRANSPORT) must have been destroyed.
    CCN_ERROR_ARGUMENT, and nothing is released, while another call is in
    progress. Null is nothing to release. */
CCN_API ccn_status ccn_executor_release(ccn_executor *executor);

#ifdef __cplusplus
}
#endif

#endif /* CCN_H */
