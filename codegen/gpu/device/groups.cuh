//===- groups.cuh - Groups of ranks ---------------------------------------===//

template <int count> struct Group {
  int ranks[count];
  /// Which of them this rank is.
  int position;
};
