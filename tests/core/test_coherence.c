/* test_coherence.c - histories against a model that keeps an account for every element and domain.
 *
 * The model: which domains have the newest value of an element, which one wrote it last, and whether the first
 * domain of every rank has it for certain (`shared`).  What is read is fetched first, so afterwards those who read
 * have the newest value.
 */
#include "check.h"
#include "memory/coherence.h"
#include "footprints.h"

enum { EVERYBODY = -2, KINDS = 6 };

static lgt_footprints footprints;
static lgt_histories histories;

static struct {
  const lgt_layout *root;
  bool has[DOMAINS][MOST];
  bool shared[MOST];
  int writer[MOST]; /* LGT_NOBODY: never written; EVERYBODY: the first domain of every rank */
} model;

/* Who touches what, by counting. */
typedef struct event {
  const lgt_footprint *fp;
  bool touched[DOMAINS][MOST];
  bool box[MOST];
} event;

static void touch_rect(bool *touched, const lgt_rect *r) {
  for (int64_t e = 0; e < model.root->size; e++) touched[e] |= holds_element(model.root, r, e);
}

static bool random_event(event *ev, uint32_t root, bool written) {
  scene s;
  memset(ev, 0, sizeof *ev);
  random_scene(&s, root, written);
  s.target = false;
  if (s.launch->ncolour == 1) { /* every rank runs it */
    lgt_rect r = counted_rect(&s, 0);
    ev->fp = lgt_footprint_everywhere(&footprints, &r);
    for (int d = 0; d < footprints.domains; d += footprints.local) touch_rect(ev->touched[d], &r);
    touch_rect(ev->box, &r);
    return ev->fp;
  }
  ev->fp = lgt_footprint_of(&footprints, s.layout, &s.align, s.launch, false);
  for (int c = 0; c < s.launch->ncolour; c++) {
    lgt_rect r = counted_rect(&s, c);
    int d = lgt_partition_domain(s.launch, footprints.domains, c);
    touch_rect(ev->touched[d], &r);
    touch_rect(ev->box, &r);
  }
  return ev->fp;
}

static void begin(uint32_t root) {
  memset(&model, 0, sizeof model);
  model.root = layout_at(root);
  for (int64_t e = 0; e < model.root->size; e++) model.writer[e] = LGT_NOBODY;
}

static void model_written(const event *ev) {
  for (int64_t e = 0; e < model.root->size; e++) {
    int writer = LGT_NOBODY;
    for (int d = 0; d < footprints.domains; d++)
      if (ev->touched[d][e]) writer = d;
    if (writer == LGT_NOBODY) continue;
    for (int d = 0; d < footprints.domains; d++) model.has[d][e] = ev->touched[d][e];
    model.shared[e] = !ev->fp->launch;
    model.writer[e] = ev->fp->launch ? writer : EVERYBODY;
  }
}

static void model_read(const event *ev) {
  for (int64_t e = 0; e < model.root->size; e++) {
    for (int d = 0; d < footprints.domains; d++) model.has[d][e] |= ev->touched[d][e];
    if (!ev->fp->launch) model.shared[e] |= ev->touched[0][e];
  }
}

static void model_forget(void) {
  for (int64_t e = 0; e < model.root->size; e++) {
    int writer = model.writer[e];
    model.shared[e] = writer == EVERYBODY;
    for (int d = 0; d < footprints.domains; d++)
      model.has[d][e] = writer == d || (writer == EVERYBODY && d % footprints.local == 0);
  }
}

static bool lacks(int domain, int64_t e) {
  if (model.writer[e] == LGT_NOBODY) return false;
  return domain == LGT_NOBODY ? !model.shared[e] : !model.has[domain][e];
}

/* Does a domain that the history names have it by then? */
static bool has_by_then(const event *reading, int domain, int from, int64_t e) {
  if (domain == LGT_NOBODY) return model.writer[e] == from;
  bool sibling = from / footprints.local == domain / footprints.local;
  if (sibling && reading && from < domain && reading->touched[from][e]) return true;
  return sibling ? model.has[from][e]
                 : model.writer[e] == from || (model.writer[e] == EVERYBODY && model.has[from][e]);
}

