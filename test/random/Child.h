//===- Child.h - Work in processes of its own -------------------*- C++ -*-===//
//
// A crash or a hang of what is tested ends a child process, not the test.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_CHILD_H
#define CCN_TEST_RANDOM_CHILD_H

#include <cstdio>
#include <functional>
#include <string>

namespace ccn::random {

/// What a child process writes, and how it ended.
class Child {
public:
  /// Starts a process that does `work`, which writes to a file, and ends.
  explicit Child(const std::function<void(std::FILE *)> &work);
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;
  ~Child();

  int getProcess() const { return process; }
  /// Takes over how the process ended, as waitpid() says it.
  void setStatus(int ended) { status = ended; }
  /// Waits for the end.
  void wait();

  /// All that it wrote.
  std::string read();
  /// How it failed, "a hang" or "a crash by signal 11"; empty if it ended well.
  std::string getFailure() const;

private:
  int process = 0, status = 0;
  std::FILE *file;
};

/// The process is ended as hanging unless this is called again within so many
/// seconds.
void limitTime(unsigned seconds);

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_CHILD_H
