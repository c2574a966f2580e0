/* small_problems.c - examples as one would write them in C for one core:  small_problems EXAMPLE ARGUMENTS...
 *
 * A turn is the whole example, its set-up included; what is checked are the numbers that it prints.  The names are those
 * of examples/NAME.lua.
 */
#include <float.h>
#include <string.h>

#include "rival.h"

static long arg[3]; /* the arguments, those that are whole numbers */
static double tolerance;
static double number[4]; /* what the example prints */

static double *vector(long n) {
  double *x = malloc((size_t)n * sizeof *x);
  if (!x) exit(1);
  return x;
}

static double dot(long n, const double *x, const double *y) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* out = A x; A is n x m. */
static void product(long n, long m, const double *A, const double *x, double *out) {
  for (long i = 0; i < n; i++) out[i] = dot(m, A + i * m, x);
}

/* out = A' x */
static void transposed_product(long n, long m, const double *A, const double *x, double *out) {
  memset(out, 0, (size_t)m * sizeof *out);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) out[j] += A[i * m + j] * x[i];
}

static double sum_of(long n, const double *x) {
  double sum = 0;
  for (long i = 0; i < n; i++) sum += x[i];
  return sum;
}

static double *distances(long n) {
  double *A = vector(n * n);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) A[i * n + j] = 1 / (1 + fabs((double)(i - j)));
  return A;
}

static double *cosines(long n) {
  double *b = vector(n);
  for (long i = 0; i < n; i++) b[i] = cos((double)i);
  return b;
}

static double residual(long n, const double *A, const double *x, const double *b, double *scratch) {
  product(n, n, A, x, scratch);
  double sum = 0;
  for (long i = 0; i < n; i++) sum += (b[i] - scratch[i]) * (b[i] - scratch[i]);
  return sqrt(sum);
}

/* Conjugate gradients; M: the inverse of the diagonal, or NULL. */
static void solve(long n, const double *A, const double *b, const double *M) {
  double *x = vector(n), *r = vector(n), *z = vector(n), *p = vector(n), *Ap = vector(n);
  long iterations = 0;
  for (long i = 0; i < n; i++) {
    x[i] = 0;
    r[i] = b[i];
    p[i] = z[i] = M ? M[i] * r[i] : r[i];
  }
  double rz = dot(n, r, z), rr = dot(n, r, r);
  while (sqrt(rr) > tolerance && iterations < n) {
    product(n, n, A, p, Ap);
    double alpha = rz / dot(n, p, Ap), before = rz;
    rz = rr = 0;
    for (long i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * Ap[i];
      z[i] = M ? M[i] * r[i] : r[i];
      rz += r[i] * z[i];
      rr += r[i] * r[i];
    }
    for (long i = 0; i < n; i++) p[i] = z[i] + rz / before * p[i];
    iterations++;
  }
  residual(n, A, x, b, Ap);
  number[0] = n, number[1] = iterations, number[2] = sum_of(n, x), number[3] = sqrt(dot(n, x, x));
  free(x), free(r), free(z), free(p), free(Ap);
}

static void cg(void) {
  double *A = distances(arg[0]), *b = cosines(arg[0]);
  solve(arg[0], A, b, NULL);
  free(A), free(b);
}

static void pcg(void) {
  long n = arg[0];
  double *A = distances(n), *b = cosines(n), *M = vector(n);
  for (long i = 0; i < n; i++) {
    A[i * n + i] += pow(10, i % 5);
    M[i] = 1 / A[i * n + i];
  }
  solve(n, A, b, M);
  free(A), free(b), free(M);
}

static void jacobi(void) {
  long n = arg[0];
  double *A = distances(n), *b = cosines(n), *x = vector(n), *R = vector(n * n), *Rx = vector(n);
  for (long i = 0; i < n; i++) A[i * n + i] += 10 + 2 * log((double)n);
  memcpy(R, A, (size_t)(n * n) * sizeof *R);
  for (long i = 0; i < n; i++) R[i * n + i] = x[i] = 0;
  for (long k = 0; k < arg[1]; k++) {
    product(n, n, R, x, Rx);
    for (long i = 0; i < n; i++) x[i] = (b[i] - Rx[i]) / A[i * n + i];
  }
  number[0] = n, number[1] = sum_of(n, x), number[2] = sqrt(dot(n, x, x)), number[3] = residual(n, A, x, b, Rx);
  free(A), free(b), free(x), free(R), free(Rx);
}

