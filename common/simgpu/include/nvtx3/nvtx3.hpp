/* nvtx3/nvtx3.hpp — NVTX for C++: ranges as objects (see nvToolsExt.h). */
#ifndef SIMGPU_NVTX3_HPP
#define SIMGPU_NVTX3_HPP

#include <nvToolsExt.h>

namespace nvtx3 {
struct domain {
    struct global {};
};
struct rgb {
    unsigned char red, green, blue;
    constexpr rgb(unsigned char r, unsigned char g, unsigned char b) : red(r), green(g), blue(b) {}
};
struct color {
    constexpr color(unsigned) {}
    constexpr color(rgb) {}
};
struct category {
    constexpr category(unsigned) {}
};
struct payload {
    template <class T> constexpr payload(T) {}
};
namespace detail {
/* The text among the arguments of a range: a string, or an object that has one. */
inline const char *text(const char *s, int) { return s; }
template <class T> auto text(const T &s, int) -> decltype(s.c_str()) { return s.c_str(); }
template <class T> const char *text(const T &, long) { return nullptr; }
inline const char *first() { return ""; }
template <class T, class... A> const char *first(const T &t, const A &...others) {
    const char *s = text(t, 0);
    return s ? s : first(others...);
}
} // namespace detail
struct message {
    const char *said;
    template <class T> message(const T &t) : said(detail::text(t, 0)) {}
    const char *c_str() const { return said; }
};
struct event_attributes {
    const char *said;
    template <class... A> event_attributes(const A &...a) : said(detail::first(a...)) {}
    const char *c_str() const { return said; }
};
template <class D = domain::global> struct scoped_range_in {
    template <class... A> explicit scoped_range_in(const A &...a) { nvtxRangePushA(detail::first(a...)); }
    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
    ~scoped_range_in() { nvtxRangePop(); }
};
template <class D = domain::global> struct unique_range_in {
    nvtxRangeId_t id;
    template <class... A> explicit unique_range_in(const A &...a) : id(nvtxRangeStartA(detail::first(a...))) {}
    unique_range_in(unique_range_in &&other) : id(other.id) { other.id = 0; }
    unique_range_in(const unique_range_in &) = delete;
    ~unique_range_in() {
        if (id) nvtxRangeEnd(id);
    }
};
using scoped_range = scoped_range_in<>;
using unique_range = unique_range_in<>;
template <class D = domain::global, class... A> inline void mark(const A &...a) { nvtxMarkA(detail::first(a...)); }
} // namespace nvtx3

#define NVTX3_FUNC_RANGE()            ::nvtx3::scoped_range nvtx3_function_range(__func__)
#define NVTX3_FUNC_RANGE_IN(a_domain) ::nvtx3::scoped_range_in<a_domain> nvtx3_function_range(__func__)

#endif
