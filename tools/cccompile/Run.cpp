//===- Run.cpp - Running a program on CPU ranks ---------------------------===//
//
// Reads the arrays that the command line names, runs the reference interpreter,
// prints what came out and writes the arrays asked for.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Run.h"

#include "lib/Driver/Phases.h"
#include "lib/Frontend/Constant.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Movement.h"
#include "lib/Interpreter/NpyTensor.h"
#include "lib/Interpreter/Placement.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace ccn;
using namespace ccn::interp;
using llvm::StringRef;

namespace {

class Runner {
public:
  Runner(ProgramOp program, const Options &options, Diagnostics &diagnostics)
      : program(program), mesh(program.getMesh()), options(options),
        diagnostics(diagnostics) {}

  int run();

private:
  bool readInputs();
  std::optional<HostTensor> readInput(unsigned index, const std::string &text);
  std::optional<HostTensor> readScalar(unsigned index, StringRef text);
  std::optional<HostTensor> readScattered(unsigned index,
                                          llvm::ArrayRef<StringRef> paths);
  bool checkOutputs();
  /// Reports, before a long run, a file that could not be written after it.
  bool isWritable(StringRef file);
  bool writeOutput(const Output &output, const std::string &paths);
  void print(const Output &output, const mlir::RankedTensorType type);
  /// The type of an inout argument or result; null if there is none.
  mlir::RankedTensorType getOutputType(StringRef name);

  bool fail(const llvm::Twine &message) {
    diagnostics.error(message);
    return false;
  }

