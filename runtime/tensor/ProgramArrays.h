//===- ProgramArrays.h - A program's arrays on the command line -*- C++ -*-===//
//
// How arrays come to a program that is run from a command line, and what it
// shows and writes at its end: the same for every tool that runs programs.
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

/// `name=value` as given on the command line.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// An argument or a result of a program.
struct ProgramArray {
  std::string name;
  ElementType type = ElementType::F32;
  /// Its external form: the global shape, after a leading dimension for each
  /// mesh axis along which it is local or partial.
  Shape shape;
  /// As the language writes it: "f32[8, 4] sliced(0)".
  std::string typeName;
  /// Whether its global shape is a scalar's.
  bool isScalar = false;
  /// Whether it comes from a list of buffers.
  bool isScattered = false;
  /// An argument; an inout argument or a result.
  bool isInput = false, isOutput = false;
};

class ProgramArrays {
public:
  /// `program` is its name.
  ProgramArrays(std::string program, std::vector<ProgramArray> arrays)
      : program(std::move(program)), arrays(std::move(arrays)) {}

  /// Finds what `inputs` names: a .npy file of the external form; of a scalar
  /// the number itself too; of a scattered argument a file for each buffer,
  /// separated by commas. An error if there is no such argument, or its array
  /// does not fit. It takes no memory for arrays.
  Status find(const NamedValues &inputs);

  /// Reads what was found.
  Result<std::map<std::string, HostTensor>> read() const;

  /// Whether `outputs` names inout arguments and results and files that can be
  /// written, as is to be known before a long run.
  Status checkOutputs(const NamedValues &outputs);

  /// Prints `p: f32[1003] = 0.1, 0.2, 0.3, ..., 0.9`, the first and the last
  /// three elements.
  void print(std::ostream &os, const std::string &name,
             const HostTensor &tensor) const;

  /// Writes the array to the files that `outputs` names for it, if any.
  Status write(const std::string &name, const HostTensor &tensor,
               const NamedValues &outputs) const;

private:
  /// What an argument is to be: a number, or what files of these shapes hold.
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
  /// What was found.
  std::vector<Source> sources;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_PROGRAMARRAYS_H
