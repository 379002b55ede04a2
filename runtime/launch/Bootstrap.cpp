//===- Bootstrap.cpp - How ranks that are launched find each other --------===//
//
// One exchange of messages tells each rank what the others run, where they are,
// and the name of the shared memory that they would use, so all come to the
// same decision.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/Bootstrap.h"

#include "runtime/launch/MpiNetwork.h"
#include "runtime/launch/RankNeeds.h"
#include "runtime/launch/TcpNetwork.h"
#include "runtime/launch/TerminationWatch.h"
#include "runtime/team/MessageTransport.h"
#include "runtime/team/RunIdentity.h"
#include "runtime/team/SymmetricHeap.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace ccn::runtime {

//===----------------------------------------------------------------------===//
// MPI
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<MpiSession>> MpiSession::start(double timeLimit) {
#if CCN_HAS_MPI
  // Never closed: MPI leaves threads and handlers behind. Global, since Open
  // MPI's own modules look for its symbols.
  void *module = dlopen("libccn-mpi.so", RTLD_NOW | RTLD_GLOBAL);
  if (!module)
    return error("MPI cannot be loaded: ", dlerror());
  auto *startMpi =
      reinterpret_cast<decltype(&ccnStartMpi)>(dlsym(module, "ccnStartMpi"));
  if (!startMpi)
    return error("MPI cannot be loaded: ", dlerror());
  std::unique_ptr<MpiSession> session;
  Status status;
  startMpi(timeLimit, &session, &status);
  if (!status)
    return status;
  return session;
#else
  (void)timeLimit;
  return error("a launcher of MPI has started this process, but this build of "
               "ccn has no MPI");
#endif
}

namespace {

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

/// What ranks tell each other when they meet. Plain bytes.
struct Greeting {
  RunIdentity identity;
  RankNeeds needs;
  int64_t process = 0;
  /// The number of the file that would be the shared memory, if this is rank 0.
  int32_t heapFile = -1;
  /// Equal where processes see each other's numbers.
  char host[192] = {};
  TunedVariants variants[TeamOptions::maxPrograms] = {};
};

/// The boot of the kernel and the space of process numbers, which containers on
/// one machine may have apart.
std::string hostName() {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
  char space[64] = {};
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0)
    name += std::string(" ") + space;
  return name;
}

/// Whether a process of this host has ended, perhaps without having been waited
/// for.
bool hasEnded(int64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  if (!std::getline(file, text))
    return true;
  // The state comes after the name, which may contain anything.
  size_t end = text.rfind(')');
  char state =
      end == std::string::npos || end + 2 >= text.size() ? '?' : text[end + 2];
  return state == 'Z' || state == 'X';
}

/// What each rank says, plain bytes.
template <typename T>
Result<std::vector<T>> tell(Network &network, const T &own, double timeLimit) {
  Result<std::vector<std::string>> texts = exchange(
      network, std::string(reinterpret_cast<const char *>(&own), sizeof own),
      timeLimit);
  if (!texts)
    return texts.status();
  std::vector<T> all(texts->size());
  for (size_t rank = 0; rank < texts->size(); ++rank) {
    const std::string &text = (*texts)[rank];
    if (text.size() != sizeof(T))
      return error("rank ", rank, " runs another version of ccn than rank ",
                   network.rank());
    std::memcpy(&all[rank], text.data(), sizeof(T));
  }
  return all;
}

/// Whether a rank can open the file of shared memory, and why not.
struct Opening {
  int32_t isOpen = 0;
  char why[160] = {};
};

} // namespace

//===----------------------------------------------------------------------===//
// The team
//===----------------------------------------------------------------------===//

