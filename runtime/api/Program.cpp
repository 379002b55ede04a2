//===- Program.cpp - Programs of the C API --------------------------------===//
//
// Loads packages, checks them and whether they can run on this machine, and
// describes their arguments.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/launch/RankLaunch.h"
#include "runtime/plan/CheckPackage.h"
#include "runtime/plan/Signature.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::runtime::api;

static_assert(CCN_F64 == static_cast<int>(ElementType::F64) &&
              CCN_F16 == static_cast<int>(ElementType::F16) &&
              CCN_F8E5M2 == static_cast<int>(ElementType::F8E5M2) &&
              CCN_I8 == static_cast<int>(ElementType::I8) &&
              CCN_U8 == static_cast<int>(ElementType::U8) &&
              CCN_BOOL == static_cast<int>(ElementType::Bool));
static_assert(CCN_INPUT == static_cast<int>(ArgumentKind::Input) &&
              CCN_INOUT == static_cast<int>(ArgumentKind::InOut) &&
              CCN_RESULT == static_cast<int>(ArgumentKind::Result));

/// The element type with that number, if there is one.
static std::optional<ElementType> elementType(int type) {
  for (ElementType known : allElementTypes)
    if (static_cast<int>(known) == type)
      return known;
  return std::nullopt;
}

size_t ccn_type_size(ccn_type type) {
  std::optional<ElementType> known = elementType(numberOf(type));
  return known ? static_cast<size_t>(sizeInBytes(*known)) : 0;
}

