/* host.c - a program that uses lgt as its author would, with lgt.h alone: memory of its own, a kind of its own, failures.
 *
 * It is C11 and C++17 in one.  embed.py builds it as both from what is installed, and runs it with one domain, with several,
 * and with emulated devices.  It prints what went wrong, if anything, and exits with 1 then.
 */
#include <lgt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

static int failed;

static void expect(int condition, const char *what, int line) {
  if (condition) return;
  printf("line %d: %s; the last message: %s\n", line, what, lgt_message());
  failed = 1;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* `call` fails with this status, and a message in which `words` stand. */
#define EXPECT_STATUS(call, status, words)                                                                    \
  do {                                                                                                        \
    lgt_status got = (call);                                                                                  \
    expect(got == (status) && lgt_last_status() == got, #call " has another status", __LINE__);               \
    expect(strstr(lgt_message(), words) != NULL, #call " says something else", __LINE__);                     \
  } while (0)
/* `call` gives the number 0, and fails otherwise likewise. */
#define EXPECT_NONE(call, status, words)                                                                      \
  do {                                                                                                        \
    expect((call) == 0, #call " is no failure", __LINE__);                                                    \
    expect(lgt_last_status() == (status), #call " has another status", __LINE__);                             \
    expect(strstr(lgt_message(), words) != NULL, #call " says something else", __LINE__);                     \
  } while (0)

static lgt_launch launch_of(lgt_kind_id kind, int nargs, lgt_id a, lgt_id b) {
  lgt_launch launch;
  memset(&launch, 0, sizeof launch);
  launch.kind = kind;
  launch.nargs = (uint8_t)nargs;
  launch.arg[0] = a;
  launch.arg[1] = b;
  return launch;
}

/* ---- a kind with a function, a context and a parameter: y = offset + factor * x ------------------------- */

typedef struct scaling {
  double offset;
  double refused; /* an element that the function refuses */
  int64_t rows;   /* how many it has computed, on all threads */
} scaling;

static lgt_status scale(void *context, const lgt_work *part) {
  scaling *s = (scaling *)context;
  const lgt_tile *y = &part->tiles[0], *x = &part->tiles[1];
  if (part->size < sizeof(lgt_work) || part->nargs != 2) return lgt_fail(LGT_TASK_FAILED, "another lgt_work");
  for (int64_t i = part->lo; i < part->hi; i++) {
    double element;
    memcpy(&element, (const char *)x->data + i * x->stride[0], sizeof element);
    if (element == s->refused) {
      char message[64];
      snprintf(message, sizeof message, "row %lld is refused", (long long)(x->origin[0] + i));
      return lgt_fail(LGT_TASK_FAILED, message);
    }
    element = s->offset + part->params[0].f * element;
    memcpy((char *)y->data + i * y->stride[0], &element, sizeof element);
  }
  __atomic_fetch_add(&s->rows, part->hi - part->lo, __ATOMIC_RELAXED);
  return LGT_OK;
}

static int released;
static void on_release(void *context) { released += context == &released; }

static lgt_id attach(lgt_runtime *rt, double *data) {
  int64_t count = N;
  return lgt_array_attach(rt, LGT_FLOAT64, 1, &count, LGT_MEMORY_HOST, data, on_release, &released);
}

static lgt_kind_id kind_of_scaling(lgt_runtime *rt, scaling *s) {
  EXPECT_NONE(lgt_kind_new(rt, "scale", "wx", ""), LGT_BAD_ARGUMENT, "'x' is none of r, w, m");
  EXPECT_NONE(lgt_kind_new(rt, "scale", "wr", "align(0.0,2.0)"), LGT_BAD_ARGUMENT, "scale");
  lgt_kind_id kind = lgt_kind_new(rt, "scale", "wr", "align(0.0,1.0)");
  EXPECT(kind != 0);
  EXPECT_STATUS(lgt_kind_variant(rt, kind, (lgt_variant_class)99, scale, s), LGT_BAD_ARGUMENT, "no class of devices");
  EXPECT_STATUS(lgt_kind_variant(rt, kind, LGT_VARIANT_CPU, NULL, s), LGT_BAD_ARGUMENT, "no function");
  return kind;
}

static void work_on_own_memory(lgt_runtime *rt) {
  static double in[N], out[N];
  static scaling s = {1, -1, 0}; /* the kind has it as long as the runtime lives */
  for (int i = 0; i < N; i++) in[i] = i, out[i] = 0;
  lgt_id x = attach(rt, in), y = attach(rt, out);
  lgt_kind_id kind = kind_of_scaling(rt, &s);
  EXPECT(x && y);
  lgt_launch launch = launch_of(kind, 2, y, x);
  launch.nparams = 1;
  launch.param[0].f = 2;
  EXPECT_STATUS(lgt_submit(rt, &launch), LGT_BAD_ARGUMENT, "lgt_kind_variant gives it one");
  EXPECT(!lgt_kind_variant(rt, kind, LGT_VARIANT_CPU, scale, &s));
  EXPECT_STATUS(lgt_kind_variant(rt, kind, LGT_VARIANT_CPU, scale, &s), LGT_BAD_ARGUMENT, "already");

  launch.line = lgt_line(rt, "host.c:scaling");
  EXPECT(!lgt_submit(rt, &launch));
  int64_t index = 10;
  lgt_scalar element;
  EXPECT(!lgt_array_element(rt, y, &index, &element) && element.f == 21);
  index = N;
  EXPECT_STATUS(lgt_array_element(rt, y, &index, &element), LGT_OUT_OF_BOUNDS, "index");
  EXPECT(element.f == 21); /* outputs are set on success only */

  EXPECT(!lgt_array_detach(rt, y) && released == 1);
  for (int i = 0; i < N; i++) EXPECT(out[i] == 1 + 2.0 * i);
  EXPECT(s.rows == N);
  EXPECT_STATUS(lgt_array_copy_out(rt, y, out), LGT_RELEASED, "");
  EXPECT_STATUS(lgt_submit(rt, &launch), LGT_RELEASED, "");
  lgt_array_free(rt, y);
  EXPECT(!lgt_array_detach(rt, x) && released == 2);
  lgt_array_free(rt, x);
}

/* A task that fails poisons what it writes and what depends on that, until it is overwritten; nothing else. */
static void outlive_a_failing_task(lgt_runtime *rt) {
  static double in[N], out[N];
  static scaling s = {0, 700, 0};
  int64_t count = N;
  for (int i = 0; i < N; i++) in[i] = i;
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &count), y = lgt_array_new(rt, LGT_FLOAT64, 1, &count);
  lgt_id z = lgt_array_new(rt, LGT_FLOAT64, 1, &count), tail = lgt_array_slice(rt, x, 0, 701, N - 701, 1);
  lgt_kind_id kind = lgt_kind_new(rt, "refuse", "wr", "align(0.0,1.0)");
  EXPECT(x && y && z && tail && kind && !lgt_kind_variant(rt, kind, LGT_VARIANT_CPU, scale, &s));
  EXPECT(!lgt_array_copy_in(rt, x, in));
  lgt_launch first = launch_of(kind, 2, y, x), second = launch_of(kind, 2, z, y);
  first.nparams = second.nparams = 1;
  first.param[0].f = second.param[0].f = 1;
  first.line = lgt_line(rt, "host.c:the first");
  EXPECT(!lgt_submit(rt, &first) && !lgt_submit(rt, &second));
  EXPECT_STATUS(lgt_fence(rt), LGT_TASK_FAILED, "row 700 is refused");
  EXPECT_STATUS(lgt_array_copy_out(rt, z, out), LGT_TASK_FAILED, "host.c:the first");
  EXPECT_STATUS(lgt_array_copy_out(rt, y, out), LGT_TASK_FAILED, "row 700 is refused");
  EXPECT(!lgt_array_copy_out(rt, x, out) && out[700] == 700);

  in[700] = 0;
  EXPECT(!lgt_array_copy_in(rt, x, in) && !lgt_submit(rt, &first) && !lgt_submit(rt, &second));
  EXPECT(!lgt_array_copy_out(rt, z, out) && out[700] == 0 && out[999] == 999);
  EXPECT(!lgt_array_copy_out(rt, tail, out) && out[0] == 701);
  lgt_array_free(rt, x), lgt_array_free(rt, y), lgt_array_free(rt, z), lgt_array_free(rt, tail);
}

/* ---- a kind with a generator ----------------------------------------------------------------------------- */

static void generate(lgt_runtime *rt) {
  lgt_body *body;
  int64_t count = N, few = 3;
  EXPECT(!lgt_body_new(&body));
  lgt_value value = lgt_body_op(body, "bogus", LGT_FLOAT64, lgt_body_load(body, LGT_FLOAT64, 1), 0, 0);
  lgt_body_store(body, 0, value); /* fails, too; the kind says what failed first */
  EXPECT_NONE(lgt_kind_generator(rt, "wrong", body), LGT_BAD_ARGUMENT, "bogus");

  EXPECT(!lgt_body_new(&body));
  value = lgt_body_load(body, LGT_FLOAT64, 1);
  lgt_body_store(body, 0, lgt_body_op(body, "mul", LGT_FLOAT64, value, value, 0));
  lgt_kind_id square = lgt_kind_generator(rt, "square", body);
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &count), y = lgt_array_new(rt, LGT_FLOAT64, 1, &count);
  lgt_id whole = lgt_array_new(rt, LGT_INT32, 1, &count), small = lgt_array_new(rt, LGT_FLOAT64, 1, &few);
  EXPECT(square && x && y && whole && small);
  lgt_launch launch = launch_of(square, 2, y, whole);
  EXPECT_STATUS(lgt_submit(rt, &launch), LGT_BAD_DTYPE, "");
  launch = launch_of(square, 2, y, small);
  EXPECT_STATUS(lgt_submit(rt, &launch), LGT_BAD_SHAPE, "");
  launch = launch_of(square, 1, y, 0);
  EXPECT_STATUS(lgt_submit(rt, &launch), LGT_BAD_ARGUMENT, "");
  launch = launch_of(square, 2, y, 4000000);
  EXPECT_STATUS(lgt_submit(rt, &launch), LGT_BAD_ARGUMENT, "");
  launch = launch_of(4000, 2, y, x);
  EXPECT_STATUS(lgt_submit(rt, &launch), LGT_BAD_ARGUMENT, "not registered");

  lgt_tile tile;
  EXPECT(!lgt_array_host(rt, x, "w", &tile) && tile.ndim == 1 && tile.extent[0] == N && tile.dtype == LGT_FLOAT64);
  for (int64_t i = 0; i < N; i++) *(double *)(void *)((char *)tile.data + i * tile.stride[0]) = (double)i;
  launch = launch_of(square, 2, y, x);
  EXPECT(!lgt_submit(rt, &launch) && !lgt_array_host(rt, y, "r", &tile));
  for (int64_t i = 0; i < N; i++)
    EXPECT(*(double *)(void *)((char *)tile.data + i * tile.stride[0]) == (double)(i * i));
  EXPECT_STATUS(lgt_array_host(rt, y, "q", &tile), LGT_BAD_ARGUMENT, "");
  lgt_array_free(rt, x), lgt_array_free(rt, y), lgt_array_free(rt, whole), lgt_array_free(rt, small);
}

/* ---- what else may fail ---------------------------------------------------------------------------------- */

static void shapes(lgt_runtime *rt) {
  int64_t shape[2] = {4, 6}, bad[2] = {4, 7}, negative = -1;
  lgt_description about;
  lgt_id x = lgt_array_new(rt, LGT_INT16, 2, shape), view = lgt_array_slice(rt, x, 1, 0, 3, 2);
  EXPECT(x && view);
  about.size = sizeof about;
  EXPECT(!lgt_array_describe(rt, view, &about) && about.dtype == LGT_INT16 && about.ndim == 2);
  EXPECT(about.shape[0] == 4 && about.shape[1] == 3 && about.count == 12);
  about.size = 1;
  EXPECT_STATUS(lgt_array_describe(rt, view, &about), LGT_BAD_ARGUMENT, "sizeof");
  EXPECT_NONE(lgt_array_new(rt, (lgt_dtype)77, 2, shape), LGT_BAD_DTYPE, "");
  EXPECT_NONE(lgt_array_new(rt, LGT_INT16, 7, shape), LGT_BAD_SHAPE, "");
  EXPECT_NONE(lgt_array_new(rt, LGT_INT16, 1, &negative), LGT_BAD_SHAPE, "");
  EXPECT_NONE(lgt_array_broadcast(rt, x, 2, bad), LGT_BAD_SHAPE, "");
  EXPECT_NONE(lgt_array_reshape(rt, x, 2, bad), LGT_BAD_SHAPE, "");
  EXPECT_NONE(lgt_array_slice(rt, x, 0, 2, 3, 1), LGT_OUT_OF_BOUNDS, "");
  EXPECT_NONE(lgt_array_project(rt, x, 2, 0), LGT_OUT_OF_BOUNDS, "");
  EXPECT_NONE(lgt_array_attach(rt, LGT_INT16, 2, shape, (lgt_memory_kind)9, NULL, NULL, NULL), LGT_BAD_ARGUMENT, "memory");
  EXPECT_NONE(lgt_array_attach(rt, LGT_INT16, 2, shape, LGT_MEMORY_HOST, NULL, NULL, NULL), LGT_BAD_ARGUMENT, "NULL");
  EXPECT_STATUS(lgt_array_detach(rt, x), LGT_BAD_ARGUMENT, "attached");
  EXPECT_STATUS(lgt_array_write(rt, x, -1, 0), LGT_IO, "");
  lgt_array_free(rt, x), lgt_array_free(rt, view);
}

static lgt_status wait_for_it(void *context, const lgt_work *part) {
  while (!__atomic_load_n((int *)context, __ATOMIC_ACQUIRE)) continue;
  memset(part->tiles[0].data, 0, (size_t)part->tiles[0].extent[0] * sizeof(double));
  return LGT_OK;
}

/* A wait that is interrupted can be begun again. */
static void interrupts(lgt_runtime *rt) {
  static int go;
  double out[3] = {1, 2, 3};
  int64_t count = 3;
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &count);
  lgt_kind_id kind = lgt_kind_new(rt, "wait for it", "w", "");
  EXPECT(x && kind && !lgt_kind_variant(rt, kind, LGT_VARIANT_CPU, wait_for_it, &go));
  lgt_launch launch = launch_of(kind, 1, x, 0);
  EXPECT(!lgt_submit(rt, &launch));
  lgt_interrupt(rt, 1);
  EXPECT_STATUS(lgt_array_copy_out(rt, x, out), LGT_INTERRUPTED, "");
  EXPECT(out[2] == 3);
  __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
  lgt_interrupt(rt, 0);
  EXPECT(!lgt_array_copy_out(rt, x, out) && out[2] == 0);
  lgt_array_free(rt, x);
}

/* More than the option `mem` allows; what is freed can be had again. */
static void memory(lgt_runtime *rt) {
  enum { LARGE = 4 << 20 }; /* elements, of 32 MiB: two such arrays are beyond the limit */
  int64_t count = LARGE;
  double *zeros = (double *)calloc(LARGE, sizeof *zeros);
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &count), y = lgt_array_new(rt, LGT_FLOAT64, 1, &count);
  EXPECT(zeros && x && y && !lgt_array_copy_in(rt, x, zeros));
  EXPECT_STATUS(lgt_array_copy_in(rt, y, zeros), LGT_NO_MEMORY, "");
  lgt_array_free(rt, x);
  EXPECT(!lgt_array_copy_in(rt, y, zeros));
  lgt_array_free(rt, y);
  free(zeros);
}

static void look_inside(lgt_runtime *rt) {
  const char *name = NULL, *text = NULL;
  double in[2] = {1, 2};
  int64_t count = 2, launches = 0;
  for (int n = 0; lgt_stat(rt, n, &name), name; n++)
    if (!strcmp(name, "launches")) launches = lgt_stat(rt, n, &name);
  EXPECT(launches > 0);
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &count);
  EXPECT(!lgt_array_copy_in(rt, x, in) && !lgt_explain(rt, x, &text) && strstr(text, "float64"));
  EXPECT(lgt_domains(rt) >= 1 && lgt_workers(rt) >= 1 && lgt_rank(rt) == 0 && lgt_size(rt) == 1);
  lgt_array_free(rt, x);
}

/* The same two launches in each turn, and one more in the last. */
static void named_traces(lgt_runtime *rt) {
  static double in[N], out[N];
  static scaling s = {0, -1, 0};
  int64_t count = N;
  const char *why = NULL;
  for (int i = 0; i < N; i++) in[i] = i;
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &count), y = lgt_array_new(rt, LGT_FLOAT64, 1, &count);
  lgt_kind_id kind = lgt_kind_new(rt, "repeat", "wr", "align(0.0,1.0)");
  EXPECT(x && y && kind && !lgt_kind_variant(rt, kind, LGT_VARIANT_CPU, scale, &s));
  lgt_launch there = launch_of(kind, 2, y, x), back = launch_of(kind, 2, x, y);
  there.nparams = back.nparams = 1;
  back.param[0].f = 1;
  for (int turn = 1; turn <= 4; turn++) {
    EXPECT(!lgt_array_copy_in(rt, x, in) && !lgt_trace_begin(rt, "turn"));
    there.param[0].f = turn;
    EXPECT(!lgt_submit(rt, &there) && !lgt_submit(rt, &back) && (turn < 4 || !lgt_submit(rt, &there)));
    EXPECT(!lgt_trace_end(rt, &why));
    const char *differs = "had 2 launches before, the last of them repeat, and now goes on with repeat";
    EXPECT(turn == 4 ? why && strstr(why, differs) : !why);
    EXPECT(!lgt_array_copy_out(rt, turn == 4 ? y : x, out) && out[3] == (turn == 4 ? 48 : 3 * turn));
  }
  EXPECT(!lgt_trace_begin(rt, "turn") && !lgt_trace_end(rt, NULL));
  lgt_array_free(rt, x), lgt_array_free(rt, y);
}

