/* file.c - arrays in files: every rank and worker moves what its tile has between memory and an open file.
 *
 * In the file the elements of a view lie in C order.  A task's tile is there a number of *lines* (along the last
 * dimension); lines that follow one another, in a *run*, go through a buffer together, so that narrow tiles do not cost
 * a system call for each line.  Long ones that are contiguous in memory go without it.
 *
 * A task's parameter is a pointer, this rank's own, so it is no part of the stream that ranks compare.  Hence a call
 * returns only when its tasks are done, whatever happens.  To be interruptible nevertheless it waits for the array first.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ops/builtin.h"
#include "move/poison.h"
#include "bind/rescue.h"
#include "runtime/handles.h"

enum { BUFFER = 1 << 18, DIRECT = 1 << 16 };

typedef struct open_file {
  int fd, ndim, size, word; /* word: bytes whose order is reversed; 0: none */
  int64_t offset, shape[LGT_MAX_DIM];
  _Atomic int64_t bytes;
} open_file;

/* A chunk of a tile on its way. */
typedef struct passage {
  open_file *t;
  lgt_walk walk;
  int64_t line, stride; /* elements of a line; bytes between them in memory */
  int64_t run, left;    /* lines of a run; of the current one, with the current line */
  char *buffer;         /* owned: the bytes [begin, end) of the file */
  int64_t begin, end;
} passage;

static lgt_status read_or_write(open_file *t, char *data, int64_t at, int64_t bytes, bool write) {
  atomic_fetch_add_explicit(&t->bytes, bytes, memory_order_relaxed);
  while (bytes > 0) {
    ssize_t n = write ? pwrite(t->fd, data, (size_t)bytes, at) : pread(t->fd, data, (size_t)bytes, at);
    if (n == 0) return lgt_err(LGT_IO, "the file ends too early");
    if (n < 0 && errno != EINTR) return lgt_err(LGT_IO, "%s", strerror(errno));
    if (n > 0) data += n, at += n, bytes -= n;
  }
  return LGT_OK;
}

/* Rows [lo, hi) of the tile; false: there are none. */
static bool begin(passage *p, const lgt_tile *tile, const lgt_scalar *params, int64_t lo, int64_t hi) {
  int last = tile->ndim - 1;
  *p = (passage){.t = (open_file *)(intptr_t)params[0].i, .run = 1, .stride = tile->stride[last]};
  p->line = last ? tile->extent[last] : hi - lo;
  for (int d = last; d > 0 && tile->extent[d] == p->t->shape[d]; d--)
    p->run *= d > 1 ? tile->extent[d - 1] : hi - lo;
  p->left = p->run;
  return lgt_walk_begin(&p->walk, tile, 1, last, lo, hi) && p->line > 0;
}

static bool next(passage *p, int64_t lo, int64_t hi) {
  if (--p->left == 0) p->left = p->run;
  return lgt_walk_next(&p->walk, lo, hi);
}

/* Where the current line lies in the file. */
static int64_t place(const passage *p) {
  int64_t at = 0;
  for (int d = 0; d < p->t->ndim; d++) at = at * p->t->shape[d] + p->walk.tile->origin[d] + p->walk.index[d];
  return p->t->offset + at * p->t->size;
}

static bool is_direct(const passage *p) { return p->stride == p->t->size && p->line * p->t->size >= DIRECT; }

static lgt_status need_buffer(passage *p) {
  if (!p->buffer) p->buffer = lgt_mem_alloc(BUFFER);
  return p->buffer ? LGT_OK : lgt_err(LGT_NO_MEMORY, "out of memory for a buffer");
}

static lgt_status empty_buffer(passage *p) {
  lgt_status status =
      p->end > p->begin ? read_or_write(p->t, p->buffer, p->begin, p->end - p->begin, true) : LGT_OK;
  p->begin = p->end;
  return status;
}

static lgt_status write_line(passage *p) {
  int64_t size = p->t->size, at = place(p);
  lgt_status status = at == p->end ? LGT_OK : empty_buffer(p);
  if (is_direct(p)) {
    if (!status) status = empty_buffer(p);
    return status ? status : read_or_write(p->t, p->walk.at[0], at, p->line * size, true);
  }
  if (at != p->end) p->begin = p->end = at;
  if (!status) status = need_buffer(p);
  for (int64_t done = 0, n; done < p->line && !status; done += n) {
    n = (BUFFER - (p->end - p->begin)) / size;
    if (n > p->line - done) n = p->line - done;
    lgt_copy_line(p->buffer + (p->end - p->begin), size, p->walk.at[0] + done * p->stride, p->stride, n,
                  size);
    p->end += n * size;
    if (p->end - p->begin > BUFFER - size) status = empty_buffer(p);
  }
  return status;
}

