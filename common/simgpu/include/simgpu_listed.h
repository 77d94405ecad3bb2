/* simgpu_listed.h: the values of an array of variable length. clang takes none, the host's compiler behind nvcc does.
 * simcc includes this header, and writes `a[n][m] = {...};` as `a[n][m]; simgpuListed<...>(...) = {...};`. */
#ifndef SIMGPU_LISTED_H
#define SIMGPU_LISTED_H
#include <initializer_list>
#include <stddef.h>

/* The list of an array with N dimensions. */
template <typename T, int N> struct simgpuList {
    typedef std::initializer_list<typename simgpuList<T, N - 1>::type> type;
};
template <typename T> struct simgpuList<T, 0> { typedef T type; };

template <typename T, int N> class simgpuListed {
    T *const start;
    size_t bytes[N + 1]; /* of the array, of one of its parts, and so on, down to an element */

    void put(T *at, int, const T &value) { *at = value; }
    template <typename L> void put(T *at, int depth, const std::initializer_list<L> &list) {
        size_t i = 0, parts = bytes[depth + 1] ? bytes[depth] / bytes[depth + 1] : 0,
               step = bytes[depth + 1] / sizeof(T);
        for (auto part = list.begin(); part != list.end() && i < parts; ++part) put(at + step * i++, depth + 1, *part);
        for (; i < parts; i++)
            for (size_t k = 0; k < step; k++) at[step * i + k] = T(); /* what the list leaves out */
    }

  public:
    template <typename... Bytes> simgpuListed(T *array, Bytes... sizes) : start(array), bytes{sizes...} {}
    void operator=(const typename simgpuList<T, N>::type &list) { put(start, 0, list); }
};
#endif
