#define CHECK_IS(got, want)                                                               \
  do {                                                                                    \
    if ((got) != (want)) {                                                                \
      printf("%s:%d: %s is %d, not %d\n", __FILE__, __LINE__, #got, int(got), int(want)); \
      failures++;                                                                         \
    }                                                                                     \
  } while (false)
