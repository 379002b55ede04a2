//===- EmitHeader.cpp - A program's functions for C and C++ ---------------===//
//
// All functions are inline, so that the library beside a header holds bytes
// only, and who loads packages from files needs no library.
//
//===----------------------------------------------------------------------===//

#include "codegen/package/EmitHeader.h"

#include "runtime/base/Hash.h"
#include "runtime/plan/Signature.h"

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

using namespace ccn::runtime;

namespace ccn::codegen {

namespace {

/// What a parameter cannot be named: the keywords of C23 and C++20, macros of
/// the C library and of compilers, and what the functions themselves use.
const std::set<std::string, std::less<>> &reservedNames() {
  static const std::set<std::string, std::less<>> names = [] {
    std::istringstream words(
        "alignas alignof and and_eq asm auto bitand bitor bool break case "
        "catch "
        "char char16_t char32_t char8_t class co_await co_return co_yield "
        "compl "
        "concept const const_cast consteval constexpr constinit continue "
        "decltype default delete do double dynamic_cast else enum explicit "
        "export extern false float for friend goto if inline int long mutable "
        "namespace new noexcept not not_eq nullptr operator or or_eq private "
        "protected public register reinterpret_cast requires restrict return "
        "short signed sizeof static static_assert static_cast struct switch "
        "template this thread_local throw true try typedef typeid typename "
        "typeof typeof_unqual union unsigned using virtual void volatile "
        "wchar_t while xor xor_eq "
        "EOF INFINITY NAN NULL assert errno linux math_errhandling stderr "
        "stdin "
        "stdout unix "
        "arguments executor stream");
    std::set<std::string, std::less<>> all;
    for (std::string word; words >> word;)
      all.insert(word);
    return all;
  }();
  return names;
}

bool isIdentifier(std::string_view name) {
  auto isIn = [](char c, char first, char last) {
    return c >= first && c <= last;
  };
  return !name.empty() && !isIn(name[0], '0', '9') &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return isIn(c, 'a', 'z') || isIn(c, 'A', 'Z') || isIn(c, '0', '9') ||
                  c == '_';
         });
}

/// A name for each argument, all different.
std::vector<std::string> parameterNames(const Plan &plan) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const Argument &argument : plan.arguments) {
    std::string name = argument.name;
    while (reservedNames().contains(name) || !taken.insert(name).second)
      name += '_';
    names.push_back(name);
  }
  return names;
}

const char *cType(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "double";
  case ElementType::F32:
    return "float";
  case ElementType::F16:
    return "ccn_f16";
  case ElementType::BF16:
    return "ccn_bf16";
  case ElementType::F8E4M3:
    return "ccn_f8e4m3";
  case ElementType::F8E5M2:
    return "ccn_f8e5m2";
  case ElementType::I8:
    return "int8_t";
  case ElementType::I16:
    return "int16_t";
  case ElementType::I32:
    return "int32_t";
  case ElementType::I64:
    return "int64_t";
  case ElementType::U8:
    return "uint8_t";
  case ElementType::U16:
    return "uint16_t";
  case ElementType::U32:
    return "uint32_t";
  case ElementType::U64:
    return "uint64_t";
  case ElementType::Bool:
    return "ccn_bool";
  }
  return "void";
}

std::string describeMesh(const Plan &plan) {
  std::string text;
  for (const MeshAxis &axis : plan.mesh)
    text += (text.empty() ? "mesh (" : ", ") + axis.name + " = " +
            std::to_string(axis.size);
  return text.empty() ? "no mesh" : text + ")";
}

/// The shape of a rank's part of the tensor: "[251]".
std::string partShape(const Plan &plan, size_t argument, size_t rank) {
  const std::vector<int64_t> &sizes =
      plan.ranks[rank].placements[argument].sizes;
  std::string text = "[";
  auto first = static_cast<size_t>(plan.arguments[argument].leadingDims);
  for (size_t dim = first; dim < sizes.size(); ++dim)
    text += (dim > first ? ", " : "") + std::to_string(sizes[dim]);
  return text + "]";
}