/* The file's bytes from `at` on, as many as are wanted of this run and there is room for. */
static lgt_status fill_buffer(passage *p, int64_t at, int64_t wanted) {
  lgt_status status = need_buffer(p);
  int64_t bytes = wanted < BUFFER ? wanted : BUFFER;
  if (!status) status = read_or_write(p->t, p->buffer, at, bytes, false);
  p->begin = p->end = at;
  if (!status) p->end += bytes;
  return status;
}

static void reverse_line(const passage *p) {
  int word = p->t->word;
  for (int64_t i = 0; word && i < p->line; i++)
    for (char *e = p->walk.at[0] + i * p->stride, *end = e + p->t->size; e < end; e += word)
      for (int k = 0; k < word / 2; k++) {
        char byte = e[k];
        e[k] = e[word - 1 - k];
        e[word - 1 - k] = byte;
      }
}

static lgt_status read_line(passage *p) {
  int64_t size = p->t->size, bytes = p->line * size, at = place(p);
  lgt_status status = LGT_OK;
  if (is_direct(p)) status = read_or_write(p->t, p->walk.at[0], at, bytes, false);
  for (int64_t done = 0, n; done < bytes && !is_direct(p) && !status; done += n) {
    if (at + done < p->begin || at + done >= p->end)
      status = fill_buffer(p, at + done, p->left * bytes - done);
    n = p->end - (at + done) < bytes - done ? p->end - (at + done) : bytes - done;
    if (!status)
      lgt_copy_line(p->walk.at[0] + done / size * p->stride, p->stride, p->buffer + (at + done - p->begin),
                    size, n / size, size);
  }
  if (!status) reverse_line(p);
  return status;
}

static lgt_status each_line(const lgt_tile *tiles, const lgt_scalar *params, int64_t lo, int64_t hi,
                            lgt_status (*line)(passage *), lgt_status (*end)(passage *)) {
  passage p;
  lgt_status status = LGT_OK;
  if (!begin(&p, tiles, params, lo, hi)) return LGT_OK;
  do status = line(&p);
  while (!status && next(&p, lo, hi));
  if (!status && end) status = end(&p);
  lgt_mem_free(p.buffer);
  return status;
}

static lgt_status read_rows(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  (void)nargs;
  return each_line(tiles, params, lo, hi, read_line, NULL);
}

static lgt_status write_rows(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  (void)nargs;
  return each_line(tiles, params, lo, hi, write_line, empty_buffer);
}

/* ---- on the submitting thread --------------------------------------------------------------------------- */

/* The kind for views of so many dimensions, any of which may be cut; -1 on error. */
static int kind_for(lgt_runtime *rt, int ndim, bool write) {
  int *known = &rt->file_kind[write][ndim];
  char constraints[16 * LGT_MAX_DIM] = "";
  if (*known) return *known;
  for (int d = 0; d < ndim; d++)
    snprintf(constraints + strlen(constraints), sizeof constraints - strlen(constraints), "align(0.%d) ", d);
  int kind = lgt_kinds_add_own(&rt->kinds, write ? "write to a file" : "read from a file", write ? "r" : "w",
                               constraints, write ? write_rows : read_rows, false);
  if (kind < 0) return -1;
  return *known = kind;
}

/* Everything launched so far is done, and the array has not failed. */
static lgt_status wait_here(lgt_runtime *rt, lgt_store *store, int64_t *position) {
  lgt_status status = lgt_runtime_settle(rt);
  *position = rt->binder.agreed.position;
  if (!status) status = lgt_rescue_store(&rt->binder, store);
  if (!status) status = lgt_job_look_all(&rt->binder);
  const lgt_failure *failure = lgt_poison_of(&rt->binder, store);
  if (status || !failure) return status;
  *position = failure->position;
  return lgt_poison_report(&rt->binder, failure);
}

