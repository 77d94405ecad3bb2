/* physics.cu — lattice Boltzmann, fields on grids, particles, rays, many small solvers. */
#include "fidelity.h"

enum { NX = 1024, NY = 1024, CUBE = 192, SPINS = 2048, PARTICLES = 1 << 17, CELLS = 32, ATOMS = 4096 };
enum { SPHERES = 64, WIDTH = 1024, HEIGHT = 1024, SYSTEMS = 1 << 15, ROWS = 64, ORBITS = 1 << 17 };

/* --- lattice Boltzmann, D2Q9: pull from the neighbours, then relax --- */
__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

__device__ inline void collide(float f[9], float omega) {
    float rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < 9; q++) {
        rho += f[q];
        ux += f[q] * cx[q];
        uy += f[q] * cy[q];
    }
    ux /= rho;
    uy /= rho;
    float uu = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < 9; q++) {
        float cu = 3.0f * (cx[q] * ux + cy[q] * uy);
        float equilibrium = weight[q] * rho * (1.0f + cu + 0.5f * cu * cu - uu);
        f[q] += omega * (equilibrium - f[q]);
    }
}

struct node {
    float f[9];
};

__global__ void lbm_aos(const node *in, node *out, int nx, int ny, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= nx) return;
    float f[9];
    for (int q = 0; q < 9; q++) {
        int xs = (x - cx[q] + nx) % nx;
        int ys = (y - cy[q] + ny) % ny;
        f[q] = in[ys * nx + xs].f[q];
    }
    collide(f, omega);
    for (int q = 0; q < 9; q++) out[y * nx + x].f[q] = f[q];
}

__global__ void lbm_soa(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y;
    if (x >= nx) return;
    int n = nx * ny;
    float f[9];
    for (int q = 0; q < 9; q++) {
        int xs = (x - cx[q] + nx) % nx;
        int ys = (y - cy[q] + ny) % ny;
        f[q] = in[q * n + ys * nx + xs];
    }
    collide(f, omega);
    for (int q = 0; q < 9; q++) out[q * n + y * nx + x] = f[q];
}

/* --- fields --- */
__global__ void heat3d(const double *__restrict__ in, double *__restrict__ out, int nx, int ny, int nz, double k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int i = (z * ny + y) * nx + x;
    double c = in[i];
    out[i] = c + k * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] + in[i + nx * ny] - 6.0 * c);
}

__global__ void gray_scott(const float *u, const float *v, float *u_next, float *v_next, int w, int h, float feed,
                           float kill, float dt) {
    const float du = 0.16f, dv = 0.08f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < w * h; i += blockDim.x * gridDim.x) {
        int x = i % w, y = i / w;
        int left = x > 0 ? i - 1 : i + w - 1;
        int right = x < w - 1 ? i + 1 : i - w + 1;
        int up = y > 0 ? i - w : i + (h - 1) * w;
        int down = y < h - 1 ? i + w : x;
        float uc = u[i], vc = v[i];
        float lap_u = u[left] + u[right] + u[up] + u[down] - 4.0f * uc;
        float lap_v = v[left] + v[right] + v[up] + v[down] - 4.0f * vc;
        float uvv = uc * vc * vc;
        u_next[i] = uc + dt * (du * lap_u - uvv + feed * (1.0f - uc));
        v_next[i] = vc + dt * (dv * lap_v + uvv - (feed + kill) * vc);
    }
}

/* The black and the white squares of a board of n x n are each an array of n x n / 2. */
template <bool BLACK>
__global__ void ising(signed char *spin, const signed char *__restrict__ other, const float *__restrict__ chance,
                      float beta, int n) {
    int half = n / 2;
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int i = id / half, j = id % half;
    if (i >= n) return;
    int up = i > 0 ? i - 1 : n - 1;
    int down = i < n - 1 ? i + 1 : 0;
    int beside;
    if (BLACK)
        beside = i % 2 ? (j + 1) % half : (j - 1 + half) % half;
    else
        beside = i % 2 ? (j - 1 + half) % half : (j + 1) % half;
    int sum = other[up * half + j] + other[down * half + j] + other[id] + other[i * half + beside];
    signed char s = spin[id];
    if (chance[id] < expf(-2.0f * beta * sum * s)) spin[id] = -s;
}