static bool sibling_has(const event *reading, int domain, int64_t e) {
  int first = domain / footprints.local * footprints.local;
  for (int d = first; d < first + footprints.local; d++)
    if (d != domain && (model.has[d][e] || (reading && d < domain && reading->touched[d][e]))) return true;
  return false;
}

/* NULL, or what is wrong with the answer for a place. */
static const char *wrong_answer(const lgt_history *history, const event *reading, int domain,
                                const lgt_rect *place) {
  static int times[MOST], from[MOST];
  lgt_pieces pieces = {0};
  const char *wrong = NULL;
  memset(times, 0, sizeof times);
  if (!lgt_history_lacks(history, &footprints, reading ? reading->fp : NULL, domain, place, &pieces))
    wrong = "no memory";
  for (int i = 0; i < pieces.count; i++) {
    if (lgt_rect_empty(&pieces.piece[i].rect)) wrong = "an empty piece";
    if (pieces.piece[i].from < 0 || pieces.piece[i].from >= footprints.domains) return "from nowhere";
    for (int64_t e = 0; e < model.root->size; e++)
      if (holds_element(model.root, &pieces.piece[i].rect, e)) times[e]++, from[e] = pieces.piece[i].from;
  }
  for (int64_t e = 0; e < model.root->size && !wrong; e++) {
    bool lacking = holds_element(model.root, place, e) && lacks(domain, e);
    if (times[e] > 1) wrong = "an element comes twice";
    else if (lacking && !times[e]) wrong = "an element that is lacking does not come";
    else if (!lacking && times[e]) wrong = "an element comes without need";
    else if (lacking && !has_by_then(reading, domain, from[e], e))
      wrong = "an element comes from one who has it not";
    else if (lacking && domain != LGT_NOBODY && sibling_has(reading, domain, e) &&
             from[e] / footprints.local != domain / footprints.local)
      wrong = "an element comes from far away";
  }
  lgt_mem_free(pieces.piece);
  return wrong;
}

/* All that is asked before a footprint is read. */
static const char *wrong_for_reading(const lgt_history *history, const event *ev) {
  const char *wrong = NULL;
  bool all = true;
  for (int d = 0; d < footprints.domains; d++)
    for (int64_t e = 0; e < model.root->size; e++) all &= !ev->touched[d][e] || !lacks(d, e);
  if (lgt_history_has(history, ev->fp) && !all) return "it is said that all have it";
  if (!ev->fp->launch) wrong = wrong_answer(history, ev, LGT_NOBODY, &ev->fp->whole);
  for (int d = 0; d < footprints.domains; d++) {
    lgt_rect rect;
    for (int i = -1; !wrong && (i = lgt_footprint_next(&footprints, ev->fp, d, i, &rect)) >= 0;)
      wrong = wrong_answer(history, ev, d, &rect);
  }
  return wrong;
}

static uint32_t random_story(void) {
  static const int ranks[] = {1, 2, 3, 4, 7};
  uint32_t root;
  footprints.local = 1 + random_below(3);
  footprints.domains = footprints.local * ranks[random_below(5)];
  do root = random_root();
  while (layout_at(root)->size > MOST);
  begin(root);
  return root;
}

/* ---- stories ---------------------------------------------------------------------------------------- */