static void options(lgt_config *config) {
  EXPECT_STATUS(lgt_config_set(config, "cpus", "many"), LGT_BAD_ARGUMENT, "many");
  EXPECT_STATUS(lgt_config_set(config, "no_such_option", "1"), LGT_BAD_ARGUMENT, "no_such_option");
  EXPECT(strstr(lgt_config_help(), "cpus") != NULL);
  EXPECT(!lgt_config_set(config, "cpus", "2") && !lgt_config_set(config, "mem", "48M"));
}

static void versions(void) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", LGT_VERSION_MAJOR, LGT_VERSION_MINOR, LGT_VERSION_PATCH);
  EXPECT(!strcmp(text, lgt_version()) && lgt_version_number() == LGT_VERSION_NUMBER);
  EXPECT(!strcmp(lgt_status_name(LGT_NO_MEMORY), "out of memory"));
  EXPECT(!strcmp(lgt_status_name(12345), "unknown status"));
}

int main(void) {
  lgt_config *config;
  lgt_runtime *rt;
  versions();
  if (lgt_config_new(&config)) return puts(lgt_message()), 1;
  options(config);
  if (lgt_open(config, &rt)) return puts(lgt_message()), 1;
  lgt_config_free(config);
  EXPECT_STATUS(lgt_option(rt, "cpus", "3"), LGT_BAD_ARGUMENT, "cpus");
  work_on_own_memory(rt);
  outlive_a_failing_task(rt);
  generate(rt);
  shapes(rt);
  interrupts(rt);
  memory(rt);
  look_inside(rt);
  named_traces(rt);
  lgt_close(rt);
  EXPECT(released == 2);
  return failed;
}