static lgt_status wait_for(lgt_runtime *rt, lgt_store *store, const lgt_layout *layout) {
  int64_t position;
  lgt_rect view = lgt_rect_of_shape(layout->ndim, layout->shape), rect = lgt_layout_root_rect(layout, &view);
  lgt_runtime_note(rt, LGT_NOTE_FILE, store, &rect);
  lgt_status status = wait_here(rt, store, &position);
  return lgt_agree(&rt->binder, status, position);
}

/* What went wrong in the tasks of this launch, and only of it. */
static lgt_status carry_out_here(lgt_runtime *rt, const lgt_launch *launch, int64_t *position) {
  lgt_binder *binder = &rt->binder;
  lgt_failure *before = binder->unreported;
  binder->unreported = NULL;
  lgt_status status = lgt_submit(rt, launch);
  if (!status) status = lgt_runtime_settle(rt);
  lgt_job_retire(binder, true);
  *position = binder->agreed.position;
  if (binder->unreported) {
    *position = binder->unreported->position;
    if (!status) status = lgt_err(binder->unreported->status, "%s", binder->unreported->message);
    lgt_poison_reported(binder);
  }
  binder->unreported = before;
  return status;
}

/* The message of a task without its name, and with the rank. */
static void say_who(const lgt_runtime *rt, lgt_status status, const lgt_kind *kind) {
  char text[512], name[128];
  snprintf(name, sizeof name, "task '%s': ", kind->name);
  size_t length = strlen(name);
  snprintf(text, sizeof text, "%s", lgt_message() + (strncmp(lgt_message(), name, length) ? 0 : length));
  if (rt->binder.peers) lgt_err(status, "%s (on rank %d)", text, rt->binder.peers->rank);
  else lgt_err(status, "%s", text);
}

lgt_status lgt_carry_out(lgt_runtime *rt, const lgt_launch *launch) {
  lgt_kind *kind = lgt_kinds_find(&rt->kinds, launch->kind);
  if (!kind) return LGT_BAD_ARGUMENT;
  int64_t position;
  kind->own_params = true;
  lgt_status status = carry_out_here(rt, launch, &position);
  if (status) say_who(rt, status, kind);
  return lgt_agree(&rt->binder, status, position);
}

static lgt_status run(lgt_runtime *rt, lgt_id array, const lgt_layout *layout, open_file *t, bool write) {
  int kind = kind_for(rt, layout->ndim, write);
  if (kind < 0) return LGT_NO_MEMORY;
  lgt_launch launch = {.kind = (uint16_t)kind, .nargs = 1, .nparams = 1, .arg = {array}};
  launch.param[0].i = (intptr_t)t;
  t->ndim = layout->ndim;
  memcpy(t->shape, layout->shape, sizeof t->shape);
  return lgt_carry_out(rt, &launch);
}

static lgt_status carry(lgt_runtime *rt, lgt_id array, open_file *t, bool write) {
  lgt_store *store;
  lgt_status status = lgt_handle_store(rt, array, &store);
  if (status) return status;
  uint32_t number = rt->stores.handle[array].layout;
  const lgt_layout *layout = lgt_layout_at(&rt->stores, number);
  status = wait_for(rt, store, layout);
  if (status || layout->size == 0) return status;
  t->size = lgt_dtype_size(layout->dtype);
  if (t->word) t->word = lgt_dtype_is_pair(layout->dtype) ? t->size / 2 : t->size;
  if (layout->ndim) return run(rt, array, layout, t, write);
  uint32_t line = lgt_layout_promote(rt, number, 0, 1); /* tasks have a dimension to be cut along */
  lgt_id alias = line ? lgt_layout_view(rt, array, line) : 0;
  if (!alias) return LGT_NO_MEMORY;
  status = run(rt, alias, lgt_layout_at(&rt->stores, line), t, write);
  lgt_array_free(rt, alias);
  return status;
}

lgt_status lgt_array_write(lgt_runtime *rt, lgt_id array, int fd, int64_t offset) {
  open_file t = {.fd = fd, .offset = offset};
  lgt_status status = carry(rt, array, &t, true);
  rt->file_written += t.bytes;
  return status;
}

lgt_status lgt_array_read(lgt_runtime *rt, lgt_id array, int fd, int64_t offset, int reversed) {
  open_file t = {.fd = fd, .offset = offset, .word = reversed != 0};
  lgt_status status = carry(rt, array, &t, false);
  rt->file_read += t.bytes;
  return status;
}