TEST(histories_tell_who_lacks_what) {
  static event kinds[KINDS];
  int asked = 0;
  for (int story = 0; story < 700; story++) {
    const lgt_history *history = &histories.none;
    uint32_t root = random_story();
    bool written[KINDS];
    for (int k = 0; k < KINDS; k++) CHECK(random_event(&kinds[k], root, written[k] = k < KINDS / 2));
    for (int step = 0; step < 14; step++) {
      const event *ev = &kinds[random_below(KINDS)];
      bool write = written[ev - kinds] && random_below(2);
      if (random_below(12) == 0) {
        CHECK(lgt_history_forget_reads(&histories, &history));
        model_forget();
      }
      if (write) {
        CHECK(lgt_history_written(&histories, &history, ev->fp));
        model_written(ev);
        continue;
      }
      const char *wrong = wrong_for_reading(history, ev);
      if (wrong)
        FAIL("story %d, step %d, %d domains of which %d on each rank: %s", story, step, footprints.domains,
             footprints.local, wrong);
      CHECK(lgt_history_read(&histories, &history, ev->fp));
      model_read(ev);
      CHECK(lgt_history_has(history, ev->fp));
      asked++;
    }
    CHECK(history->count <=
          KINDS + KINDS / 2); /* a read and a write of what is written, a read of what is not */
  }
  CHECK(asked > 4000);
}

/* Any place may be asked about, whoever touches it. */
TEST(any_place_may_be_asked_about) {
  static event ev;
  for (int story = 0; story < 300; story++) {
    const lgt_history *history = &histories.none;
    uint32_t root = random_story();
    for (int step = 0; step < 8; step++) {
      bool write = random_below(2);
      CHECK(random_event(&ev, root, write));
      CHECK(write ? lgt_history_written(&histories, &history, ev.fp)
                  : lgt_history_read(&histories, &history, ev.fp));
      if (write) model_written(&ev);
      else model_read(&ev);
      lgt_rect place = lgt_rect_of_shape(model.root->ndim, model.root->shape);
      for (int d = 0; d < place.ndim; d++) place.lo[d] = random_below((int)place.hi[d]);
      const char *wrong = wrong_answer(history, NULL, random_below(footprints.domains), &place);
      if (wrong) FAIL("story %d, step %d: %s", story, step, wrong);
    }
  }
}

/* A stencil: after the first turn the list has its steady length, and what is lacking are the halos. */
TEST(a_stencil_lacks_its_halos) {
  int64_t shape[] = {16, 5}, tile[] = {4, 5}, offset[] = {0, 0};
  uint32_t root = lgt_stores_dense(&stores, LGT_FLOAT64, 2, shape);
  lgt_alignment align = {.to = {0, 1, -1, -1, -1, -1}},
                halo = {.to = {0, 1, -1, -1, -1, -1}, .below = {1}, .above = {1}};
  const lgt_partition *rows = lgt_partition_tiling(&partitions, 2, shape, tile, offset);
  const lgt_history *history = &histories.none;
  footprints.domains = 4, footprints.local = 1;
  const lgt_footprint *own = lgt_footprint_of(&footprints, root, &align, rows, false),
                      *wide = lgt_footprint_of(&footprints, root, &halo, rows, false);
  for (int turn = 0; turn < 100; turn++) {
    CHECK(lgt_history_written(&histories, &history, own));
    CHECK(!lgt_history_has(history, wide));
    for (int d = 0; d < 4; d++) {
      lgt_pieces pieces = {0};
      lgt_rect rect;
      int64_t elements = 0;
      CHECK_EQ(lgt_footprint_next(&footprints, wide, d, -1, &rect), d);
      CHECK(lgt_history_lacks(history, &footprints, wide, d, &rect, &pieces));
      for (int i = 0; i < pieces.count; i++) elements += lgt_rect_size(&pieces.piece[i].rect);
      CHECK_EQ(elements, d == 0 || d == 3 ? 5 : 10);
      lgt_mem_free(pieces.piece);
    }
    CHECK(lgt_history_read(&histories, &history, wide) && lgt_history_verify(&histories, history));
    CHECK(lgt_history_has(history, wide) && lgt_history_has(history, own));
    CHECK_EQ(history->count, 2);
  }
}

