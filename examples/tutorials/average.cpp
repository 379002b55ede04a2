#include "average.h" // of the program, made by cccompile

#include <ccn.hpp>
#include <cstdio>
#include <vector>

int main() {
  try {
    ccn::Program program = ccn::Program::load(average_load);
    ccn::Team team = ccn::Team::create({program});
    team.run([&](ccn::Rank &rank) { // in a thread for each rank
      ccn::Executor executor = rank.makeExecutor(program);
      std::vector<float> g(10, rank.index() + 1.0f), p(10, 1.0f);
      for (int step = 0; step < 2; ++step)
        executor.run({g, p, 0.1f});
      if (rank.index() == 0)
        std::printf("p = %g\n", p[9]);
      rank.meet(); // waits for all ranks
      p.resize(9);
      executor.run({g, p, 0.1f}); // too short
    });
  } catch (const ccn::Error &error) {
    std::printf("%s: %s\n", ccn_status_name(error.status()), error.what());
  }
}