/* --- particles --- */
/* Positions are sorted by cell; a particle is pushed away by those of the 27 cells about it. */
__global__ void cell_forces(const float4 *__restrict__ position, const int *__restrict__ cell_start,
                            const int *__restrict__ cell_end, float4 *force, int n, int cells, float radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = position[i];
    int gx = (int)(p.x * cells), gy = (int)(p.y * cells), gz = (int)(p.z * cells);
    float fx = 0, fy = 0, fz = 0;
    for (int dz = -1; dz <= 1; dz++) {
        for (int dy = -1; dy <= 1; dy++) {
            for (int dx = -1; dx <= 1; dx++) {
                int x = gx + dx, y = gy + dy, z = gz + dz;
                if (x < 0 || y < 0 || z < 0 || x >= cells || y >= cells || z >= cells) continue;
                int cell = (z * cells + y) * cells + x;
                int end = cell_end[cell];
                for (int j = cell_start[cell]; j < end; j++) {
                    if (j == i) continue;
                    float4 q = position[j];
                    float rx = p.x - q.x, ry = p.y - q.y, rz = p.z - q.z;
                    float d2 = rx * rx + ry * ry + rz * rz;
                    if (d2 < radius * radius) {
                        float d = sqrtf(d2);
                        float push = p.w * q.w * (radius - d) / (d + 1e-6f);
                        fx += push * rx;
                        fy += push * ry;
                        fz += push * rz;
                    }
                }
            }
        }
    }
    force[i] = make_float4(fx, fy, fz, 0.0f);
}

template <int TILE> __global__ void lennard_jones(const float4 *position, float4 *force, int n, float cutoff2) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 p = position[i];
    float fx = 0, fy = 0, fz = 0, energy = 0;
    for (int base = 0; base < n; base += TILE) {
        tile[threadIdx.x] = position[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < TILE; k++) {
            float dx = p.x - tile[k].x, dy = p.y - tile[k].y, dz = p.z - tile[k].z;
            float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < cutoff2 && base + k != i) {
                float inv2 = 1.0f / r2;
                float inv6 = inv2 * inv2 * inv2;
                float f = 24.0f * inv6 * (2.0f * inv6 - 1.0f) * inv2;
                fx += f * dx;
                fy += f * dy;
                fz += f * dz;
                energy += 4.0f * inv6 * (inv6 - 1.0f);
            }
        }
        __syncthreads();
    }
    force[i] = make_float4(fx, fy, fz, 0.5f * energy);
}

/* --- rays --- */
struct sphere {
    float x, y, z, radius;
    float r, g, b;
};
__constant__ sphere scene[SPHERES];

__device__ float hit(const sphere *s, float ox, float oy, float *shade) {
    float dx = ox - s->x, dy = oy - s->y;
    if (dx * dx + dy * dy >= s->radius * s->radius) return -1e20f;
    float dz = sqrtf(s->radius * s->radius - dx * dx - dy * dy);
    *shade = dz / s->radius;
    return dz + s->z;
}

__global__ void spheres_constant(uchar4 *image, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float ox = x - w / 2, oy = y - h / 2;
    float r = 0, g = 0, b = 0, nearest = -1e20f;
    for (int i = 0; i < SPHERES; i++) {
        float shade, depth = hit(&scene[i], ox, oy, &shade);
        if (depth > nearest) {
            r = scene[i].r * shade;
            g = scene[i].g * shade;
            b = scene[i].b * shade;
            nearest = depth;
        }
    }
    image[y * w + x] = make_uchar4((unsigned char)(r * 255), (unsigned char)(g * 255), (unsigned char)(b * 255), 255);
}

__global__ void spheres_global(const sphere *spheres, int count, uchar4 *image, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float ox = x - w / 2, oy = y - h / 2;
    float r = 0, g = 0, b = 0, nearest = -1e20f;
    for (int i = 0; i < count; i++) {
        float shade, depth = hit(&spheres[i], ox, oy, &shade);
        if (depth > nearest) {
            r = spheres[i].r * shade;
            g = spheres[i].g * shade;
            b = spheres[i].b * shade;
            nearest = depth;
        }
    }
    image[y * w + x] = make_uchar4((unsigned char)(r * 255), (unsigned char)(g * 255), (unsigned char)(b * 255), 255);
}

