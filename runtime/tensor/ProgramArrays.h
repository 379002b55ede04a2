//===- ProgramArrays.h - A program's arrays on the command line -*- C++ -*-===//
//
// Reads the arrays of a program that is run from a command line, and prints and
// writes its results. All tools that run programs use this.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_PROGRAMARRAYS_H
#define CCN_RUNTIME_TENSOR_PROGRAMARRAYS_H

#include "runtime/tensor/HostTensor.h"
#include "runtime/tensor/Number.h"

#include <iosfwd>
#include <map>
#include <utility>

namespace ccn::runtime {

/// `name=value` pairs from the command line.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// An argument or a result of a program.
struct ProgramArray {
  std::string name;
  ElementType type = ElementType::F32;
  /// The shape of the external form: a leading dimension for each mesh axis
  /// along which the array is local or partial, then the global shape.
  Shape shape;
  /// The type as the language writes it: "f32[8, 4] sliced(0)".
  std::string typeName;
  /// Whether the global shape has no dimensions.
  bool isScalar = false;
  /// Whether the array is passed as a list of buffers.
  bool isScattered = false;
  /// isInput: an argument. isOutput: an inout argument or a result.
  bool isInput = false, isOutput = false;
};

class ProgramArrays {
public:
  /// `program` is the program's name.
  ProgramArrays(std::string program, std::vector<ProgramArray> arrays)
      : program(std::move(program)), arrays(std::move(arrays)) {}

  /// Finds the values that `inputs` gives for arguments: a .npy file of the
  /// external form; or a number, for a scalar; or a file for each buffer,
  /// separated by commas, for a scattered argument. An error if there is no
  /// such argument or the value does not fit it. Allocates no memory for
  /// arrays.
  Status find(const NamedValues &inputs);

  /// Reads the values that find() found.
  Result<std::map<std::string, HostTensor>> read() const;

  /// An error unless `outputs` names inout arguments or results, and files that
  /// can be written. Callers check this before a long run.
  Status checkOutputs(const NamedValues &outputs);

  /// Prints the first and the last three elements: `p: f32[1003] = 0.1, 0.2,
  /// 0.3, ..., 0.7, 0.8, 0.9`.
  void print(std::ostream &os, const std::string &name,
             const HostTensor &tensor) const;

  /// Writes the array to the files that `outputs` names for it, if any.
  Status write(const std::string &name, const HostTensor &tensor,
               const NamedValues &outputs) const;

private:
  /// The value of an argument: a number, or the content of files with these
  /// shapes.
  struct Source {
    const ProgramArray *array = nullptr;
    std::optional<ElementBytes> number = {};
    std::vector<std::pair<std::string, Shape>> files = {};
  };
  Result<Source> findOne(const ProgramArray &array, const std::string &text);
  Result<Source> findScattered(const ProgramArray &array,
                               const std::string &text);
  Result<HostTensor> readOne(const Source &source) const;
  Result<HostTensor> readScattered(const Source &source) const;
  const ProgramArray *arrayOf(const std::string &name) const;

  std::string program;
  std::vector<ProgramArray> arrays;
  /// The sizes of a scattered argument's buffers, in order.
  std::map<std::string, std::vector<int64_t>> pieces;
  /// The values that find() found.
  std::vector<Source> sources;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_PROGRAMARRAYS_H