struct Team::State {
  Status join(const TeamOptions &options);
  /// The network of all processes that were launched.
  Result<std::unique_ptr<Network>> connect(const RankLaunch &launch);
  /// Whether what the ranks have told each other fits; the same on all.
  Status compare(const TeamOptions &options);
  /// What this rank says first.
  Result<Greeting> greeting(const TeamOptions &options);
  /// Whether there is the memory that all ranks need; the same on all.
  Status checkMemory(bool byMessages);
  /// Opens rank 0's file; whether all ranks can. Otherwise, if shared memory
  /// must be, an error; the same on all.
  Result<bool> openHeap(Network &network, const TeamOptions &options);
  Status start(std::unique_ptr<Network> network, const TeamOptions &options);
  /// Chooses the variants of the first `programs` programs.
  void chooseVariants(size_t programs);
  bool isElsewhere(int rank) const {
    return std::strcmp(of(rank).host, of(own).host) != 0;
  }
  /// Whether it is known that a rank's process has ended.
  bool isDead(int rank) const {
    return !isElsewhere(rank) && hasEnded(of(rank).process);
  }
  bool isLost(int rank) const {
    return !transport().hasLeft(rank) &&
           (transport().isGone(rank) || isDead(rank));
  }
  bool isFirst() const;
  bool mayTell() { return isFirst() && !hasTold.exchange(true); }
  Status awaitOthers();
  Transport &transport() const {
    return heap ? static_cast<Transport &>(*heap) : *messages;
  }
  const Greeting &of(int rank) const {
    return greetings[static_cast<size_t>(rank)];
  }

  /// Null if the ranks are not connected by MPI.
  std::unique_ptr<MpiSession> session;
  int own = 0;
  double timeLimit = 0;
  std::vector<Greeting> greetings;
  std::vector<int32_t> variants;
  Status joined;
  /// Whether joined() is a failure that all ranks know of.
  bool isAgreed = false;
  bool isWrongSize = false, lacksMemory = false;
  /// For shared memory: what rank 0 has made, and what each has opened.
  FileDescriptor made, opened;
  /// Whether this rank has left, and waited for the others.
  std::atomic<bool> hasWaited = false;
  std::atomic<bool> hasTold = false;
  bool oneHost = true;
  std::string description;
  /// One of these is the transport.
  std::unique_ptr<SymmetricHeap> heap;
  std::unique_ptr<MessageTransport> messages;
  std::unique_ptr<TerminationWatch> watch;
};

Status Team::State::compare(const TeamOptions &options) {
  std::vector<RankIdentity> identities;
  for (size_t rank = 0; rank < greetings.size(); ++rank)
    identities.push_back({static_cast<int>(rank), greetings[rank].identity});
  if (Status status = compareIdentities(identities); !status)
    return status;
  auto started = static_cast<int>(greetings.size());
  isWrongSize = started != options.ranks;
  if (isWrongSize)
    return error("the program's mesh has ", options.ranks, " ranks, but ",
                 name(options.launch.launcher), " started ", started);
  for (int rank = 1; rank < started; ++rank)
    if (options.environment.transport == TransportChoice::Shared &&
        std::strcmp(of(rank).host, of(0).host) != 0)
      return error("CCN_TRANSPORT: 'shared' needs all ranks on one host, where "
                   "they share memory; rank ",
                   rank, " is on another than rank 0");
  return Status();
}

void Team::State::chooseVariants(size_t programs) {
  variants.resize(programs);
  for (size_t i = 0; i < std::min(programs, TeamOptions::maxPrograms); ++i) {
    auto wantedBy = [&](const Greeting &rank) {
      return oneHost ? rank.variants[i].oneHost : rank.variants[i].severalHosts;
    };
    int32_t first = wantedBy(of(0));
    bool isSame = std::all_of(
        greetings.begin(), greetings.end(),
        [&](const Greeting &other) { return wantedBy(other) == first; });
    variants[i] = isSame ? first : 0;
  }
}

Result<std::unique_ptr<Network>>
Team::State::connect(const RankLaunch &launch) {
  if (launch.launcher != Launcher::Mpi) {
    TcpOptions tcp;
    tcp.rank = launch.rank;
    tcp.ranks = *launch.ranks;
    tcp.place = launch.place;
    tcp.timeLimit = timeLimit;
    return joinTcpNetwork(tcp);
  }
  Result<std::unique_ptr<MpiSession>> started = MpiSession::start(timeLimit);
  if (!started)
    return started.status();
  session = *std::move(started);
  std::unique_ptr<Network> network = session->network();
  if (launch.ranks.value_or(network->ranks()) != network->ranks())
    return error("expected ", *launch.ranks, " ranks, as were started, found ",
                 network->ranks(),
                 " in MPI: the launcher is of another MPI than ccn was built "
                 "with");
  return network;
}

