/* small.c - see small.h. */
#include "move/small.h"

#include "base/random.h"

/* Bytes: up to which small messages may be on their way. */
enum { MOST_EAGER = 16 << 20 };

size_t lgt_small_size(int n) { return (sizeof(lgt_small) + (size_t)n * sizeof(lgt_copy) + 7) / 8 * 8; }

void lgt_small_make(lgt_small *small, int peer, bool sends, const lgt_piece *piece, int n, int elem) {
  int64_t at = 0;
  for (int i = 0; i < n; i++) {
    const lgt_piece *p = &piece[i];
    small->copy[i] =
        (lgt_copy){NULL, NULL, p->rect, sends ? -1 : at, sends ? at : -1, p->runs, p->along, NULL};
    at += lgt_elements(&p->rect, p->runs, p->along);
  }
  *small = (lgt_small){.peer = peer, .n = n, .bytes = (size_t)(at * elem), .sends = sends};
}

/* The submitting thread packs or unpacks it by itself.  What is unpacked goes to one instance. */
bool lgt_small_may_go(lgt_binder *binder, const lgt_small *small, lgt_instance *const *inst) {
  bool may = small->bytes <= LGT_SMALL_MOST && !lgt_random_choice(&binder->jitter);
  if (small->sends) may &= binder->eager_bytes < MOST_EAGER;
  for (int i = 0; i < small->n && may; i++)
    may = inst[i] && lgt_instance_on_host(inst[i]) && (small->sends || inst[i] == inst[0]);
  return may;
}

/* ---- on their way --------------------------------------------------------------------------------------- */

lgt_eager *lgt_eager_new(lgt_binder *binder, size_t bytes) {
  lgt_eager *eager = lgt_blocks_take(&binder->blocks, sizeof *eager + bytes);
  if (eager) eager->bytes = bytes;
  else binder->peers->abort(binder->peers, "out of memory for a message");
  return eager;
}

void lgt_eager_send(lgt_binder *binder, lgt_eager *eager, int peer, uint64_t tag, bool good) {
  lgt_peers *peers = binder->peers;
  eager->pending = peers->send(peers, peer, tag, eager->data, good ? eager->bytes : 0);
  if (!eager->pending) peers->abort(peers, lgt_message());
  eager->next = binder->eager;
  binder->eager = eager;
  binder->eager_bytes += (int64_t)eager->bytes;
}

bool lgt_eager_finish(lgt_binder *binder) {
  bool some = false, intact;
  for (lgt_eager **link = &binder->eager, *eager; (eager = *link);) {
    if (!binder->peers->done(binder->peers, eager->pending, &intact)) {
      link = &eager->next;
      continue;
    }
    *link = eager->next;
    binder->eager_bytes -= (int64_t)eager->bytes;
    lgt_blocks_give(&binder->blocks, eager, sizeof *eager + eager->bytes);
    some = true;
  }
  return some;
}

/* Has all come about that will be there before something else writes it? */
static bool is_settled(const lgt_instance *inst) {
  lgt_task *writer = inst->writer;
  bool done = !writer || (lgt_task_done(writer) && !writer->status && !writer->poison);
  return done && !inst->failure && (!inst->former || inst->behind);
}

bool lgt_small_send_at_once(lgt_binder *binder, const lgt_small *small, lgt_instance *const *inst,
                            uint64_t tag) {
  bool may = small->sends && !binder->profile;
  for (int i = 0; i < small->n && may; i++) may = is_settled(inst[i]);
  lgt_eager *eager = may ? lgt_eager_new(binder, small->bytes) : NULL;
  if (!eager) return false;
  for (int i = 0; i < small->n && !binder->dry; i++) {
    lgt_copy copy = small->copy[i];
    copy.from = inst[i];
    copy.buffer = eager->data;
    lgt_copy_run(&copy);
  }
  lgt_eager_send(binder, eager, small->peer, tag, true);
  return true;
}
