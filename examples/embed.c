/* embed.c - lgt inside of a C program: runtimes, memory of the program as arrays, scripts, tasks, errors.
 *
 *   cc embed.c $(pkg-config --cflags --libs lgt) -o embed && ./embed
 */
#include <lauxlib.h>
#include <lgt.h>
#include <lua_lgt.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(lgt_status status) {
  if (!status) return;
  fprintf(stderr, "embed: %s\n", lgt_message());
  exit(1);
}

static void released(void *context) { printf("  lgt no longer uses the %s\n", (const char *)context); }

/* Memory of this program as an array, which a script knows as `data`.  Returns a handle of our own. */
static lgt_id share(lgt_runtime *rt, lua_State *L, double *data, int64_t count) {
  uint32_t layout = lgt_layout_dense(rt, LGT_FLOAT64, 1, &count);
  lgt_id array = lgt_array_attach(rt, layout, data, released, "readings");
  lgt_id alias = lgt_array_alias(rt, array, layout);
  if (!alias) check(-1);
  check(lgt_lua_push(L, alias));
  lua_setglobal(L, "data");
  return array;
}

/* A task of our own, launched without Lua: y = x * x. */
static void square(lgt_runtime *rt, lgt_id x, lgt_id y) {
  lgt_body *body = lgt_body_new();
  int value = lgt_body_load(body, LGT_FLOAT64, 0);
  lgt_body_store(body, 1, lgt_body_op(body, lgt_opcode("mul"), LGT_FLOAT64, value, value, -1));
  int kind = lgt_kind_generator(rt, "square", body);
  if (kind < 0) check(kind);
  lgt_launch launch = {.kind = (uint16_t)kind, .nargs = 2, .arg = {x, y}};
  check(lgt_submit(rt, &launch));
}

/* The state L uses rt. */
static void work(lgt_runtime *rt, lua_State *L) {
  double readings[] = {1, 2, 3, 4}, squares[4];
  int64_t count = 4;
  lgt_scalar mean;
  lgt_id array = share(rt, L, readings, count);

  check(lgt_lua_run_text(L,
                         "local np = require 'array'\n"
                         "data:imul(10)          -- in the program's memory\n"
                         "mean = np.mean(data)\n",
                         "script"));
  lua_getglobal(L, "mean");
  check(lgt_array_item(rt, lgt_lua_array(L, -1), &mean));
  printf("  mean of ten times the readings: %g\n", mean.f);
  lua_pop(L, 1);

  lgt_id result = lgt_array_new(rt, lgt_layout_dense(rt, LGT_FLOAT64, 1, &count));
  square(rt, array, result);
  check(lgt_array_copy_out(rt, result, squares));
  printf("  their squares: %g %g %g %g\n", squares[0], squares[1], squares[2], squares[3]);

  if (lgt_lua_run_text(L, "local station = nil\nprint(station.name)\n", "script"))
    printf("  a mistake is reported: %.*s\n", (int)strcspn(lgt_message(), "\n"), lgt_message());

  check(lgt_array_detach(rt, array)); /* from here on the memory is ours alone */
  printf("  the program sees %g %g %g %g\n", readings[0], readings[1], readings[2], readings[3]);
}

int main(void) {
  lgt_config *config = lgt_config_new();
  if (!config) check(-1);
  check(lgt_config_set(config, "cpus", "2"));

  puts("a lua_State made by lgt");
  lgt_runtime *rt;
  check(lgt_open(config, &rt));
  lua_State *L = lgt_lua_new(rt);
  if (!L) check(-1);
  work(rt, L);
  lua_close(L);
  lgt_close(rt);

  puts("a lua_State of the program's own");
  check(lgt_open(config, &rt));
  L = luaL_newstate();
  luaL_openlibs(L);
  check(lgt_lua_attach(L, rt));
  work(rt, L);
  lua_close(L);
  lgt_close(rt);

  puts("a runtime that opens when a script asks for it");
  L = luaL_newstate();
  luaL_openlibs(L);
  check(lgt_lua_open(L, config));
  check(lgt_lua_run_text(L, "print('  ' .. tostring(require('array').arange(5) ^ 2))", "script"));
  check(lgt_lua_finish(L));
  lua_close(L);
  lgt_config_free(config);
  return 0;
}
