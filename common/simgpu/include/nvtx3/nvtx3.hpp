/* nvtx3/nvtx3.hpp — NVTX for C++: ranges as objects. Nothing listens to them (see nvToolsExt.h). */
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
struct message {
    template <class T> constexpr message(T) {}
};
struct event_attributes {
    template <class... A> constexpr event_attributes(const A &...) {}
};
template <class D = domain::global> struct scoped_range_in {
    template <class... A> explicit scoped_range_in(const A &...) {}
    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
    ~scoped_range_in() {}
};
using scoped_range = scoped_range_in<>;
using unique_range = scoped_range_in<>;
template <class D = domain::global, class... A> inline void mark(const A &...) {}
} // namespace nvtx3

#define NVTX3_FUNC_RANGE()            ::nvtx3::scoped_range nvtx3_function_range(__func__)
#define NVTX3_FUNC_RANGE_IN(a_domain) ::nvtx3::scoped_range_in<a_domain> nvtx3_function_range(__func__)

#endif