Result<Greeting> Team::State::greeting(const TeamOptions &options) {
  Result<RunIdentity> identity =
      RunIdentity::make(options.ranks, options.bytesPerRank, options.content);
  if (!identity)
    return identity.status();
  Greeting greeting;
  greeting.identity = *identity;
  greeting.identity.transport =
      static_cast<int32_t>(options.environment.transport);
  greeting.needs = {options.bytesPerRank, options.otherBytes,
                    FreeMemory::now()};
  std::copy_n(options.variants.begin(),
              std::min(options.variants.size(), std::size(greeting.variants)),
              greeting.variants);
  greeting.process = getpid();
  setText(greeting.host, hostName());
  if (own != 0)
    return greeting;
  Result<FileDescriptor> file = SymmetricHeap::makeFile();
  if (!file)
    return file.status();
  made = *std::move(file);
  greeting.heapFile = made.get();
  return greeting;
}

Status Team::State::checkMemory(bool byMessages) {
  std::vector<RankNeeds> all;
  auto ranks = static_cast<int>(greetings.size());
  for (const Greeting &greeting : greetings) {
    all.push_back(greeting.needs);
    if (byMessages)
      all.back().other = addSaturating(
          all.back().other, (ranks - 1) * MessageOptions().queueBytesOf(ranks));
  }
  Status status = checkNeeds(all, !byMessages);
  lacksMemory = !status;
  return status;
}

Result<bool> Team::State::openHeap(Network &network,
                                   const TeamOptions &options) {
  Result<FileDescriptor> file =
      SymmetricHeap::openFile(of(0).process, of(0).heapFile);
  Opening mine;
  mine.isOpen = file.ok();
  setText(mine.why, file.message());
  if (file)
    opened = *std::move(file);
  Result<std::vector<Opening>> all = tell(network, mine, timeLimit);
  if (!all)
    return all.status();
  for (size_t rank = 0; rank < all->size(); ++rank) {
    if ((*all)[rank].isOpen)
      continue;
    if (options.environment.transport != TransportChoice::Shared)
      return false;
    isAgreed = true;
    return error("CCN_TRANSPORT: 'shared' needs the memory of rank 0; rank ",
                 rank, ": ", (*all)[rank].why);
  }
  return true;
}

/// Connects the ranks, which have met, in one of the two ways.
Status Team::State::start(std::unique_ptr<Network> network,
                          const TeamOptions &options) {
  bool byMessages =
      !oneHost || options.environment.transport == TransportChoice::Messages;
  if (!byMessages) {
    Result<bool> isShared = openHeap(*network, options);
    if (!isShared)
      return isShared.status();
    byMessages = !*isShared;
  }
  isAgreed = true;
  if (Status status = checkMemory(byMessages); !status)
    return status;
  isAgreed = false;
  description = std::to_string(network->ranks()) + " processes of " +
                (oneHost ? "one host, " : "several hosts, ") +
                (!byMessages ? "over shared memory"
                 : session   ? "by MPI's messages"
                             : "by messages over TCP");
  if (byMessages) {
    MessageOptions messageOptions;
    messageOptions.hasEnded = [this](int rank) { return isDead(rank); };
    auto started = MessageTransport::start(
        std::move(network), options.bytesPerRank, messageOptions);
    if (!started)
      return started.status();
    messages = *std::move(started);
    return Status();
  }
  SymmetricHeap::Member member;
  member.rank = own;
  member.ranks = options.ranks;
  member.bytesPerRank = options.bytesPerRank;
  member.timeLimit = timeLimit;
  member.content = options.content;
  member.hasEnded = [this](int rank) { return isDead(rank); };
  auto shared = SymmetricHeap::join(std::move(opened), member);
  if (!shared)
    return shared.status();
  heap = *std::move(shared);
  return Status();
}

