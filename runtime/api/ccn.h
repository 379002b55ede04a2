/*===- ccn.h - Compiled programs in applications ------------------*- C -*-===*\
|*
|* Loads packages that cccompile made, and runs them on the caller's buffers, on
|* the CPU or on GPUs. For C99 and C++. The library, libccn, needs no LLVM; it
|* opens CUDA and MPI only when they are used.
|*
|*   ccn_program    a package that this process has loaded
|*   ccn_team       the ranks that run programs together: threads of this
|*                  process, or processes that mpirun, torchrun or Slurm started
|*   ccn_executor   a program that is ready to run on one rank of a team
|*
|* Every rank, in a thread of its own, calls
|*
|*   ccn_executor_create(team, program, rank, CCN_ANY_DEVICE, &executor);
|*   ccn_executor_run(executor, arguments, count, stream);    (again and again)
|*   ccn_executor_synchronize(executor, stream);
|*   ccn_executor_release(executor);
|*   ccn_team_leave(team, rank);
|*
|* All ranks of a team create and run the same programs in the same order.
|* `cccompile --emit header` makes a header whose functions have each program's
|* own parameters.
|*
|* Functions that can fail return a status; ccn_last_error() has its text. A
|* wrong call returns CCN_ERROR_ARGUMENT and changes nothing. When a rank fails,
|* its team has failed: every call of every rank that waits, and every later
|* call, returns CCN_ERROR_TEAM, with the rank and the cause as its text. No
|* call waits for ever.
|*
|* All threads may use programs and teams at the same time, but only one thread
|* at a time may call functions for a given rank and its executors. Do not use a
|* handle after it was released. Strings and arrays that functions return live
|* as long as the handle.
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

/** The version of this header and of all of ccn: the build reads it here. */
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
  /** The package cannot be used: it cannot be read, is corrupt or of another
      version, or holds another program than expected. */
  CCN_ERROR_PACKAGE = 1,
  /** The call is wrong, or wrong at this time. It has changed nothing. */
  CCN_ERROR_ARGUMENT = 2,
  /** This machine cannot run the program: its CPU lacks features that the code
      needs, or there is no GPU, no driver or not enough memory. */
  CCN_ERROR_MACHINE = 3,
  /** The team has failed: a rank could not compute something, was lost, was too
      late, or its device failed. */
  CCN_ERROR_TEAM = 4
} ccn_status;

/** The text of the last error in this thread, in lower case and without a final
    period; empty if no call has failed. The next error overwrites it. */
CCN_API const char *ccn_last_error(void);

/** The name of a status, such as "CCN_ERROR_TEAM"; "unknown" if it is not a
    status. */
CCN_API const char *ccn_status_name(ccn_status status);

/*===----------------------------------------------------------------------===*\
|* Elements
\*===----------------------------------------------------------------------===*/

/** The bits of elements of types that C does not have: IEEE binary16 (CUDA's
    __half), the upper half of a float (__nv_bfloat16), E4M3 and E5M2
    (__nv_fp8_e4m3, __nv_fp8_e5m2). */
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

/** The bytes of an element; 0 if `type` is not a type. */
CCN_API size_t ccn_type_size(ccn_type type);
/** The type's name in the language, such as "f32"; "unknown" if it is not a
    type. */
CCN_API const char *ccn_type_name(ccn_type type);

/*===----------------------------------------------------------------------===*\
|* Programs
\*===----------------------------------------------------------------------===*/

typedef struct ccn_program ccn_program;

/** What executes a program. */
typedef enum ccn_target {
  /** The target for which the package was compiled. */
  CCN_TARGET_DEFAULT,
  /** The CPU, even if the package is for GPUs. */
  CCN_TARGET_CPU,
  /** GPUs. */
  CCN_TARGET_GPU
} ccn_target;

/** Loads the package in a file. A package holds machine code, so load only
    packages whose maker you trust. If the package has variants, the one that
    `ccrun --tune` has chosen on this machine is used (for GPUs, with the same
    CCN_GPU_TRANSPORT). Ranks that were launched choose when they join a team:
    that variant if it is the same for all ranks, else the default.
    CCN_ERROR_MACHINE if this machine does not have the target. */
