/* test_moves.c - which elements move between domains and ranks before they may be read. */
#include "move/moves.h"

#include "fusion.h"
#include "memory/coherence.h"

enum { DOMAINS = 4, TILE = N / DOMAINS };

/* A vector of which each domain wrote a tile, as one of so many ranks knows it. */
static lgt_store *open_ranks(const char *ranks, const char *rank, const char *domains) {
  if (open_with(&rt, "cpus", "1", "min_tile", "1", "domains", domains, "pretend_ranks", ranks, "as_rank",
                rank, NULL))
    return NULL;
  lgt_id x = vector(N);
  if (launch(rt, kind_of(rt, LGT_FLOAT64, "c3 =0"), 1, x) || lgt_fence(rt)) return NULL;
  lgt_store *store = store_of(x);
  return store->key && store->key->ncolour == DOMAINS ? store : NULL;
}

/* What the domains touch that go over the same tiles and see `below` and `above` more. */
static const lgt_footprint *halo(const lgt_store *store, int below, int above) {
  lgt_alignment align = {.below = {below}, .above = {above}};
  return lgt_footprint_of(&rt->map.footprints, store->layout, &align, store->key, false);
}

static bool list(const lgt_history *history, const lgt_footprint *what) {
  rt->binder.nmove = rt->binder.pieces.count = 0;
  return lgt_moves_list(&rt->binder, history, what);
}

/* The elements that move to a domain, from or to a rank (-1: this one); -1: not all come from their owners. */
static int moved_to(int domain, int peer, bool sends, int64_t *lo, int64_t *hi) {
  int n = 0;
  for (int i = 0; i < rt->binder.nmove; i++) {
    const lgt_move *m = &rt->binder.move[i];
    if (m->to != domain || m->sends != sends || m->peer != peer) continue;
    for (int k = m->first; k < m->first + m->count; k++, n++) {
      const lgt_piece *p = &rt->binder.pieces.piece[k];
      if (p->rect.lo[0] < p->from * TILE || p->rect.hi[0] > (p->from + 1) * TILE) return -1;
      lo[n] = p->rect.lo[0], hi[n] = p->rect.hi[0];
    }
  }
  return n;
}

TEST(a_halo_comes_from_the_neighbours) {
  int64_t lo[8], hi[8];
  lgt_store *x = open_ranks("0", "0", "4");
  CHECK(x && list(x->history, halo(x, 2, 1)));
  CHECK_EQ(rt->binder.nmove, DOMAINS);
  for (int d = 0; d < DOMAINS; d++) {
    int n = moved_to(d, -1, false, lo, hi);
    CHECK_EQ(n, (d > 0) + (d < DOMAINS - 1));
    if (d > 0) CHECK(lo[0] == d * TILE - 2 && hi[0] == d * TILE);
    if (d < DOMAINS - 1) CHECK(lo[n - 1] == (d + 1) * TILE && hi[n - 1] == (d + 1) * TILE + 1);
  }
  lgt_close(rt);
}

TEST(what_is_there_does_not_move) {
  int64_t lo[8], hi[8];
  lgt_store *x = open_ranks("0", "0", "4");
  CHECK(x && list(x->history, halo(x, 0, 0)));
  CHECK_EQ(rt->binder.nmove, 0);
  CHECK(lgt_history_read(&rt->map.histories, &x->history, halo(x, 3, 0)));
  CHECK(list(x->history, halo(x, 2, 2)));
  for (int d = 0; d < DOMAINS; d++) {
    CHECK_EQ(moved_to(d, -1, false, lo, hi), d < DOMAINS - 1);
    if (d < DOMAINS - 1) CHECK(lo[0] == (d + 1) * TILE && hi[0] == (d + 1) * TILE + 2);
  }
  CHECK(lgt_history_written(&rt->map.histories, &x->history, halo(x, 0, 0))); /* now halos are old */
  CHECK(list(x->history, halo(x, 3, 0)));
  CHECK_EQ(rt->binder.nmove, DOMAINS - 1);
  lgt_close(rt);
}

/* Two colours of each domain need all of the vector. */
TEST(what_several_colours_of_a_domain_need_comes_once) {
  int64_t extent[1] = {2 * DOMAINS}, sum[DOMAINS] = {0};
  lgt_store *x = open_ranks("0", "0", "4");
  lgt_alignment align = {.to = {-1, -1, -1, -1, -1, -1}};
  const lgt_partition *launch =
      lgt_partition_natural(rt->binder.fuser->solver.partitions, 1, extent, 0, 2 * DOMAINS, 1);
  CHECK(x && launch && launch->ncolour == 2 * DOMAINS);
  CHECK(list(x->history, lgt_footprint_of(&rt->map.footprints, x->layout, &align, launch, false)));
  for (int i = 0; i < rt->binder.nmove; i++) {
    const lgt_move *m = &rt->binder.move[i];
    for (int k = m->first; k < m->first + m->count; k++)
      sum[m->to] += lgt_rect_size(&rt->binder.pieces.piece[k].rect);
  }
  for (int d = 0; d < DOMAINS; d++) CHECK_EQ(sum[d], N - TILE);
  lgt_close(rt);
}