Status Team::State::join(const TeamOptions &options) {
  own = options.launch.rank;
  timeLimit = options.environment.timeLimit;
  Result<std::unique_ptr<Network>> connected = connect(options.launch);
  if (!connected)
    return connected.status();
  std::unique_ptr<Network> network = *std::move(connected);
  own = network->rank();
  Result<Greeting> mine = greeting(options);
  if (!mine)
    return mine.status();
  Result<std::vector<Greeting>> met = tell(*network, *mine, timeLimit);
  if (!met)
    return met.status();
  greetings = *std::move(met);
  isAgreed = true;
  if (Status status = compare(options); !status)
    return status;
  isAgreed = false;
  for (size_t rank = 0; rank < greetings.size(); ++rank)
    oneHost &= !isElsewhere(static_cast<int>(rank));
  chooseVariants(options.variants.size());
  Status status = start(std::move(network), options);
  // All have opened it, or none will.
  made = FileDescriptor();
  return status;
}

/// Whether it is known of no rank before this one that it can speak.
bool Team::State::isFirst() const {
  if (!joined)
    return !isAgreed || own == 0;
  for (int other = 0; other < own; ++other)
    if (!isLost(other) && (!hasWaited || transport().hasLeft(other)))
      return false;
  return true;
}

/// Leaves, and waits until all others have; a failure if somebody did not.
Status Team::State::awaitOthers() {
  // A rank that has failed may never notice that others have.
  constexpr double patience = 5;
  if (messages) {
    bool clean = messages->close();
    Status failure = messages->failure();
    return clean || !failure ? failure
                             : error("the ranks did not end in good order");
  }
  auto start = std::chrono::steady_clock::now();
  heap->leave(own);
  for (int other = 0; other < heap->ranks();) {
    if (heap->hasLeft(other)) {
      ++other;
      continue;
    }
    std::chrono::duration<double> waited =
        std::chrono::steady_clock::now() - start;
    // It may have left just before it was gone.
    if (heap->isGone(other) && !heap->hasLeft(other))
      return heap->fail(own, "rank " + std::to_string(other) + " has ended");
    if (heap->failed() && waited.count() > patience)
      break;
    if (waited.count() > timeLimit) {
      std::ostringstream cause;
      cause << "the time limit of " << timeLimit << " s passed while rank "
            << other << " did not end";
      return heap->fail(own, cause.str());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return heap->failure();
}

Team::Team(std::unique_ptr<State> state) : state(std::move(state)) {}

Team::~Team() { (void)leave(); }

std::unique_ptr<Team> Team::join(const TeamOptions &options) {
  auto state = std::make_unique<State>();
  state->joined = state->join(options);
  if (state->joined)
    state->watch = TerminationWatch::start(
        state->transport(), state->own,
        [s = state.get()](int rank) { return s->isDead(rank); },
        [s = state.get()] { return s->mayTell(); });
  return std::unique_ptr<Team>(new Team(std::move(state)));
}

const Status &Team::joined() const { return state->joined; }
bool Team::isWrongSize() const { return state->isWrongSize; }
bool Team::lacksMemory() const { return state->lacksMemory; }
int Team::rank() const { return state->own; }
const std::vector<int32_t> &Team::variants() const { return state->variants; }
bool Team::isOneHost() const { return state->oneHost; }
const std::string &Team::description() const { return state->description; }
Transport &Team::transport() const { return state->transport(); }
bool Team::mayTell() { return state->mayTell(); }

Status Team::leave() {
  State &s = *state;
  if (s.hasWaited)
    return s.joined;
  Status status = s.joined;
  if (s.joined)
    status = s.awaitOthers();
  s.hasWaited = true;
  s.watch.reset();
  // A failure that all ranks know makes all end alike.
  if (s.session)
    s.session->end(status.ok() || s.isAgreed);
  return status;
}

} // namespace ccn::runtime
