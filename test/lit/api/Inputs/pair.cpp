// Runs two programs of one text, and one of them with other params, in one
// team.
#include "grow.h"
#include "shrink.h"
#include "small.h"

#include <ccn.hpp>
#include <cstdio>
#include <vector>

static_assert(grow_arguments == 2 && shrink_arguments == 3 &&
              small_arguments == 2);

int main() {
  ccn::Program programs[] = {ccn::Program::load(grow_load),
                             ccn::Program::load(shrink_load),
                             ccn::Program::load(small_load)};
  ccn::Team team = ccn::Team::create(programs);
  team.run([&](ccn::Rank &rank) {
    ccn::Executor grow = rank.makeExecutor(programs[0]),
                  shrink = rank.makeExecutor(programs[1]),
                  small = rank.makeExecutor(programs[2]);
    std::vector<float> x(5, 2.0f), y(5, 1.0f), few(2, 3.0f);
    float least = 0;
    grow.run({x, y});
    // The functions of the headers take the same executors.
    if (shrink_run(shrink.as<shrink_executor>(), y.data(), 2.0f, &least,
                   nullptr) != CCN_OK)
      throw ccn::Error::last(CCN_ERROR_TEAM);
    small.run({ccn::Span<float>(x.data(), 2), few});
    if (rank.index() == 1)
      std::printf("y of %zu: %g, least %g; few of %zu: %g\n", y.size(), y[4],
                  least, few.size(), few[1]);
  });
  for (const char *signature :
       {grow_signature, shrink_signature, small_signature})
    std::puts(signature);
}
