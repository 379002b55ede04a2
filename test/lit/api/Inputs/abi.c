/* What applications that were compiled with this version rely on: the sizes of
   structs and the places of their fields, the numbers of enumerators, and the
   types of functions. None of it changes within a SONAME of libccn, as
   runtime/api/README.md says; what is added gets a line. */
#include <ccn.h>

#define HAS(what, number) _Static_assert((what) == (number), #what)
#define FIELD(type, field, place) HAS(offsetof(type, field), place)

HAS(sizeof(ccn_mesh_axis), 16);
FIELD(ccn_mesh_axis, name, 0);
FIELD(ccn_mesh_axis, size, 8);

HAS(sizeof(ccn_program_info), 64);
FIELD(ccn_program_info, name, 0);
FIELD(ccn_program_info, schedule, 8);
FIELD(ccn_program_info, signature, 16);
FIELD(ccn_program_info, hash, 24);
FIELD(ccn_program_info, target, 32);
FIELD(ccn_program_info, mesh, 40);
FIELD(ccn_program_info, mesh_axes, 48);
FIELD(ccn_program_info, ranks, 52);
FIELD(ccn_program_info, arguments, 56);

HAS(sizeof(ccn_argument), 48);
FIELD(ccn_argument, name, 0);
FIELD(ccn_argument, type_name, 8);
FIELD(ccn_argument, kind, 16);
FIELD(ccn_argument, type, 20);
FIELD(ccn_argument, dims, 24);
FIELD(ccn_argument, shape, 32);
FIELD(ccn_argument, is_replicated, 40);
FIELD(ccn_argument, is_scattered, 44);

HAS(sizeof(ccn_part), 40);
FIELD(ccn_part, dims, 0);
FIELD(ccn_part, offset, 8);
FIELD(ccn_part, shape, 16);
FIELD(ccn_part, count, 24);
FIELD(ccn_part, bytes, 32);

HAS(sizeof(ccn_buffer), 16);
FIELD(ccn_buffer, data, 0);
FIELD(ccn_buffer, count, 8);

HAS(sizeof(ccn_buffers), 16);
FIELD(ccn_buffers, list, 0);
FIELD(ccn_buffers, count, 8);

HAS(sizeof(ccn_status), 4);
HAS(CCN_OK, 0);
HAS(CCN_ERROR_PACKAGE, 1);
HAS(CCN_ERROR_ARGUMENT, 2);
HAS(CCN_ERROR_MACHINE, 3);
HAS(CCN_ERROR_TEAM, 4);

HAS(sizeof(ccn_type), 4);
HAS(CCN_F64, 0);
HAS(CCN_F32, 1);
HAS(CCN_F16, 2);
HAS(CCN_BF16, 3);
HAS(CCN_F8E4M3, 4);
HAS(CCN_F8E5M2, 5);
HAS(CCN_I8, 6);
HAS(CCN_I16, 7);
HAS(CCN_I32, 8);
HAS(CCN_I64, 9);
HAS(CCN_U8, 10);
HAS(CCN_U16, 11);
HAS(CCN_U32, 12);
HAS(CCN_U64, 13);
HAS(CCN_BOOL, 14);

HAS(sizeof(ccn_target), 4);
HAS(CCN_TARGET_DEFAULT, 0);
HAS(CCN_TARGET_CPU, 1);
HAS(CCN_TARGET_GPU, 2);

HAS(sizeof(ccn_kind), 4);
HAS(CCN_INPUT, 0);
HAS(CCN_INOUT, 1);
HAS(CCN_RESULT, 2);

HAS(CCN_ANY_DEVICE, -1);

/* A function that has another type than here is declared twice, in two ways. */
const char *ccn_version(void);
const char *ccn_last_error(void);
const char *ccn_status_name(ccn_status);
size_t ccn_type_size(ccn_type);
const char *ccn_type_name(ccn_type);
ccn_status ccn_program_load(const char *, ccn_target, ccn_program **);
ccn_status ccn_program_load_memory(const void *, size_t, ccn_target,
                                   ccn_program **);
void ccn_program_release(ccn_program *);
ccn_status ccn_program_describe(const ccn_program *, ccn_program_info *);
ccn_status ccn_program_check(const ccn_program *, const char *);
ccn_status ccn_program_argument(const ccn_program *, int, ccn_argument *);
ccn_status ccn_program_find(const ccn_program *, const char *, int *);
ccn_status ccn_program_part(const ccn_program *, int, int, ccn_part *);
ccn_status ccn_team_create(ccn_program *const *, size_t, double, ccn_team **);
ccn_status ccn_team_join(ccn_program *const *, size_t, double, ccn_team **);
ccn_status ccn_team_describe(const ccn_team *, int *, int *);
ccn_status ccn_team_set_runs_at_once(ccn_team *, int);
ccn_status ccn_team_check(const ccn_team *);
ccn_status ccn_team_meet(ccn_team *, int);
ccn_status ccn_team_fail(ccn_team *, int, const char *);
ccn_status ccn_team_leave(ccn_team *, int);
void ccn_team_release(ccn_team *);
ccn_status ccn_executor_create(ccn_team *, const ccn_program *, int, int,
                               ccn_executor **);
ccn_status ccn_executor_run(ccn_executor *, void *const *, size_t, void *);
ccn_status ccn_executor_run_values(ccn_executor *, void *const *, size_t,
                                   void *);
ccn_status ccn_executor_bind(ccn_executor *, void *const *, size_t);
ccn_status ccn_executor_copies(const ccn_executor *, int, int *);
ccn_status ccn_executor_synchronize(ccn_executor *, void *);
ccn_status ccn_executor_device(const ccn_executor *, int *);
ccn_status ccn_executor_release(ccn_executor *);