/// What the ranks hold: "[251] on ranks 0 to 2, [250] on rank 3".
std::string describeParts(const Plan &plan, size_t argument) {
  std::string text;
  size_t count = plan.ranks.size();
  for (size_t first = 0, end = 0; first < count; first = end) {
    std::string shape = partShape(plan, argument, first);
    while (end < count && partShape(plan, argument, end) == shape)
      ++end;
    if (first == 0 && end == count)
      return shape;
    text += (first ? ", " : "") + shape + " on rank" +
            (end - first > 1 ? "s " : " ") + std::to_string(first);
    if (end - first > 1)
      text += " to " + std::to_string(end - 1);
  }
  return text;
}

class HeaderWriter {
public:
  HeaderWriter(const std::string &program, const Plan &plan,
               const std::string &prefix)
      : program(program), plan(plan), prefix(prefix),
        tag(signatureTag(program, plan)), names(parameterNames(plan)) {}

  std::string write();

private:
  bool isValue(size_t argument) const {
    return runtime::isValue(plan.arguments[argument]);
  }
  void writeConstants();
  void writeCreation();
  void writeRun();
  void writeBind();
  void writeEnd();
  /// ", const float *p, float lr": the parameters of a function that has others
  /// before.
  std::string parameters(bool withValues) const;
  /// The definition of the array of addresses.
  void writeArguments(bool withValues);

  std::ostringstream os;
  const std::string &program;
  const Plan &plan;
  const std::string &prefix;
  std::string tag;
  std::vector<std::string> names;
};

void HeaderWriter::writeConstants() {
  os << "/** What ccn_program_check expects. */\n#define " << prefix
     << "_signature \\\n  \"" << signatureOf(program, plan) << "\"\n\n"
     << "enum {\n  " << prefix << "_ranks = " << plan.ranks.size() << ",\n  "
     << prefix << "_arguments = " << plan.arguments.size() << "\n};\n";
  if (plan.arguments.empty())
    return;
  os << "\n/** Arguments and results, for ccn_program_argument and "
        "ccn_program_part. */\nenum {\n";
  for (size_t i = 0; i < names.size(); ++i)
    os << "  " << prefix << "_argument_" << names[i] << " = " << i
       << (i + 1 < names.size() ? ",\n" : "\n");
  os << "};\n";
}

void HeaderWriter::writeCreation() {
  std::string executor = prefix + "_executor";
  os << R"(
/** The package, in the library that `cccompile --emit lib` writes. A library
    of another program, or of this one with other sizes, lacks the second. */
extern const unsigned char )"
     << prefix << "_package[];\nextern const uint64_t " << prefix
     << "_package_size_" << tag << R"(;

/** Loads the package from that library. */
static inline ccn_status )"
     << prefix << R"(_load(ccn_target target, ccn_program **program) {
  return ccn_program_load_memory()"
     << prefix << "_package, (size_t)" << prefix << "_package_size_" << tag
     << R"(,
                                 target, program);
}

/** See ccn_executor_create. CCN_ERROR_PACKAGE if this is another program. */
static inline ccn_status )"
     << prefix << R"(_create(ccn_team *team, const ccn_program *program,
    int rank, int device, )"
     << executor << R"( **executor) {
  ccn_executor *made = NULL;
  ccn_status status = ccn_program_check(program, )"
     << prefix << R"(_signature);
  if (status == CCN_OK)
    status = ccn_executor_create(team, program, rank, device,
                                 executor ? &made : NULL);
  if (status == CCN_OK)
    *executor = ()"
     << executor << R"( *)made;
  return status;
}
)";
}

std::string HeaderWriter::parameters(bool withValues) const {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const Argument &argument = plan.arguments[i];
    if (isValue(i) && !withValues)
      continue;
    text += ",\n    ";
    if (argument.scattered) {
      text += "const ccn_buffers *" + names[i];
      continue;
    }
    if (argument.kind == ArgumentKind::Input && !isValue(i))
      text += "const ";
    text += std::string(cType(argument.type)) + (isValue(i) ? " " : " *") +
            names[i];
  }
  return text;
}

void HeaderWriter::writeArguments(bool withValues) {
  os << "  void *arguments[] = {\n";
  for (size_t i = 0; i < names.size(); ++i)
    os << "      "
       << (!isValue(i)  ? "(void *)" + names[i]
           : withValues ? "(void *)&" + names[i]
                        : "NULL")
       << ",\n";
  // An array of none is no C.
  if (names.empty())
    os << "      NULL,\n";
  os << "  };\n";
}