/* Who reads or writes some of what is its own changes nothing, until somebody else has a copy. */
TEST(columns_of_rows_that_are_cut_are_at_home) {
  int64_t shape[] = {16, 5}, tile[] = {4, 5}, offset[] = {0, 0};
  lgt_home home = {.ndim = 1, .grid = {4}, .dim = {0}};
  uint32_t root = lgt_stores_dense(&stores, LGT_FLOAT64, 2, shape);
  lgt_alignment align = {.to = {0, 1, -1, -1, -1, -1}}, one = {.to = {0, -1, -1, -1, -1, -1}},
                halo = {.to = {0, 1, -1, -1, -1, -1}, .above = {1}};
  const lgt_partition *rows = lgt_partition_tiling_at(&partitions, 2, shape, tile, offset, &home),
                      *line = lgt_partition_tiling_at(&partitions, 1, shape, tile, offset, &home);
  footprints.domains = 4, footprints.local = 1;
  const lgt_footprint *own = lgt_footprint_of(&footprints, root, &align, rows, false),
                      *wide = lgt_footprint_of(&footprints, root, &halo, rows, false), *column = NULL;
  const lgt_history *history = &histories.none;
  CHECK(lgt_history_written(&histories, &history, own));
  const lgt_history *first = history;
  for (int j = 0; j < 5; j++) {
    column = lgt_footprint_of(&footprints, lgt_stores_project(&stores, root, 1, j), &one, line, false);
    CHECK(lgt_history_has(history, column) && lgt_history_written(&histories, &history, column));
  }
  home.dim[0] = -1;
  for (int owner = 0; owner < 4; owner++) { /* row 6 is that of number 1 */
    home.first[0] = owner;
    const lgt_partition *all = lgt_partition_tiling_at(&partitions, 1, tile + 1, tile + 1, offset, &home);
    const lgt_footprint *row =
        lgt_footprint_of(&footprints, lgt_stores_project(&stores, root, 0, 6), &one, all, false);
    CHECK_EQ(lgt_history_has(history, row), owner == 1);
    if (owner == 1) CHECK(lgt_history_written(&histories, &history, row));
  }
  CHECK(history == first);
  CHECK(!lgt_history_has(history, wide) && lgt_history_read(&histories, &history, wide));
  CHECK(lgt_history_has(history, wide) && lgt_history_written(&histories, &history, column));
  CHECK(!lgt_history_has(history, wide));
}

/* Whatever fails for want of memory leaves the history as it was, and the next attempt gives the same. */
TEST(memory_may_run_out) {
  static event ev[8];
  for (int story = 0; story < 60; story++) {
    const lgt_history *history = &histories.none;
    uint32_t root = random_story();
    for (int step = 0; step < 8; step++) {
      bool write = step == 0 || random_below(2), done = false;
      CHECK(random_event(&ev[step], root, write));
      for (int64_t n = 1; !done; n++) {
        const lgt_history *before = history;
        lgt_mem_fail_at(n);
        done = write ? lgt_history_written(&histories, &history, ev[step].fp)
                     : lgt_history_read(&histories, &history, ev[step].fp);
        lgt_mem_fail_at(0);
        CHECK(n <= 3 || done); /* the history, its place, and where it is remembered what follows */
        CHECK(done || history == before);
      }
      if (write) model_written(&ev[step]);
      else model_read(&ev[step]);
    }
    int64_t live = lgt_mem_live();
    for (int d = 0; d < footprints.domains; d++) {
      lgt_rect all = lgt_rect_of_shape(model.root->ndim, model.root->shape);
      bool done = false;
      for (int64_t n = 1; !done && n < 200; n++) {
        lgt_pieces pieces = {0};
        lgt_mem_fail_at(n);
        done = lgt_history_lacks(history, &footprints, NULL, d, &all, &pieces);
        lgt_mem_fail_at(0);
        CHECK(done || pieces.count == 0);
        lgt_mem_free(pieces.piece);
        CHECK_EQ(lgt_mem_live(), live);
      }
      CHECK(done);
      const char *wrong = wrong_answer(history, NULL, d, &all);
      if (wrong) FAIL("%s", wrong);
    }
  }
}

/* ---- one history for each story ------------------------------------------------------------------------ */

/* A few footprints of one store, which overlap in part. */
typedef struct cast {
  const lgt_footprint *own, *wide, *head, *all;
} cast;