CCN_API ccn_status ccn_program_load(const char *path, ccn_target target,
                                    ccn_program **program);
/** The same for a package of `size` bytes in memory, which are not needed
    afterwards. */
CCN_API ccn_status ccn_program_load_memory(const void *bytes, size_t size,
                                           ccn_target target,
                                           ccn_program **program);
/** Releases the handle; teams and executors keep what they need. Does nothing
    if it is null. */
CCN_API void ccn_program_release(ccn_program *program);

typedef struct ccn_mesh_axis {
  const char *name;
  int64_t size;
} ccn_mesh_axis;

typedef struct ccn_program_info {
  /** The program's name, and the schedule's, empty if there is none. */
  const char *name;
  const char *schedule;
  /** The ranks and arguments as text. Programs with equal signatures are called
      in the same way. */
  const char *signature;
  /** The hash of the package's content, 64 hexadecimal digits. */
  const char *hash;
  /** CCN_TARGET_CPU or CCN_TARGET_GPU. */
  ccn_target target;
  /** The axes of the mesh, and the number of ranks. A rank is the row-major
      index of its mesh coordinates. */
  const ccn_mesh_axis *mesh;
  int mesh_axes;
  int ranks;
  /** The number of arguments and results together. */
  int arguments;
} ccn_program_info;

CCN_API ccn_status ccn_program_describe(const ccn_program *program,
                                        ccn_program_info *info);

/** CCN_ERROR_PACKAGE unless the program has this signature. */
CCN_API ccn_status ccn_program_check(const ccn_program *program,
                                     const char *signature);

typedef enum ccn_kind {
  /** The program reads it. */
  CCN_INPUT,
  /** The program reads and writes it. */
  CCN_INOUT,
  /** The program writes it. */
  CCN_RESULT
} ccn_kind;

/** An argument or a result. Results come after all arguments. */
typedef struct ccn_argument {
  const char *name;
  /** The type as the language writes it: "f32[1003] sliced(0, dp)". */
  const char *type_name;
  ccn_kind kind;
  ccn_type type;
  /** The shape of the whole tensor. A scalar has no dimensions, and `shape` may
      be null. */
  int dims;
  const int64_t *shape;
  /** Whether several ranks hold the same part, which must have the same values
      on these ranks. */
  int is_replicated;
  /** Whether the argument is passed as a list of buffers (`scattered`), by the
      address of a ccn_buffers. */
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
  /** The number of dimensions, that of the argument. */
  int dims;
  /** Where the part begins in the whole tensor, and its shape. */
  const int64_t *offset;
  const int64_t *shape;
  /** The number of elements and of bytes. */
  int64_t count;
  int64_t bytes;
} ccn_part;

CCN_API ccn_status ccn_program_part(const ccn_program *program, int index,
                                    int rank, ccn_part *part);

/*===----------------------------------------------------------------------===*\
|* Teams
\*===----------------------------------------------------------------------===*/

typedef struct ccn_team ccn_team;

/** Makes a team whose ranks are threads of this process, which the caller
    starts. `programs` lists the programs of which the ranks will create
    executors; a rank can create one executor for each entry. All programs must
    have equally many ranks. `time_limit` is how many seconds a rank waits for
    another at a time; 0 means the value of CCN_TIMEOUT or, if that is not set,
    60. CCN_ERROR_MACHINE if there is not enough memory for all executors. */
CCN_API ccn_status ccn_team_create(ccn_program *const *programs, size_t count,
                                   double time_limit, ccn_team **team);
/** Joins the team of the processes that mpirun, torchrun or Slurm has started,
    on any hosts; this process is one rank. All of them call this with the same
    programs. If the programs have one rank, no launcher is needed: the process
    is rank 0. CCN_LAUNCHER and CCN_TRANSPORT can say which launcher has started
    the processes and how they reach each other.

    Launchers end ranks by SIGTERM. Until the rank leaves, the signal has a
    handler, if the application has not set one: if another rank was lost, the
    handler says so and ends the process with status 4.

    A process can call this once, and should end after an error.
    CCN_ERROR_ARGUMENT if no launcher has started the process as a rank, or if
    the programs have another number of ranks; CCN_ERROR_MACHINE, on all ranks,
    if a host does not have enough memory; else CCN_ERROR_TEAM. */