/* Each side of a message finds it by itself. */
TEST(both_ranks_list_the_same_messages) {
  int64_t lo[2][8], hi[2][8], own[8], end[8];
  for (int r = 0; r < 2; r++) {
    lgt_store *x = open_ranks("2", r ? "1" : "0", "2");
    CHECK(x && list(x->history, halo(x, 2, 1)));
    /* What rank 0 sends to domain 2, and domain 2 receives; then what goes the other way. */
    CHECK_EQ(moved_to(2, 1 - r, r == 0, lo[r], hi[r]), 1);
    CHECK_EQ(moved_to(1, 1 - r, r == 1, lo[r] + 1, hi[r] + 1), 1);
    CHECK_EQ(moved_to(2 * r, -1, false, own, end), 1); /* of its own other domain */
    CHECK_EQ(rt->binder.nmove, 4);
    lgt_close(rt);
  }
  CHECK(lo[0][0] == 2 * TILE - 2 && hi[0][0] == 2 * TILE && lo[1][0] == lo[0][0] && hi[1][0] == hi[0][0]);
  CHECK(lo[0][1] == 2 * TILE && hi[0][1] == 2 * TILE + 1 && lo[1][1] == lo[0][1] && hi[1][1] == hi[0][1]);
}

TEST(what_every_rank_needs_moves_once) {
  lgt_store *x = open_ranks("2", "0", "2");
  lgt_rect all = {.ndim = 1, .hi = {N}};
  CHECK(x && list(x->history, lgt_footprint_everywhere(&rt->map.footprints, &all)));
  CHECK_EQ(rt->binder.nmove, 1);
  const lgt_move *m = rt->binder.move;
  CHECK(m->to == LGT_NOBODY && m->peer == -1 && m->count == DOMAINS);
  lgt_close(rt);
}

TEST(answers_are_kept_until_they_are_forgotten) {
  lgt_store *x = open_ranks("0", "0", "4");
  const lgt_footprint *what = x ? halo(x, 1, 1) : NULL;
  CHECK(x && list(x->history, what) &&
        lgt_moves_list(&rt->binder, x->history, what)); /* there is room for that */
  lgt_moves_forget(&rt->binder);
  CHECK(list(x->history, halo(x, 0, 2)));
  int64_t before = lgt_mem_live();
  int move = rt->binder.nmove, piece = rt->binder.pieces.count;
  CHECK(move > 0 && lgt_moves_list(&rt->binder, x->history, what)); /* behind the others */
  int64_t kept = lgt_mem_live();
  CHECK(kept > before);
  int nmove = rt->binder.nmove - move, npiece = rt->binder.pieces.count - piece;
  CHECK(list(x->history, what) && lgt_mem_live() == kept);
  CHECK(rt->binder.nmove == nmove && rt->binder.pieces.count == npiece && rt->binder.move[0].first == 0);
  lgt_moves_forget(&rt->binder);
  CHECK(lgt_mem_live() < before);
  CHECK(list(x->history, what) && rt->binder.nmove == nmove && rt->binder.pieces.count == npiece);
  lgt_close(rt);
}

/* Two neighbours, to each of whom a message goes and from each of whom one comes; of one instance each. */
TEST(messages_of_one_instance_are_one_task) {
  lgt_store *x = open_ranks("4", "1", "1");
  CHECK(x && !lgt_flush(rt));
  lgt_id y = vector(N), from = 0;
  for (uint32_t id = 1; id <= rt->stores.max_handle && !from; id++)
    if (lgt_front_of(rt)->handles[id].store == x->id) from = (lgt_id)id;
  int add = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), set = kind_of(rt, LGT_FLOAT64, "a1 =0");
  lgt_id inner = slice_of(rt, y, 0, 1, N - 2, 1), below = slice_of(rt, from, 0, 0, N - 2, 1),
         above = slice_of(rt, from, 0, 2, N - 2, 1);
  for (int i = 0; i < 3; i++) {
    CHECK(!launch(rt, set, 2, y, from) && !launch(rt, set, 2, from, y) && !lgt_fence(rt));
    int64_t jobs = rt->binder.jobs, messages = rt->binder.messages;
    CHECK(!launch(rt, add, 3, inner, below, above) && !lgt_flush(rt));
    CHECK_EQ(rt->binder.messages - messages, 2);
    /* One receives, one adds; the first time x grows.  What is sent has come about: that needs none. */
    CHECK_EQ(rt->binder.jobs - jobs, 2 + (i == 0));
    CHECK(!rt->binder.joinable);
  }
  lgt_close(rt);
}

int main(void) {
  RUN(a_halo_comes_from_the_neighbours);
  RUN(what_is_there_does_not_move);
  RUN(what_several_colours_of_a_domain_need_comes_once);
  RUN(both_ranks_list_the_same_messages);
  RUN(what_every_rank_needs_moves_once);
  RUN(answers_are_kept_until_they_are_forgotten);
  RUN(messages_of_one_instance_are_one_task);
  return check_done();
}
