/* math_constants.h — CUDA's names for constants of arithmetic: CUDART_PI_F is a float, CUDART_PI a double. */
#ifndef SIMGPU_MATH_CONSTANTS_H
#define SIMGPU_MATH_CONSTANTS_H

#define CUDART_INF_F            __builtin_inff()
#define CUDART_NAN_F            __builtin_nanf("")
#define CUDART_MIN_DENORM_F     0x1p-149f
#define CUDART_MAX_NORMAL_F     0x1.fffffep127f
#define CUDART_NEG_ZERO_F       (-0.0f)
#define CUDART_ZERO_F           0.0f
#define CUDART_ONE_F            1.0f
#define CUDART_SQRT_HALF_F      0.707106781f
#define CUDART_SQRT_HALF_HI_F   0.707106781f
#define CUDART_SQRT_HALF_LO_F   1.210161749e-08f
#define CUDART_SQRT_TWO_F       1.414213562f
#define CUDART_THIRD_F          0.333333333f
#define CUDART_PIO4_F           0.785398163f
#define CUDART_PIO2_F           1.570796327f
#define CUDART_3PIO4_F          2.356194490f
#define CUDART_PI_F             3.141592654f
#define CUDART_2_OVER_PI_F      0.636619772f
#define CUDART_SQRT_2_OVER_PI_F 0.797884561f
#define CUDART_L2E_F            1.442695041f
#define CUDART_L2T_F            3.321928094f
#define CUDART_LG2_F            0.301029996f
#define CUDART_LGE_F            0.434294482f
#define CUDART_LN2_F            0.693147181f
#define CUDART_LNT_F            2.302585093f
#define CUDART_LNPI_F           1.144729886f
#define CUDART_TWO_TO_M126_F    0x1p-126f
#define CUDART_TWO_TO_126_F     0x1p126f
#define CUDART_NORM_HUGE_F      0x1.fffffep127f
#define CUDART_TWO_TO_23_F      0x1p23f
#define CUDART_TWO_TO_24_F      0x1p24f
#define CUDART_TWO_TO_31_F      0x1p31f
#define CUDART_TWO_TO_32_F      0x1p32f

#define CUDART_INF            __builtin_inf()
#define CUDART_NAN            __builtin_nan("")
#define CUDART_MIN_DENORM     0x1p-1074
#define CUDART_MAX_NORMAL     0x1.fffffffffffffp1023
#define CUDART_NEG_ZERO       (-0.0)
#define CUDART_ZERO           0.0
#define CUDART_ONE            1.0
#define CUDART_SQRT_TWO       1.4142135623730951
#define CUDART_SQRT_HALF      0.70710678118654757
#define CUDART_THIRD          0.33333333333333331
#define CUDART_TWOTHIRD       0.66666666666666663
#define CUDART_PIO4           0.78539816339744831
#define CUDART_PIO2           1.5707963267948966
#define CUDART_3PIO4          2.3561944901923449
#define CUDART_PI             3.1415926535897931
#define CUDART_2_OVER_PI      0.63661977236758138
#define CUDART_SQRT_2_OVER_PI 0.79788456080286541
#define CUDART_SQRT_2PI       2.5066282746310007
#define CUDART_L2E            1.4426950408889634
#define CUDART_L2T            3.3219280948873622
#define CUDART_LG2            0.30102999566398120
#define CUDART_LGE            0.43429448190325182
#define CUDART_LN2            0.69314718055994529
#define CUDART_LNT            2.3025850929940459
#define CUDART_LNPI           1.1447298858494002
#define CUDART_TWO_TO_23      0x1p23
#define CUDART_TWO_TO_52      0x1p52
#define CUDART_TWO_TO_53      0x1p53

/* A number as the sum of two doubles, the second of what the first leaves over. */
#define CUDART_SQRT_HALF_HI  7.0710678118654757e-01
#define CUDART_SQRT_HALF_LO  -4.8336466567264567e-17
#define CUDART_PIO4_HI       7.8539816339744828e-01
#define CUDART_PIO4_LO       3.0616169978683830e-17
#define CUDART_PIO2_HI       1.5707963267948966e+00
#define CUDART_PIO2_LO       6.1232339957367660e-17
#define CUDART_PI_HI         3.1415926535897931e+00
#define CUDART_PI_LO         1.2246467991473532e-16
#define CUDART_SQRT_2PI_HI   2.5066282746310007e+00
#define CUDART_SQRT_2PI_LO   -1.8328579980459167e-16
#define CUDART_SQRT_PIO2_HI  1.2533141373155003e+00
#define CUDART_SQRT_PIO2_LO  -9.1642899902295834e-17
#define CUDART_L2E_HI        1.4426950408889634e+00
#define CUDART_L2E_LO        2.0355273740931033e-17
#define CUDART_LG2_HI        3.0102999566398120e-01
#define CUDART_LG2_LO        -2.8037281277851704e-18
#define CUDART_LGE_HI        4.3429448190325182e-01
#define CUDART_LGE_LO        1.0983196502167651e-17
#define CUDART_LN2_HI        6.9314718055994529e-01
#define CUDART_LN2_LO        2.3190468138462996e-17
#define CUDART_LNT_HI        2.3025850929940459e+00
#define CUDART_LNT_LO        -2.1707562233822494e-16
#define CUDART_SQRT_PIO2     1.2533141373155003
#define CUDART_SQRT_2OPI     7.9788456080286541e-01
#define CUDART_LN2_X_1024    7.0978271289338397e+02
#define CUDART_LN2_X_1025    7.1047586007394398e+02
#define CUDART_LN2_X_1075    7.4513321910194122e+02
#define CUDART_LG2_X_1024    3.0825471555991675e+02
#define CUDART_LG2_X_1075    3.2360724533877976e+02
#define CUDART_TWO_TO_54     0x1p54
#define CUDART_TWO_TO_M54    0x1p-54
#define CUDART_TWO_TO_M1022  0x1p-1022
#define CUDART_DBL2INT_CVT   0x1.8p52 /* added to a double, it leaves the nearest whole number in the low bits */
#define CUDART_TRIG_PLOSS    0x1p31 /* from here on the sines of CUDA's libraries reduce their argument the slow way */
#define CUDART_TRIG_PLOSS_F  105615.0F
#define CUDART_REMQUO_BITS_F 3U
#define CUDART_REMQUO_MASK_F (~(~0U << CUDART_REMQUO_BITS_F))

#endif
