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

static void check_made(uint32_t id) {
  if (!id) check(LGT_TASK_FAILED); /* the message is there */
}

static void released(void *context) { printf("  lgt no longer uses the %s\n", (const char *)context); }

/* Memory of this program as an array, which a script knows as `data`.  Returns a handle of our own. */
static lgt_id share(lgt_runtime *rt, lua_State *L, double *data, int64_t count) {
  lgt_id array = lgt_array_attach(rt, LGT_FLOAT64, 1, &count, LGT_MEMORY_HOST, data, released, "readings");
  lgt_id alias = lgt_array_alias(rt, array);
  check_made(alias);
  check(lgt_lua_push(L, alias));
  lua_setglobal(L, "data");
  return array;
}

/* A task of our own, launched without Lua: y = x * x. */
static void square(lgt_runtime *rt, lgt_id x, lgt_id y) {
  lgt_body *body;
  check(lgt_body_new(&body));
  lgt_value value = lgt_body_load(body, LGT_FLOAT64, 0);
  lgt_body_store(body, 1, lgt_body_op(body, "mul", LGT_FLOAT64, value, value, 0));
  lgt_kind_id kind = lgt_kind_generator(rt, "square", body); /* reports what failed above, too */
  check_made(kind);
  lgt_launch launch = {.kind = kind, .nargs = 2, .arg = {x, y}};
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

  lgt_id result = lgt_array_new(rt, LGT_FLOAT64, 1, &count);
  square(rt, array, result);
  check(lgt_array_copy_out(rt, result, squares));
  printf("  their squares: %g %g %g %g\n", squares[0], squares[1], squares[2], squares[3]);

  if (lgt_lua_run_text(L, "local station = nil\nprint(station.name)\n", "script"))
    printf("  a mistake is reported: %.*s\n", (int)strcspn(lgt_message(), "\n"), lgt_message());

  check(lgt_array_detach(rt, array)); /* from here on the memory is ours alone */
  printf("  the program sees %g %g %g %g\n", readings[0], readings[1], readings[2], readings[3]);
}

int main(void) {
  lgt_config *config;
  check(lgt_config_new(&config));
  check(lgt_config_set(config, "cpus", "2"));

  puts("a lua_State made by lgt");
  lgt_runtime *rt;
  check(lgt_open(config, &rt));
  lua_State *L;
  check(lgt_lua_new(rt, &L));
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