__device__ float distance_to_scene(float3 p) {
    float ground = p.y + 1.0f;
    float ball = sqrtf((p.x - 1.2f) * (p.x - 1.2f) + p.y * p.y + p.z * p.z) - 0.8f;
    float ring = sqrtf((p.x + 1.0f) * (p.x + 1.0f) + p.z * p.z) - 0.8f;
    float torus = sqrtf(ring * ring + p.y * p.y) - 0.25f;
    return fminf(ground, fminf(ball, torus));
}
__device__ float3 along(float3 o, float3 d, float t) {
    return make_float3(o.x + t * d.x, o.y + t * d.y, o.z + t * d.z);
}
__device__ float3 normalized(float3 v) {
    float s = rsqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return make_float3(v.x * s, v.y * s, v.z * s);
}

__global__ void march(uchar4 *image, int w, int h) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float3 eye = make_float3(0.0f, 0.8f, -4.0f);
    float3 ray = normalized(make_float3((px - 0.5f * w) / h, (0.5f * h - py) / h - 0.15f, 1.0f));
    float t = 0;
    bool found = false;
    for (int step = 0; step < 64 && t < 20.0f; step++) {
        float d = distance_to_scene(along(eye, ray, t));
        if (d < 0.001f) {
            found = true;
            break;
        }
        t += d;
    }
    float light = 0.2f;
    if (found) {
        const float e = 0.001f;
        float3 p = along(eye, ray, t);
        float3 n = normalized(make_float3(
            distance_to_scene(make_float3(p.x + e, p.y, p.z)) - distance_to_scene(make_float3(p.x - e, p.y, p.z)),
            distance_to_scene(make_float3(p.x, p.y + e, p.z)) - distance_to_scene(make_float3(p.x, p.y - e, p.z)),
            distance_to_scene(make_float3(p.x, p.y, p.z + e)) - distance_to_scene(make_float3(p.x, p.y, p.z - e))));
        float3 sun = normalized(make_float3(0.6f, 0.8f, -0.5f));
        light = fmaxf(0.0f, n.x * sun.x + n.y * sun.y + n.z * sun.z);
        float s = 0.02f;
        for (int step = 0; step < 32 && s < 5.0f; step++) { /* is it in a shadow? */
            float d = distance_to_scene(along(p, sun, s));
            if (d < 0.001f) {
                light *= 0.3f;
                break;
            }
            s += d;
        }
    }
    unsigned char c = (unsigned char)(255.0f * fminf(1.0f, light));
    image[py * w + px] = make_uchar4(c, c, c, 255);
}

/* --- solvers --- */
/* A system a thread: row i of system s is at s * per_system + i * per_row. */
__global__ void thomas(const float *a, const float *b, const float *c, const float *d, float *scratch, float *x, int n,
                       int systems, int per_system, int per_row) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    int at = s * per_system;
    float cp = c[at] / b[at], dp = d[at] / b[at];
    scratch[at] = cp;
    x[at] = dp;
    for (int i = 1; i < n; i++) {
        at += per_row;
        float m = 1.0f / (b[at] - a[at] * cp);
        cp = c[at] * m;
        dp = (d[at] - a[at] * dp) * m;
        scratch[at] = cp;
        x[at] = dp;
    }
    for (int i = n - 2; i >= 0; i--) {
        at -= per_row;
        dp = x[at] - scratch[at] * dp;
        x[at] = dp;
    }
}

__device__ inline float3 lorenz(float3 p, float sigma, float rho, float beta) {
    return make_float3(sigma * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - beta * p.z);
}

__global__ void runge_kutta(const float3 *start, const float *rho, float3 *end, int n, int steps, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = start[i];
    float r = rho[i];
    for (int s = 0; s < steps; s++) {
        float3 k1 = lorenz(p, 10.0f, r, 8.0f / 3.0f);
        float3 k2 = lorenz(along(p, k1, 0.5f * dt), 10.0f, r, 8.0f / 3.0f);
        float3 k3 = lorenz(along(p, k2, 0.5f * dt), 10.0f, r, 8.0f / 3.0f);
        float3 k4 = lorenz(along(p, k3, dt), 10.0f, r, 8.0f / 3.0f);
        p.x += dt / 6.0f * (k1.x + 2.0f * k2.x + 2.0f * k3.x + k4.x);
        p.y += dt / 6.0f * (k1.y + 2.0f * k2.y + 2.0f * k3.y + k4.y);
        p.z += dt / 6.0f * (k1.z + 2.0f * k2.z + 2.0f * k3.z + k4.z);
    }
    end[i] = p;
}