static cast some_footprints(void) {
  int64_t shape[] = {16, 5}, tile[] = {4, 5}, offset[] = {0, 0};
  uint32_t root = lgt_stores_dense(&stores, LGT_FLOAT64, 2, shape);
  lgt_alignment align = {.to = {0, 1, -1, -1, -1, -1}},
                halo = {.to = {0, 1, -1, -1, -1, -1}, .below = {1}, .above = {1}};
  const lgt_partition *rows = lgt_partition_tiling(&partitions, 2, shape, tile, offset);
  lgt_rect head = {.ndim = 2, .hi = {3, 5}}, all = lgt_rect_of_shape(2, shape);
  footprints.domains = 4, footprints.local = 1;
  return (cast){lgt_footprint_of(&footprints, root, &align, rows, false),
                lgt_footprint_of(&footprints, root, &halo, rows, false),
                lgt_footprint_everywhere(&footprints, &head), lgt_footprint_everywhere(&footprints, &all)};
}

/* What a later event supersedes leaves no trace: other ways to the same events end at the same history. */
TEST(equal_histories_are_one) {
  cast c = some_footprints();
  const lgt_history *a = &histories.none, *b = &histories.none, *short_one;
  CHECK(lgt_history_written(&histories, &a, c.own) && lgt_history_read(&histories, &a, c.wide));
  CHECK(lgt_history_written(&histories, &b, c.head) && lgt_history_read(&histories, &b, c.wide));
  CHECK(a != b);
  CHECK(lgt_history_written(&histories, &b,
                            c.own)); /* it covers what was written, and what was read is its own halo */
  CHECK(lgt_history_read(&histories, &b, c.wide) && lgt_history_read(&histories, &b, c.wide));
  CHECK(a == b);
  short_one = a;
  CHECK(lgt_history_read(&histories, &a, c.head));
  CHECK(a != short_one && a->count == 3);
  CHECK(lgt_history_written(&histories, &a, c.all) && lgt_history_written(&histories, &b, c.all));
  CHECK(a == b && a->count == 1);
  CHECK(lgt_history_read(&histories, &a, c.wide) && lgt_history_forget_reads(&histories, &a));
  CHECK(a == b);
}

TEST(nothing_is_one_history_too) {
  cast c = some_footprints();
  const lgt_history *a = &histories.none;
  CHECK(lgt_history_read(&histories, &a, c.own) && a != &histories.none);
  CHECK(lgt_history_forget_reads(&histories, &a));
  CHECK(a == &histories.none);
}

/* Images are part of a history, but not of the events that tell who has what. */
TEST(images_make_another_history_of_the_same_events) {
  cast c = some_footprints();
  const lgt_history *a = &histories.none, *b;
  CHECK(lgt_history_written(&histories, &a, c.own));
  b = a;
  CHECK(lgt_history_shown(&histories, &b, 7) && lgt_history_shows(b, 7) && !lgt_history_shows(a, 7));
  CHECK(a != b && b->plain == a && b->event == a->event);
  CHECK(lgt_history_read(&histories, &b, c.wide) && lgt_history_read(&histories, &a, c.wide));
  CHECK(b->plain == a && lgt_history_shows(b, 7));
  for (int64_t image = 8; image < 8 + LGT_HISTORY_IMAGES; image++) /* the oldest goes */
    CHECK(lgt_history_shown(&histories, &b, image));
  CHECK(!lgt_history_shows(b, 7) && lgt_history_shows(b, 8) && b->nimage == LGT_HISTORY_IMAGES);
  CHECK(lgt_history_written(&histories, &b, c.own) && lgt_history_read(&histories, &b, c.wide));
  CHECK(a == b);
}

