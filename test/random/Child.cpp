//===- Child.cpp - Work in processes of its own ---------------------------===//
//
// fork() and a temporary file.
//
//===----------------------------------------------------------------------===//

#include "Child.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace ccn::random;

Child::Child(const std::function<void(std::FILE *)> &work)
    : file(std::tmpfile()) {
  if (!file) {
    std::perror("random-programs: no temporary file");
    std::exit(1);
  }
  std::fflush(nullptr);
  process = fork();
  if (process < 0) {
    std::perror("random-programs: no process");
    std::exit(1);
  }
  if (process > 0)
    return;
  work(file);
  std::fflush(nullptr);
  // Without what the parent would do at its end too.
  _exit(0);
}

Child::~Child() { std::fclose(file); }

void Child::wait() { waitpid(process, &status, 0); }

std::string Child::read() {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, file))
    text.append(buffer, count);
  return text;
}

std::string Child::getFailure() const {
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM
               ? "a hang"
               : "a crash by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return "an end with code " + std::to_string(WEXITSTATUS(status));
  return "";
}

void ccn::random::limitTime(unsigned seconds) { alarm(seconds); }