static float *flow, *flow_next, *u, *v, *u_next, *v_next, *chance_black, *chance_white;
static double *hot, *hot_next;
static signed char *black, *white;
static float4 *particle, *particle_force, *atom, *atom_force;
static int *cell_start, *cell_end;
static sphere *spheres;
static uchar4 *image;
static float *lower, *middle, *upper, *right_side, *scratch, *solution, *rho;
static float3 *from, *to;

static int cell_of(size_t i) {
    int x = (int)(unit(3 * i) * CELLS), y = (int)(unit(3 * i + 1) * CELLS), z = (int)(unit(3 * i + 2) * CELLS);
    return (z * CELLS + y) * CELLS + x;
}

static void make_particles() {
    enum { COUNT = CELLS * CELLS * CELLS };
    int *start = (int *)calloc(COUNT + 1, sizeof(int)), *used = (int *)calloc(COUNT, sizeof(int));
    float4 *sorted = (float4 *)malloc(PARTICLES * sizeof(float4));
    for (int i = 0; i < PARTICLES; i++) start[cell_of(i) + 1]++;
    for (int c = 0; c < COUNT; c++) start[c + 1] += start[c];
    for (int i = 0; i < PARTICLES; i++) {
        int c = cell_of(i);
        sorted[start[c] + used[c]++] = make_float4(unit(3 * i), unit(3 * i + 1), unit(3 * i + 2), 1.0f);
    }
    particle = filled<float4>(PARTICLES, [=](size_t i) { return sorted[i]; });
    cell_start = filled<int>(COUNT, [=](size_t c) { return start[c]; });
    cell_end = filled<int>(COUNT, [=](size_t c) { return start[c + 1]; });
    free(start), free(used), free(sorted);
}

static void make_spheres() {
    sphere host[SPHERES];
    for (int i = 0; i < SPHERES; i++) {
        sphere s = {unit(10 * i) * WIDTH - WIDTH / 2,
                    unit(10 * i + 1) * HEIGHT - HEIGHT / 2,
                    unit(10 * i + 2) * 1000 - 500,
                    unit(10 * i + 3) * 100 + 20,
                    unit(10 * i + 4),
                    unit(10 * i + 5),
                    unit(10 * i + 6)};
        host[i] = s;
    }
    MUST(cudaMemcpyToSymbol(scene, host, sizeof host));
    spheres = filled<sphere>(SPHERES, [&](size_t i) { return host[i]; });
}

static void setup() {
    flow = filled<float>(9 * NX * NY, [](size_t i) { return 0.1f + 0.02f * unit(i); });
    flow_next = zeroed<float>(9 * NX * NY);
    hot = filled<double>(CUBE * CUBE * CUBE, [](size_t i) { return 100.0 * unit(i); });
    hot_next = zeroed<double>(CUBE * CUBE * CUBE);
    u = filled<float>(NX * NY, [](size_t i) { return 1.0f - 0.5f * unit(i); });
    v = filled<float>(NX * NY, [](size_t i) { return 0.25f * unit(i + 7); });
    u_next = zeroed<float>(NX * NY), v_next = zeroed<float>(NX * NY);
    black = filled<signed char>(SPINS * SPINS / 2, [](size_t i) { return (signed char)(mixed(i) & 1 ? 1 : -1); });
    white = filled<signed char>(SPINS * SPINS / 2, [](size_t i) { return (signed char)(mixed(i) & 2 ? 1 : -1); });
    chance_black = filled<float>(SPINS * SPINS / 2, [](size_t i) { return unit(i + 11); });
    chance_white = filled<float>(SPINS * SPINS / 2, [](size_t i) { return unit(i + 13); });
    make_particles();
    particle_force = zeroed<float4>(PARTICLES);
    atom = filled<float4>(ATOMS, [](size_t i) { /* about a grid of 16 x 16 x 16 */
                                                return make_float4(1.2f * (i % 16) + 0.2f * unit(3 * i),
                                                                   1.2f * (i / 16 % 16) + 0.2f * unit(3 * i + 1),
                                                                   1.2f * (i / 256) + 0.2f * unit(3 * i + 2), 1.0f);
    });
    atom_force = zeroed<float4>(ATOMS);
    make_spheres();
    image = zeroed<uchar4>(WIDTH * HEIGHT);
    lower = filled<float>(SYSTEMS * ROWS, [](size_t i) { return -unit(i); });
    middle = filled<float>(SYSTEMS * ROWS, [](size_t i) { return 3.0f + unit(i + 1); });
    upper = filled<float>(SYSTEMS * ROWS, [](size_t i) { return -unit(i + 2); });
    right_side = filled<float>(SYSTEMS * ROWS, [](size_t i) { return 10.0f * unit(i + 3); });
    scratch = zeroed<float>(SYSTEMS * ROWS), solution = zeroed<float>(SYSTEMS * ROWS);
    rho = filled<float>(ORBITS, [](size_t i) { return 10.0f + 20.0f * unit(i); });
    from = filled<float3>(ORBITS, [](size_t i) { return make_float3(unit(i), 1.0f + unit(i + 1), unit(i + 2)); });
    to = zeroed<float3>(ORBITS);
}

