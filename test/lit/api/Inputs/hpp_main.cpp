// Both modes of ccn.hpp in one program: the argument says which is used.
int testThrowing(const char *path);
int testReturning(const char *path);

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  return (argv[2][0] == 't' ? testThrowing : testReturning)(argv[1]);
}