void HeaderWriter::writeRun() {
  os << R"(
/** Runs the program once: see ccn_executor_run_values. Of each tensor a rank
    passes its part, row-major:

)";
  for (size_t i = 0; i < names.size(); ++i) {
    const Argument &argument = plan.arguments[i];
    os << "      " << names[i] << ": "
       << (argument.kind == ArgumentKind::Input   ? "reads "
           : argument.kind == ArgumentKind::InOut ? "reads and writes "
                                                  : "writes ")
       << argument.typeName;
    if (isValue(i))
      os << ", a value";
    else
      os << ", of which it has " << describeParts(plan, i);
    os << (argument.scattered ? ", in a list of buffers\n" : "\n");
  }
  os << R"(
    On GPUs pointers are to memory of the rank's device, and `stream` is a
    CUstream or cudaStream_t of it; on the CPU it is null. A graph keeps the
    values that were passed: ccn_executor_run takes them from device memory. */
static inline ccn_status )"
     << prefix << "_run(" << prefix << "_executor *executor" << parameters(true)
     << ",\n    void *stream) {\n";
  writeArguments(true);
  os << "  return ccn_executor_run_values((ccn_executor *)executor, "
        "arguments,\n"
     << "                                 " << prefix
     << "_arguments, stream);\n}\n";
}

void HeaderWriter::writeBind() {
  os << R"(
/** Lets other ranks access memory that stays: see ccn_executor_bind. */
static inline ccn_status )"
     << prefix << "_bind(" << prefix << "_executor *executor"
     << parameters(false) << ") {\n";
  writeArguments(false);
  os << "  return ccn_executor_bind((ccn_executor *)executor, arguments,\n"
     << "                           " << prefix << "_arguments);\n}\n";
}

void HeaderWriter::writeEnd() {
  os << R"(
/** See ccn_executor_synchronize. */
static inline ccn_status )"
     << prefix << "_synchronize(" << prefix << R"(_executor *executor,
    void *stream) {
  return ccn_executor_synchronize((ccn_executor *)executor, stream);
}

/** See ccn_executor_release. */
static inline ccn_status )"
     << prefix << "_release(" << prefix << R"(_executor *executor) {
  return ccn_executor_release((ccn_executor *)executor);
}
)";
}

std::string HeaderWriter::write() {
  std::string guard = "CCN_PROGRAM_" + prefix + "_H";
  os << "/* Program '" << program << "', " << describeMesh(plan) << ", "
     << plan.ranks.size() << (plan.ranks.size() == 1 ? " rank" : " ranks")
     << ". Made by cccompile. */\n\n#ifndef " << guard << "\n#define " << guard
     << " 0x" << tag
     << "u\n\n#include <ccn.h>\n\n#ifdef __cplusplus\nextern \"C\" "
        "{\n#endif\n\n"
     << "/** A ccn_executor of this program. */\ntypedef struct " << prefix
     << "_executor " << prefix << "_executor;\n\n";
  writeConstants();
  writeCreation();
  writeRun();
  writeBind();
  writeEnd();
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#elif " << guard << " != 0x" << tag
     << "u\n#error \"two headers of programs whose names begin with '" << prefix
     << "_': expected another cccompile --prefix, or PREFIX of "
        "ccn_add_program, for one\"\n#endif /* "
     << guard << " */\n";
  return os.str();
}

} // namespace

std::string cPrefix(const std::string &program) {
  bool isTaken = program == "ccn" || program.starts_with("ccn_");
  return isTaken ? "program_" + program : program;
}

std::string signatureTag(const std::string &program, const Plan &plan) {
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0')
       << fnv1a(signatureOf(program, plan));
  return text.str();
}

Result<std::string> emitHeader(const std::string &program, const Plan &plan,
                               const std::string &prefix) {
  std::vector<std::pair<const char *, std::string>> all = {
      {"the program", program}};
  for (const MeshAxis &axis : plan.mesh)
    all.emplace_back("a mesh axis", axis.name);
  for (const Argument &argument : plan.arguments)
    all.emplace_back("an argument", argument.name);
  for (const auto &[what, name] : all)
    if (!isIdentifier(name))
      return error("a header for C cannot name ", what, " '", name,
                   "': expected letters, digits and '_'");
  return HeaderWriter(program, plan, prefix).write();
}

} // namespace ccn::codegen