/* A loop goes through the same histories again and again, and makes none. */
TEST(a_loop_makes_no_new_histories) {
  cast c = some_footprints();
  const lgt_history *a = &histories.none, *first = NULL;
  uint32_t count = 0;
  int64_t live = 0;
  for (int turn = 0; turn < 1000; turn++) {
    CHECK(lgt_history_written(&histories, &a, c.own) && lgt_history_read(&histories, &a, c.wide));
    CHECK(lgt_history_read(&histories, &a, c.head));
    if (!first) first = a, count = histories.table.count, live = lgt_mem_live();
  }
  CHECK(a == first);
  CHECK_EQ(histories.table.count, count);
  CHECK_EQ(lgt_mem_live(), live);
}

/* Rows written one by one, through ever other footprints: what nobody has any more is given back. */
TEST(histories_are_bounded) {
  cast c = some_footprints();
  const lgt_history *a = &histories.none, *kept = &histories.none;
  uint32_t most = 0;
  CHECK(lgt_history_written(&histories, &kept, c.own) && lgt_history_shown(&histories, &kept, 5));
  for (int turn = 0; turn < 60000; turn++) {
    lgt_rect row = {.ndim = 2, .lo = {turn % 16, 0}, .hi = {turn % 16 + 1, 1 + turn / 16 % 5}};
    const lgt_footprint *what = lgt_footprint_everywhere(&footprints, &row);
    CHECK(what && (random_below(2) ? lgt_history_written(&histories, &a, what)
                                   : lgt_history_read(&histories, &a, what)));
    if (lgt_history_long(a)) a = &histories.none;
    if (lgt_histories_many(&histories)) {
      lgt_history_mark(a);
      lgt_history_mark(kept);
      lgt_histories_sweep(&histories);
      CHECK(histories.table.count <= 3);
    }
    if (histories.table.count > most) most = histories.table.count;
  }
  CHECK(most <= 6 * LGT_HISTORY_STEPS);
  const lgt_history *again = &histories.none;
  CHECK(lgt_history_written(&histories, &again, c.own) && lgt_history_shown(&histories, &again, 5));
  CHECK(again == kept);
}

/* One that differs from the one in the table, or lists what is superseded. */
TEST(planted_mistakes_in_histories_are_found) {
  cast c = some_footprints();
  const lgt_history *a = &histories.none, *shown;
  CHECK(lgt_history_written(&histories, &a, c.own) && lgt_history_read(&histories, &a, c.wide));
  shown = a;
  CHECK(lgt_history_shown(&histories, &shown, 7));
  CHECK(lgt_history_verify(&histories, a) && lgt_history_verify(&histories, shown) && shown->plain == a);
  lgt_history *changed = (lgt_history *)shown, was = *changed;
  changed->plain = &histories.none;
  CHECK(!lgt_history_verify(&histories, shown) && strstr(lgt_message(), "of its events"));
  *changed = was;
  changed->image[0] = 8;
  CHECK(!lgt_history_verify(&histories, shown) && strstr(lgt_message(), "in the table"));
  *changed = was;
  lgt_event *event = (lgt_event *)a->event, first = event[0];
  event[0] = (lgt_event){c.wide, false}; /* the second one reads the same */
  CHECK(!lgt_history_verify(&histories, a) && strstr(lgt_message(), "event 1 supersedes event 0"));
  event[0] = first;
  CHECK(lgt_history_verify(&histories, a) && lgt_history_verify(&histories, shown));
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  lgt_partitions_init(&partitions);
  lgt_footprints_init(&footprints, &stores, 1, 1);
  lgt_histories_init(&histories);
  RUN(histories_tell_who_lacks_what);
  RUN(any_place_may_be_asked_about);
  RUN(a_stencil_lacks_its_halos);
  RUN(columns_of_rows_that_are_cut_are_at_home);
  RUN(memory_may_run_out);
  RUN(equal_histories_are_one);
  RUN(nothing_is_one_history_too);
  RUN(images_make_another_history_of_the_same_events);
  RUN(planted_mistakes_in_histories_are_found);
  RUN(a_loop_makes_no_new_histories);
  RUN(histories_are_bounded);
  lgt_histories_fini(&histories);
  lgt_footprints_fini(&footprints);
  lgt_partitions_fini(&partitions);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