CCN_API ccn_status ccn_team_join(ccn_program *const *programs, size_t count,
                                 double time_limit, ccn_team **team);
/** Sets `ranks` to the number of ranks, and `own_rank` to the rank of this
    process, or to -1 if all ranks are threads of it. Either pointer may be
    null. */
CCN_API ccn_status ccn_team_describe(const ccn_team *team, int *ranks,
                                     int *own_rank);
/** Sets how many executors of a rank may have runs in progress on its GPU at
    once, on several streams: from 1 to 32; by default 1. It applies to
    executors that are created later. All ranks call this with the same number.

    Kernels that wait for kernels of other ranks must all be on the device at
    once, so each executor can use only its part of the device for them. By
    default one executor may use all of the device; the caller must then order
    runs of different executors (by one stream, or by events), in the same way
    on all ranks.

    CUDA maps streams to a few queues of a device, and streams in one queue wait
    for each other. Set CUDA_DEVICE_MAX_CONNECTIONS=32 in the environment,
    before CUDA is used, to get as many queues as possible; this also helps
    ranks that are threads and share a GPU. Executors then have few streams of
    their own, so that the streams of all executors fit the queues. If ranks and
    runs have more kernels at once than there are queues or multiprocessors,
    creating an executor fails.

    CUDA may also map streams to the same queue if threads begin to use them at
    the same time. Executors therefore begin to use streams one after the other.
    The application must do the same for streams that it begins to use earlier
    in several threads, for example by copies, and for streams in which it
    launches kernels of its own that wait for each other. */
CCN_API ccn_status ccn_team_set_runs_at_once(ccn_team *team, int runs);
/** CCN_ERROR_TEAM if the team has failed. */
CCN_API ccn_status ccn_team_check(const ccn_team *team);
/** Waits until all ranks have called this. Use it around work that must not be
    done while other ranks run: CUDA calls that wait for a device (allocating
    and freeing memory, making a graph) could wait for kernels that wait for
    this rank. */
CCN_API ccn_status ccn_team_meet(ccn_team *team, int rank);
/** Fails the team with the caller's `cause`, so that no other rank waits for
    this one. */
CCN_API ccn_status ccn_team_fail(ccn_team *team, int rank, const char *cause);
/** Declares that a rank no longer takes part, so that others do not wait for
    it. Its executors must have been released. A process that has joined waits
    until the other ranks leave too. Returns CCN_ERROR_TEAM if the team has
    failed. */
CCN_API ccn_status ccn_team_leave(ccn_team *team, int rank);
/** Releases the handle; executors keep what they need. A process that has
    joined leaves the team. Does nothing if it is null. */
CCN_API void ccn_team_release(ccn_team *team);

/*===----------------------------------------------------------------------===*\
|* Executors
\*===----------------------------------------------------------------------===*/

typedef struct ccn_executor ccn_executor;

/** One of the buffers of a scattered argument. */
typedef struct ccn_buffer {
  /** The address, aligned for the element type; may be null if there are no
      elements. */
  void *data;
  /** Its elements. */
  int64_t count;
} ccn_buffer;

/** A scattered argument: a list of buffers, such as the parameters of a model.
    Their elements, in this order, are those of the rank's part. Ranks may have
    different buffers. */
typedef struct ccn_buffers {
  const ccn_buffer *list;
  size_t count;
} ccn_buffers;

/** Instead of a device: ranks take the devices that this process sees in turn,
    by their number on this host if a launcher gives it. */
#define CCN_ANY_DEVICE (-1)

/** Makes a program ready to run on a rank: allocates all memory that runs need,
    and compiles the kernels or loads them from the cache. All ranks of the team
    call this, each in its own thread, and wait for each other. `device` is the
    number of a GPU in this process. */
CCN_API ccn_status ccn_executor_create(ccn_team *team,
                                       const ccn_program *program, int rank,
                                       int device, ccn_executor **executor);