static void two_reactions() {
    gray_scott<<<528, 256>>>(u, v, u_next, v_next, NX, NY, 0.035f, 0.065f, 1.0f);
    gray_scott<<<528, 256>>>(u_next, v_next, u, v, NX, NY, 0.035f, 0.065f, 1.0f);
}
static void sweep() {
    int blocks = SPINS * SPINS / 2 / 128;
    ising<true><<<blocks, 128>>>(black, white, chance_black, 0.44f, SPINS);
    ising<false><<<blocks, 128>>>(white, black, chance_white, 0.44f, SPINS);
}

static const fidelity_test tests[] = {
    COLD("lattice/Boltzmann, array of structs, 1024 x 1024", 1,
         lbm_aos<<<dim3(NX / 128, NY), 128>>>((node *)flow, (node *)flow_next, NX, NY, 1.2f)),
    COLD("lattice/Boltzmann, struct of arrays, 1024 x 1024", 1,
         lbm_soa<<<dim3(NX / 128, NY), 128>>>(flow, flow_next, NX, NY, 1.2f)),
    COLD("fields/heat, double, 192^3", 1,
         heat3d<<<dim3(CUBE / 32, CUBE / 4, CUBE / 4), dim3(32, 4, 4)>>>(hot, hot_next, CUBE, CUBE, CUBE, 0.1)),
    WARM("fields/Gray and Scott, 1024 x 1024, 2 steps", 2, two_reactions()),
    COLD("fields/Ising, 2048 x 2048, black and white", 2, sweep()),
    WARM("particles/27 cells, 2^17", 1,
         cell_forces<<<PARTICLES / 64, 64>>>(particle, cell_start, cell_end, particle_force, PARTICLES, CELLS,
                                             1.0f / CELLS)),
    WARM("particles/Lennard and Jones, tiles of 64, 4096", 1,
         lennard_jones<64><<<ATOMS / 64, 64>>>(atom, atom_force, ATOMS, 9.0f)),
    COLD("rays/64 spheres, constant memory, 1024 x 1024", 1,
         spheres_constant<<<dim3(WIDTH / 16, HEIGHT / 16), dim3(16, 16)>>>(image, WIDTH, HEIGHT)),
    COLD("rays/64 spheres, global memory, 1024 x 1024", 1,
         spheres_global<<<dim3(WIDTH / 16, HEIGHT / 16), dim3(16, 16)>>>(spheres, SPHERES, image, WIDTH, HEIGHT)),
    COLD("rays/marching, 1024 x 512", 1, march<<<dim3(WIDTH / 8, 512 / 8), dim3(8, 8)>>>(image, WIDTH, 512)),
    COLD("solvers/Thomas, systems apart, 2^15 of 64", 1,
         thomas<<<SYSTEMS / 128, 128>>>(lower, middle, upper, right_side, scratch, solution, ROWS, SYSTEMS, ROWS, 1)),
    COLD(
        "solvers/Thomas, systems interleaved, 2^15 of 64", 1,
        thomas<<<SYSTEMS / 128, 128>>>(lower, middle, upper, right_side, scratch, solution, ROWS, SYSTEMS, 1, SYSTEMS)),
    COLD("solvers/Lorenz by Runge and Kutta, 2^17", 1,
         runge_kutta<<<ORBITS / 512, 512>>>(from, rho, to, ORBITS, 64, 0.005f)),
};
FIDELITY_MAIN(setup, tests)