const char *ccn_type_name(ccn_type type) {
  std::optional<ElementType> known = elementType(numberOf(type));
  // All names are literals, which end with a 0.
  return known ? name(*known).data() : "unknown";
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

ccn_status LoadedProgram::load(bool onGpus) {
  auto failed = [&](ccn_status status, const Status &why) {
    return fail(status,
                error("program '", package.program, "': ", why.message()));
  };
  if (onGpus && !package.gpu)
    return failed(CCN_ERROR_ARGUMENT,
                  error("the package holds no kernels for GPUs"));
  if (Status status = checkPackage(package); !status)
    return failed(CCN_ERROR_PACKAGE, status);
  if (Status status = onGpus ? checkGpus() : checkMachine(package); !status)
    return failed(CCN_ERROR_MACHINE, status);
  // Only ccrun needs these, for comparisons.
  package.reference.reset();
  package.bounds.reset();
  Result<RankCode> loaded = loadCode(package, onGpus);
  if (!loaded)
    return failed(CCN_ERROR_MACHINE, loaded.status());
  code = *std::move(loaded);
  Result<int64_t> bytes = mostBytes(
      package, [&](const Plan &plan) { return executorBytes(plan, onGpus); });
  if (!bytes)
    return failed(CCN_ERROR_PACKAGE, bytes.status());
  symmetricBytes = *bytes;
  signature = signatureOf(package.program, package.plan);
  for (const MeshAxis &axis : package.plan.mesh)
    mesh.push_back({axis.name.c_str(), axis.size});
  return CCN_OK;
}

static ccn_status load(Result<Package> package, ccn_target target,
                       ccn_program **program) {
  if (!package)
    return fail(CCN_ERROR_PACKAGE, package.status());
  auto made = std::make_shared<LoadedProgram>();
  made->package = *std::move(package);
  bool onGpus = target == CCN_TARGET_DEFAULT ? made->package.gpu.has_value()
                                             : target == CCN_TARGET_GPU;
  // Errors in the environment are reported when a team is made.
  Result<Environment> environment = Environment::read();
  made->tuned = fastestVariants(made->package, onGpus,
                                environment ? environment->gpuTransport
                                            : GpuTransport::Auto);
  // Ranks that were launched choose a variant together, when they join a team.
  Result<std::optional<RankLaunch>> launch = detectLaunch();
  if (!launch || !*launch)
    made->take(static_cast<size_t>(made->tuned.oneHost));
  if (ccn_status status = made->load(onGpus); status != CCN_OK)
    return status;
  *program = new ccn_program{std::move(made)};
  return CCN_OK;
}

static Status checkTargetValue(int value) {
  return value >= CCN_TARGET_DEFAULT && value <= CCN_TARGET_GPU
             ? Status()
             : error("expected a target, found ", value);
}

ccn_status ccn_program_load(const char *path, ccn_target target,
                            ccn_program **program) {
  return guarded([&] {
    if (!path || !program)
      return wrong(path ? "the place for the program is null"
                        : "the path is null");
    if (Status status = checkTargetValue(numberOf(target)); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    return load(readPackage(path), target, program);
  });
}

ccn_status ccn_program_load_memory(const void *bytes, size_t size,
                                   ccn_target target, ccn_program **program) {
  return guarded([&] {
    if (!bytes || !program)
      return wrong(bytes ? "the place for the program is null"
                         : "the package is null");
    if (Status status = checkTargetValue(numberOf(target)); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    return load(decodePackage({static_cast<const char *>(bytes), size}), target,
                program);
  });
}

void ccn_program_release(ccn_program *program) {
  (void)guarded([&] {
    delete program;
    return CCN_OK;
  });
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

ccn_status ccn_program_describe(const ccn_program *program,
                                ccn_program_info *info) {
  return guarded([&] {
    if (!program || !info)
      return wrong(program ? "the place for the information is null"
                           : "the program is null");
    const LoadedProgram &loaded = *program->loaded;
    const Package &package = loaded.package;
    *info = {package.program.c_str(),
             package.schedule.c_str(),
             loaded.signature.c_str(),
             package.hash.c_str(),
             loaded.isOnGpus() ? CCN_TARGET_GPU : CCN_TARGET_CPU,
             loaded.mesh.data(),
             static_cast<int>(loaded.mesh.size()),
             loaded.ranks(),
             static_cast<int>(package.plan.arguments.size())};
    return CCN_OK;
  });
}

ccn_status ccn_program_check(const ccn_program *program,
                             const char *signature) {
  return guarded([&] {
    if (!program || !signature)
      return wrong(program ? "the signature is null" : "the program is null");
    const std::string &own = program->loaded->signature;
    return own == signature
               ? CCN_OK
               : fail(CCN_ERROR_PACKAGE, error("expected program '", signature,
                                               "', found '", own, "'"));
  });
}

Status LoadedProgram::checkIndex(int index) const {
  auto count = static_cast<int>(package.plan.arguments.size());
  if (index >= 0 && index < count)
    return Status();
  return error("expected an argument from 0 to ", count - 1, ", found ", index);
}

ccn_status ccn_program_argument(const ccn_program *program, int index,
                                ccn_argument *argument) {
  return guarded([&] {
    if (!program || !argument)
      return wrong(program ? "the place for the argument is null"
                           : "the program is null");
    if (Status status = program->loaded->checkIndex(index); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    const Argument &own =
        program->loaded->package.plan.arguments[static_cast<size_t>(index)];
    *argument = {own.name.c_str(),
                 own.typeName.c_str(),
                 static_cast<ccn_kind>(own.kind),
                 static_cast<ccn_type>(own.type),
                 static_cast<int>(static_cast<int64_t>(own.shape.size()) -
                                  own.leadingDims),
                 own.shape.data() + own.leadingDims,
                 own.replicated,
                 own.scattered};
    return CCN_OK;
  });
}

ccn_status ccn_program_find(const ccn_program *program, const char *name,
                            int *index) {
  return guarded([&] {
    if (!program || !name || !index)
      return wrong(!program ? "the program is null"
                   : !name  ? "the name is null"
                            : "the place for the index is null");
    const Package &package = program->loaded->package;
    const std::vector<Argument> &arguments = package.plan.arguments;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].name == name) {
        *index = static_cast<int>(i);
        return CCN_OK;
      }
    return wrong("program '", package.program, "' has no argument '", name,
                 "'");
  });
}

ccn_status ccn_program_part(const ccn_program *program, int index, int rank,
                            ccn_part *part) {
  return guarded([&] {
    if (!program || !part)
      return wrong(program ? "the place for the part is null"
                           : "the program is null");
    if (Status status = program->loaded->checkIndex(index); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    const LoadedProgram &loaded = *program->loaded;
    if (rank < 0 || rank >= loaded.ranks())
      return wrong("expected a rank from 0 to ", loaded.ranks() - 1, ", found ",
                   rank);
    const Plan &plan = loaded.package.plan;
    const Argument &argument = plan.arguments[static_cast<size_t>(index)];
    const Placement &own = plan.ranks[static_cast<size_t>(rank)]
                               .placements[static_cast<size_t>(index)];
    int64_t count = 1;
    for (int64_t size : own.sizes)
      count *= size;
    *part = {static_cast<int>(static_cast<int64_t>(own.sizes.size()) -
                              argument.leadingDims),
             own.offsets.data() + argument.leadingDims,
             own.sizes.data() + argument.leadingDims, count,
             count * sizeInBytes(argument.type)};
    return CCN_OK;
  });
}