/** Runs the program once; all ranks call it. `arguments` has, for each argument
    and result, the address of this rank's part, aligned for the element type,
    or null if the part has no elements. For a scattered argument it has the
    address of a ccn_buffers in host memory, which has been read when this
    returns. Memory that the run writes must not overlap any other argument.

    On the CPU, the run is done when this returns, and `stream` must be null. If
    the buffers of a scattered argument are not adjacent, the run copies them;
    the first run that does so allocates memory for that.

    On GPUs, all addresses are in the memory of the rank's device, those of
    scalars too, and `stream` is a CUstream or cudaStream_t of that device. The
    call only starts the run; the caller must not change the memory until the
    stream has executed the run. It allocates nothing. The stream may be
    capturing a graph, which can be replayed any number of times, equally often
    on each rank. All runs of an executor, and replays of its graphs, use the
    same memory: if they are on several streams, events must order them. Kernels
    access the buffers of scattered arguments in place. A run with other buffers
    than were bound first tells the device where they are; each argument may
    then have at most 4095 buffers. */
CCN_API ccn_status ccn_executor_run(ccn_executor *executor,
                                    void *const *arguments, size_t count,
                                    void *stream);

/** The same, but scalars that are only read are in host memory, on GPUs too,
    and have been read when this returns. A captured graph keeps their
    values. */
CCN_API ccn_status ccn_executor_run_values(ccn_executor *executor,
                                           void *const *arguments, size_t count,
                                           void *stream);

/** On GPUs, lets other ranks access arguments in the caller's memory, so that
    runs need not copy them. All ranks call this at the same point. The memory
    must remain valid until the executor is released or this is called again.
    The address of a scalar that is only read may be null, if it is passed by
    ccn_executor_run_values. Waits for this rank's last run. Graphs that were
    captured before must have ended and must not be replayed any more.

    Memory that the other ranks' devices cannot access is still copied. They can
    access memory from cuMemAlloc or cudaMalloc, and memory that was mapped by
    cuMemMap. If another process mapped it, cuMemCreate must have been asked for
    handles that are file descriptors, as PyTorch's expandable segments and
    ncclMemAlloc do, and the processes must see each other's sockets (share a
    network namespace). A scattered argument is also copied if its buffers do
    not have the same sizes on all ranks.

    Runs may still pass other addresses. Such a run uses the bound memory for
    its copies and overwrites it, so its arguments must not overlap the bound
    memory. On the CPU this call does nothing. */
CCN_API ccn_status ccn_executor_bind(ccn_executor *executor,
                                     void *const *arguments, size_t count);

/** Sets `copies` to whether each run copies an argument to or from memory that
    the other ranks access. On GPUs this is so if other ranks access the
    argument, and it is not bound or they cannot access the bound memory. (Runs
    with other addresses than were bound copy it too.) 0 on the CPU, and for
    arguments that only their own rank accesses. */
CCN_API ccn_status ccn_executor_copies(const ccn_executor *executor, int index,
                                       int *copies);

/** Waits until everything in `stream` is done, and returns CCN_ERROR_TEAM if a
    run or the team has failed. On the CPU there is nothing to wait for. A
    caller that waits for its stream itself learns of failures from the next
    call; if ranks are lost, it waits at most as long as the time limit. */
CCN_API ccn_status ccn_executor_synchronize(ccn_executor *executor,
                                            void *stream);

/** The number of the rank's device; -1 on the CPU. */
CCN_API ccn_status ccn_executor_device(const ccn_executor *executor,
                                       int *device);

/** Releases an executor. On GPUs, waits for the last run, and for the other
    ranks to end theirs, since they use this rank's memory. Graphs must have
    ended and, if GPUs send messages (CCN_GPU_TRANSPORT), must have been
    destroyed. If another call is in progress, returns CCN_ERROR_ARGUMENT and
    releases nothing. Does nothing if `executor` is null. */
CCN_API ccn_status ccn_executor_release(ccn_executor *executor);

#ifdef __cplusplus
}
#endif

#endif /* CCN_H */
