/* simgpu_half_type.h — the types of cuda_fp16.h and cuda_bf16.h: a number of 16 bits and a pair, SIMGPU_H and
 * SIMGPU_H2, and their bits as plain structs, SIMGPU_H_RAW and SIMGPU_H2_RAW. Included by each of the two with its own
 * names, so no guard. SIMGPU_OTHER is the other one of the two types. */
typedef struct __attribute__((aligned(2))) {
    unsigned short x;
} SIMGPU_H_RAW;
typedef struct __attribute__((aligned(4))) {
    unsigned short x, y;
} SIMGPU_H2_RAW;

#if !defined(__cplusplus) /* a file in C may hand them on */
typedef SIMGPU_H_RAW SIMGPU_H;
typedef SIMGPU_H2_RAW SIMGPU_H2;
#else
#if defined(__CUDA__)
#define SIMGPU_MEMBER __attribute__((host, device, always_inline, nodebug))
#else
#define SIMGPU_MEMBER __attribute__((always_inline)) inline
#endif
struct __attribute__((aligned(2))) SIMGPU_H {
  protected:
    unsigned short __x;

  public:
    SIMGPU_H() = default;
    SIMGPU_MEMBER constexpr SIMGPU_H(const SIMGPU_H_RAW &raw) : __x(raw.x) {}
    SIMGPU_MEMBER operator SIMGPU_H_RAW() const { return SIMGPU_H_RAW{__x}; }
    SIMGPU_MEMBER SIMGPU_H &operator=(const SIMGPU_H_RAW &raw) {
        __x = raw.x;
        return *this;
    }
    /* The number with these bits, and the bits of a number. */
    SIMGPU_MEMBER static SIMGPU_H simgpu_make(unsigned short bits) { return SIMGPU_H(SIMGPU_H_RAW{bits}); }
    SIMGPU_MEMBER friend unsigned short simgpu_bits(const SIMGPU_H v) { return v.__x; }
#ifdef SIMGPU_H_CONVERSIONS
    SIMGPU_MEMBER explicit SIMGPU_H(const struct SIMGPU_OTHER &v); /* simgpu_half_both.h */
    SIMGPU_MEMBER SIMGPU_H(float f);
    SIMGPU_MEMBER SIMGPU_H(double d);
    SIMGPU_MEMBER SIMGPU_H(short v);
    SIMGPU_MEMBER SIMGPU_H(unsigned short v);
    SIMGPU_MEMBER SIMGPU_H(int v);
    SIMGPU_MEMBER SIMGPU_H(unsigned v);
    SIMGPU_MEMBER SIMGPU_H(long v);
    SIMGPU_MEMBER SIMGPU_H(unsigned long v);
    SIMGPU_MEMBER SIMGPU_H(long long v);
    SIMGPU_MEMBER SIMGPU_H(unsigned long long v);
    SIMGPU_MEMBER operator float() const;
    SIMGPU_MEMBER operator signed char() const;
    SIMGPU_MEMBER operator unsigned char() const;
    SIMGPU_MEMBER operator char() const;
    SIMGPU_MEMBER operator short() const;
    SIMGPU_MEMBER operator unsigned short() const;
    SIMGPU_MEMBER operator int() const;
    SIMGPU_MEMBER operator unsigned() const;
    SIMGPU_MEMBER operator long() const;
    SIMGPU_MEMBER operator unsigned long() const;
    SIMGPU_MEMBER operator long long() const;
    SIMGPU_MEMBER operator unsigned long long() const;
    SIMGPU_MEMBER operator bool() const; /* false for the zeros */
#endif
};

struct __attribute__((aligned(4))) SIMGPU_H2 {
    SIMGPU_H x, y;
    SIMGPU_H2() = default;
    SIMGPU_MEMBER SIMGPU_H2(const SIMGPU_H &a, const SIMGPU_H &b) : x(a), y(b) {}
    SIMGPU_MEMBER SIMGPU_H2(const SIMGPU_H2_RAW &raw)
        : x(SIMGPU_H::simgpu_make(raw.x)), y(SIMGPU_H::simgpu_make(raw.y)) {}
    SIMGPU_MEMBER operator SIMGPU_H2_RAW() const { return SIMGPU_H2_RAW{simgpu_bits(x), simgpu_bits(y)}; }
};
#undef SIMGPU_MEMBER
#endif