  ProgramOp program;
  RankMesh mesh;
  const Options &options;
  Diagnostics &diagnostics;
  NamedTensors inputs;
  /// The sizes of a scattered argument's buffers, in order.
  llvm::StringMap<std::vector<int64_t>> pieces;
};

mlir::RankedTensorType argumentType(ProgramOp program, unsigned index) {
  return llvm::cast<mlir::RankedTensorType>(
      program.getArgument(index).getType());
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

std::optional<HostTensor> Runner::readScalar(unsigned index, StringRef text) {
  mlir::RankedTensorType type = argumentType(program, index);
  std::string name = program.getArgName(index).str();
  std::optional<frontend::Constant> constant = frontend::parseConstant(text);
  std::string why;
  mlir::TypedAttr value;
  if (constant)
    value = constant->toAttr(type.getElementType(), why);
  if (!value) {
    if (why.empty())
      why = (type.getElementType().isInteger(1)
                 ? "expected true, false or a .npy file, found '"
                 : "expected a number or a .npy file, found '") +
            text.str() + "'";
    fail("input '" + name + "': " + why);
    return std::nullopt;
  }
  ElementType element = elementTypeOf(type.getElementType());
  // The element's bits, low bytes first as in memory.
  llvm::APInt bits =
      llvm::isa<mlir::FloatAttr>(value)
          ? llvm::cast<mlir::FloatAttr>(value).getValue().bitcastToAPInt()
          : llvm::cast<mlir::IntegerAttr>(value).getValue();
  uint64_t raw = bits.getZExtValue();
  Result<HostTensor> scalar =
      HostTensor::fromBytes(element, {}, &raw, sizeInBytes(element));
  // One that is local gets the value on every rank.
  Result<HostTensor> tensor =
      scalar ? broadcastTo(*scalar, mesh.externalShape(type)) : scalar;
  if (tensor)
    return *tensor;
  fail(tensor.message());
  return std::nullopt;
}

std::optional<HostTensor>
Runner::readScattered(unsigned index, llvm::ArrayRef<StringRef> paths) {
  mlir::RankedTensorType type = argumentType(program, index);
  std::string name = program.getArgName(index).str();
  ElementType element = elementTypeOf(type.getElementType());
  Shape whole = mesh.externalShape(type);
  std::vector<HostTensor> buffers;
  std::vector<int64_t> sizes;
  int64_t sum = 0;
  for (StringRef path : paths) {
    Result<NpyFile> file = NpyFile::open(path.str());
    if (!file) {
      fail("input '" + name + "': " + file.message());
      return std::nullopt;
    }
    // Each buffer has the whole's shape but for the last size.
    Shape shape = whole;
    if (!file->shape().empty())
      shape.back() = file->shape().back();
    Result<HostTensor> buffer = loadNpy(path.str(), element, shape);
    if (!buffer) {
      fail("input '" + name + "': " + buffer.message());
      return std::nullopt;
    }
    sum += shape.back();
    sizes.push_back(shape.back());
    buffers.push_back(*buffer);
  }
  if (sum != whole.back()) {
    fail("expected buffers of " + llvm::Twine(whole.back()) +
         " elements together for '" + name + "', found " + llvm::Twine(sum));
    return std::nullopt;
  }
  pieces[name] = sizes;
  Result<HostTensor> tensor =
      concat(static_cast<int64_t>(whole.size()) - 1, buffers);
  if (tensor)
    return *tensor;
  fail(tensor.message());
  return std::nullopt;
}

std::optional<HostTensor> Runner::readInput(unsigned index,
                                            const std::string &text) {
  mlir::RankedTensorType type = argumentType(program, index);
  bool isFile = StringRef(text).ends_with(".npy");
  if (type.getRank() == 0 && !isFile)
    return readScalar(index, text);
  if (program.isScattered(index)) {
    llvm::SmallVector<StringRef> paths;
    StringRef(text).split(paths, ',');
    return readScattered(index, paths);
  }
  if (!isFile && frontend::parseConstant(text)) {
    fail("input '" + program.getArgName(index).getValue() +
         "': expected a .npy file of '" +
         typeName(argumentType(program, index)) + "', found '" + text + "'");
    return std::nullopt;
  }
  Result<HostTensor> tensor = loadNpy(
      text, elementTypeOf(type.getElementType()), mesh.externalShape(type));
  if (tensor)
    return *tensor;
  fail("input '" + program.getArgName(index).getValue() +
       "': " + tensor.message());
  return std::nullopt;
}

bool Runner::readInputs() {
  llvm::SmallVector<StringRef> names;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    names.push_back(program.getArgName(i));
  for (const auto &[name, text] : options.inputs) {
    auto it = llvm::find(names, name);
    if (it == names.end())
      return fail("program '" + program.getSymName() + "' has no argument '" +
                  name + "'" + didYouMean(name, names));
    std::optional<HostTensor> tensor = readInput(it - names.begin(), text);
    if (!tensor)
      return false;
    inputs.emplace(name, std::move(*tensor));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

mlir::RankedTensorType Runner::getOutputType(StringRef name) {
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (program.isInout(i) && program.getArgName(i) == name)
      return argumentType(program, i);
  for (auto [i, type] : llvm::enumerate(program.getResultTypes()))
    if (program.getResultName(i) == name)
      return llvm::cast<mlir::RankedTensorType>(type);
  return {};
}

bool Runner::isWritable(StringRef file) {
  namespace fs = llvm::sys::fs;
  if (fs::is_directory(file))
    return fail("cannot write '" + file + "': it is a folder");
  StringRef folder = llvm::sys::path::parent_path(file);
  if (folder.empty())
    folder = ".";
  if (!fs::is_directory(folder))
    return fail("cannot write '" + file + "': there is no folder '" + folder +
                "'");
  if (std::error_code denied = fs::access(folder, fs::AccessMode::Write))
    return fail("cannot write '" + file + "': " + denied.message());
  return true;
}

bool Runner::checkOutputs() {
  llvm::SmallVector<StringRef> names;
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    if (program.isInout(i))
      names.push_back(program.getArgName(i));
  for (unsigned i = 0; i < program.getNumResults(); ++i)
    names.push_back(program.getResultName(i));
  for (const auto &[name, path] : options.outputs) {
    if (!llvm::is_contained(names, name))
      return fail("program '" + program.getSymName() +
                  "' has no inout argument or result '" + name + "'" +
                  didYouMean(name, names));
    auto scattered = pieces.find(name);
    size_t paths = StringRef(path).count(',') + 1;
    if (scattered != pieces.end() && paths != 1 &&
        paths != scattered->second.size())
      return fail("expected one file or " +
                  llvm::Twine(scattered->second.size()) + " for '" + name +
                  "', as many as its input has, found " + llvm::Twine(paths));
    llvm::SmallVector<StringRef> files = {path};
    if (scattered != pieces.end()) {
      files.clear();
      StringRef(path).split(files, ',');
    }
    if (!llvm::all_of(files, [&](StringRef file) { return isWritable(file); }))
      return false;
  }
  return true;
}

bool Runner::writeOutput(const Output &output, const std::string &paths) {
  auto scattered = pieces.find(output.name);
  llvm::SmallVector<StringRef> files;
  if (scattered != pieces.end())
    StringRef(paths).split(files, ',');
  if (files.size() <= 1) {
    Status status = saveNpy(paths, output.tensor);
    return status.ok() || fail(status.message());
  }
  int64_t begin = 0;
  for (auto [file, size] : llvm::zip_equal(files, scattered->second)) {
    Result<HostTensor> piece =
        extract(output.tensor, output.tensor.rank() - 1, begin, begin + size);
    if (!piece)
      return fail(piece.message());
    Status status = saveNpy(file.str(), *piece);
    if (!status.ok())
      return fail(status.message());
    begin += size;
  }
  return true;
}

/// `p: f32[1003] = 0.1, 0.2, 0.3, ..., 0.9`
void Runner::print(const Output &output, const mlir::RankedTensorType type) {
  constexpr int64_t shown = 3;
  llvm::outs() << output.name << ": " << typeName(type) << " =";
  llvm::ListSeparator separator(",");
  int64_t count = output.tensor.count();
  for (int64_t i = 0; i < count; ++i) {
    if (count > 2 * shown + 1 && i == shown) {
      llvm::outs() << separator << " ...";
      i = count - shown;
    }
    llvm::outs() << separator << " " << output.tensor.textAt(i);
  }
  if (count == 0)
    llvm::outs() << " (empty)";
  llvm::outs() << "\n";
}

int Runner::run() {
  if (program.getRank()) {
    diagnostics.error("program '" + program.getSymName() +
                      "' is localized for one rank; run what phase 'schedule' "
                      "leaves, which all ranks share");
    return 2;
  }
  if (!readInputs() || !checkOutputs())
    return 2;
  RunOptions runOptions;
  runOptions.seed = options.seed;
  runOptions.timeLimit = options.timeLimit;
  mlir::ScopedDiagnosticHandler handler(
      program.getContext(), [&](mlir::Diagnostic &diagnostic) {
        forwardDiagnostic(diagnostic, diagnostics);
        return mlir::success();
      });
  mlir::FailureOr<std::vector<Output>> outputs =
      interp::run(program, program.getMesh(), std::move(inputs), runOptions);
  if (mlir::failed(outputs))
    return 4;
  for (const Output &output : *outputs) {
    print(output, getOutputType(output.name));
    for (const auto &[name, path] : options.outputs)
      if (name == output.name && !writeOutput(output, path))
        return 2;
  }
  llvm::outs().flush();
  return 0;
}

} // namespace

int ccn::runProgram(mlir::ModuleOp module, const Options &options,
                    Diagnostics &diagnostics) {
  llvm::SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  llvm::SmallVector<StringRef> names;
  for (ProgramOp program : programs)
    names.push_back(program.getSymName());
  if (programs.empty()) {
    diagnostics.error("expected a program to run, found none in the file");
    return 2;
  }
  if (options.program.empty()) {
    if (programs.size() == 1)
      return Runner(programs.front(), options, diagnostics).run();
    diagnostics.error("expected --program to say which of '" +
                      llvm::join(names, "', '") + "' to run");
    return 2;
  }
  for (ProgramOp program : programs)
    if (program.getSymName() == options.program)
      return Runner(program, options, diagnostics).run();
  diagnostics.error("the file has no program '" + options.program + "'" +
                    didYouMean(options.program, names));
  return 2;
}