static void logreg(void) {
  long n = arg[0], m = arg[1];
  double *features = vector(n * m), *target = vector(n), *weights = vector(m), *scores = vector(n), *truth = vector(m);
  double *gradient = vector(m), rate = 2.0 / n;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++) features[i * m + j] = sin(0.7 + i * sqrt(j + 2.0));
  for (long j = 0; j < m; j++) truth[j] = cos(3.0 * j), weights[j] = 0;
  product(n, m, features, truth, target);
  for (long i = 0; i < n; i++) target[i] = target[i] > 0;
  for (long k = 0; k < arg[2]; k++) {
    product(n, m, features, weights, scores);
    for (long i = 0; i < n; i++) scores[i] = target[i] - 1 / (1 + exp(-scores[i]));
    transposed_product(n, m, features, scores, gradient);
    for (long j = 0; j < m; j++) weights[j] += rate * gradient[j];
  }
  product(n, m, features, weights, scores);
  double likelihood = 0, right = 0;
  for (long i = 0; i < n; i++) {
    likelihood += target[i] * scores[i] - log(1 + exp(scores[i]));
    right += (scores[i] > 0) == (target[i] > 0);
  }
  number[0] = n, number[1] = likelihood, number[2] = sqrt(dot(m, weights, weights)), number[3] = round(1000 * right / n) / 1000;
  free(features), free(target), free(weights), free(scores), free(truth), free(gradient);
}

enum { DIMS = 4 };

static double squared_distance(const double *x, const double *y) {
  double sum = 0;
  for (int d = 0; d < DIMS; d++) sum += (x[d] - y[d]) * (x[d] - y[d]);
  return sum;
}

static long nearest(long k, const double *centres, const double *x, double *distance) {
  long best = 0;
  *distance = DBL_MAX;
  for (long c = 0; c < k; c++) {
    double there = squared_distance(x, centres + c * DIMS);
    if (there < *distance) *distance = there, best = c;
  }
  return best;
}

static void kmeans(void) {
  long n = arg[0], k = arg[1];
  double *data = vector(n * DIMS), *centres = vector(k * DIMS), *sums = vector(k * DIMS), *count = vector(k), distance;
  long *label = malloc((size_t)n * sizeof *label);
  for (long i = 0; i < n; i++)
    for (int d = 0; d < DIMS; d++)
      data[i * DIMS + d] = 1.5 * sin(2.3 * (i % k) + 1.1 * d) + sin((i + 1) * (d + 1) * 1.7);
  memcpy(centres, data, (size_t)(k * DIMS) * sizeof *centres);
  for (long step = 0; step < arg[2]; step++) {
    memset(sums, 0, (size_t)(k * DIMS) * sizeof *sums);
    memset(count, 0, (size_t)k * sizeof *count);
    for (long i = 0; i < n; i++) {
      label[i] = nearest(k, centres, data + i * DIMS, &distance);
      count[label[i]]++;
      for (int d = 0; d < DIMS; d++) sums[label[i] * DIMS + d] += data[i * DIMS + d];
    }
    for (long c = 0; c < k; c++)
      for (int d = 0; d < DIMS; d++) centres[c * DIMS + d] = sums[c * DIMS + d] / count[c];
  }
  memset(number, 0, sizeof number);
  for (long i = 0; i < n; i++) {
    nearest(k, centres, data + i * DIMS, &distance);
    number[1] += distance;
    number[3] += label[i] + 1;
  }
  number[0] = n;
  for (long c = 0; c < k * DIMS; c++) number[2] += fabs(centres[c]);
  free(data), free(centres), free(sums), free(count), free(label);
}

static void stencil(void) {
  long n = arg[0], row = n + 2;
  double *grid = vector(row * row), *work = vector(n * n);
  memset(grid, 0, (size_t)(row * row) * sizeof *grid);
  for (long i = 0; i < row; i++) grid[i * row] = grid[i * row + row - 1] = grid[(row - 1) * row + i] = -273.15;
  for (long i = 0; i < row; i++) grid[i] = 40;
  for (long step = 0; step < arg[1]; step++) {
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++) {
        const double *c = &grid[(i + 1) * row + j + 1];
        work[i * n + j] = 0.2 * (c[0] + c[-row] + c[1] + c[-1] + c[row]);
      }
    for (long i = 0; i < n; i++) memcpy(&grid[(i + 1) * row + 1], &work[i * n], (size_t)n * sizeof *work);
  }
  number[0] = number[1] = n, number[2] = 0, number[3] = -DBL_MAX;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      double here = grid[(i + 1) * row + j + 1];
      number[2] += here / ((double)n * n);
      number[3] = fmax(number[3], here);
    }
  free(grid), free(work);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*work)(void);
  } example[] = {{"cg", cg}, {"pcg", pcg}, {"jacobi", jacobi}, {"logreg", logreg}, {"kmeans", kmeans}, {"stencil", stencil}};
  for (int i = 2; i < argc && i < 5; i++) arg[i - 2] = atol(argv[i]);
  if (argc > 3) tolerance = atof(argv[3]);
  for (size_t i = 0; i < sizeof example / sizeof *example; i++) {
    if (argc < 2 || strcmp(argv[1], example[i].name) != 0) continue;
    example[i].work();
    printf("ready %.17g %.17g %.17g %.17g\n", number[0], number[1], number[2], number[3]);
    fflush(stdout);
    serve(example[i].work);
    return 0;
  }
  fprintf(stderr, "small_problems: no example of that name\n");
  return 1;
}
