/* profile.c - see profile.h. */
#include "base/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { BUFFER = 64 << 10, EVENT = 1100, NAME = 240, LINE = 120, ARGS = 280 };
enum { FIRST_ROW = 1000 }; /* as the number of a thread */
static const int64_t WEEK = (int64_t)7 * 24 * 3600 * 1000000000;

typedef struct track {
  pthread_mutex_t lock; /* protects: */
  char *text;           /* owned, BUFFER; NULL until the first event */
  size_t used;
} track;

struct lgt_profile {
  char *path; /* owned */
  int rank;
  pid_t process; /* a fork of it writes nothing */
  int64_t shift; /* from the monotonic clock to the file's times */
  track *track;  /* owned; [0] is the compiler's */
  int ntrack;
  _Atomic uint64_t number; /* of what ends on its own; relaxed: they only need to differ */
  pthread_mutex_t lock;    /* protects the following, behind those of tracks */
  int file;                /* -1: closed, or it cannot be written any more */
  int64_t written;         /* bytes, whole events only */
  dev_t device;            /* with inode: which file it is; sealed */
  ino_t inode;
  lgt_profile *next; /* among the open ones; opened_lock */
};

static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER; /* before all others; protects: */
static lgt_profile *opened;

static _Thread_local int current = LGT_TRACK_SCRIPT;

void lgt_profile_enter(int track) { current = track; }

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t lgt_profile_now(void) { return clock_ns(CLOCK_MONOTONIC); }

/* ---- the file --------------------------------------------------------------------------------------- */

static bool write_all(int file, const char *text, size_t size) {
  while (size) {
    ssize_t n = write(file, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text += n;
    size -= (size_t)n;
  }
  return true;
}

/* With the lock held: the array ends after the last whole events. */
static bool end_file(lgt_profile *p) {
  bool good = write_all(p->file, "\n]\n", 3);
  good &= close(p->file) == 0;
  p->file = -1;
  return good;
}

static void warn(const lgt_profile *p, int error) {
  fprintf(stderr, "lgt: the profile %s ends early: %s\n", p->path, strerror(error));
}

static void put_file(lgt_profile *p, const char *text, size_t size) {
  pthread_mutex_lock(&p->lock);
  if (p->file >= 0) {
    if (write_all(p->file, text, size)) {
      p->written += (int64_t)size;
    } else {
      warn(p, errno);
      if (ftruncate(p->file, p->written) == 0) lseek(p->file, p->written, SEEK_SET);
      end_file(p);
    }
  }
  pthread_mutex_unlock(&p->lock);
}

/* With the track's lock held. */
static void flush(lgt_profile *p, track *t) {
  if (t->used) put_file(p, t->text, t->used);
  t->used = 0;
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character that `text` begins with; 0: it is none. */
static int character(const unsigned char *text) {
  int more = *text < 0x80   ? 0
             : *text < 0xc2 ? -1
             : *text < 0xe0 ? 1
             : *text < 0xf0 ? 2
             : *text < 0xf5 ? 3
                            : -1;
  for (int i = 1; i <= more; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  bool surrogate = *text == 0xed && more == 2 && text[1] >= 0xa0;
  bool longer = (*text == 0xe0 && text[1] < 0xa0) || (*text == 0xf0 && text[1] < 0x90) ||
                (*text == 0xf4 && text[1] >= 0x90);
  return surrogate || longer ? 0 : more + 1;
}

/* The inside of a JSON string. */
static void escape(const char *text, char *out, size_t room) {
  size_t used = 0;
  while (*text && used + 8 < room) {
    int n = character((const unsigned char *)text);
    if (n == 0 || (unsigned char)*text < ' ') {
      out[used++] = n ? ' ' : '?';
      text++;
      continue;
    }
    if (*text == '"' || *text == '\\') out[used++] = '\\';
    for (int i = 0; i < n; i++) out[used++] = *text++;
  }
  out[used] = 0;
}

/* One event; `head` has the members that differ by its type.  Row -1: it is the thread's.  Without memory for a buffer it is
 * dropped. */
static void put_row_event(lgt_profile *p, int row, const lgt_label *label, int64_t time, const char *head,
                          const char *format, va_list list) {
  char name[NAME], line[LINE] = "", args[ARGS] = "", where[2 * LINE + 64] = "";
  escape(label->name ? label->name : label->category, name, sizeof name);
  if (label->line) {
    escape(label->line, line, sizeof line);
    snprintf(where, sizeof where, "\"line\":\"%s\"", line);
  }
  if (label->last && label->line && strcmp(label->last, label->line)) {
    size_t used = strlen(where);
    escape(label->last, line, sizeof line);
    snprintf(where + used, sizeof where - used, ",\"last line\":\"%s\"", line);
  }
  if (label->operations) {
    size_t used = strlen(where);
    snprintf(where + used, sizeof where - used, "%s\"operations\":%d", used ? "," : "", label->operations);
  }
  if (format && *format) vsnprintf(args, sizeof args, format, list);
  time += p->shift;
  int index = current - LGT_TRACK_COMPILER;
  if (index >= p->ntrack) index = LGT_TRACK_SCRIPT - LGT_TRACK_COMPILER; /* of another runtime */
  track *t = &p->track[index];
  pthread_mutex_lock(&t->lock);
  if (!t->text) t->text = lgt_mem_alloc(BUFFER);
  if (t->used + EVENT > BUFFER) flush(p, t);
  if (t->text)
    t->used += (size_t)snprintf(
        t->text + t->used, EVENT,
        ",\n{\"name\":\"%s%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03d,%s,\"args\":{%s%s%s}}",
        label->verb ? label->verb : "", name, label->category, p->rank, row < 0 ? index + 1 : FIRST_ROW + row,
        (long long)(time / 1000), (int)(time % 1000), head, where, *where && *args ? "," : "", args);
  pthread_mutex_unlock(&t->lock);
}

static void put_event(lgt_profile *p, const lgt_label *label, int64_t time, const char *head,
                      const char *format, va_list list) {
  put_row_event(p, -1, label, time, head, format, list);
}

static void put_span(lgt_profile *p, int row, int64_t begin, int64_t end, const lgt_label *label, ...) {
  char head[64];
  snprintf(head, sizeof head, "\"ph\":\"X\",\"dur\":%lld.%03d", (long long)((end - begin) / 1000),
           (int)((end - begin) % 1000));
  va_list list;
  va_start(list, label);
  put_row_event(p, row, label, begin, head, NULL, list);
  va_end(list);
}

void lgt_profile_row(lgt_profile *p, int row, int64_t begin, int64_t end, const lgt_label *label) {
  put_span(p, row, begin, end, label);
}

void lgt_profile_name_row(lgt_profile *p, int row, const char *name) {
  char text[256], escaped[NAME];
  escape(name, escaped, sizeof escaped);
  int n =
      snprintf(text, sizeof text,
               ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
               p->rank, FIRST_ROW + row, escaped);
  put_file(p, text, (size_t)n);
}

void lgt_profile_span(lgt_profile *p, int64_t begin, const lgt_label *label, const char *args, ...) {
  char head[64];
  int64_t took = lgt_profile_now() - begin;
  snprintf(head, sizeof head, "\"ph\":\"X\",\"dur\":%lld.%03d", (long long)(took / 1000), (int)(took % 1000));
  va_list list;
  va_start(list, args);
  put_event(p, label, begin, head, args, list);
  va_end(list);
}

void lgt_profile_mark(lgt_profile *p, const lgt_label *label, const char *args, ...) {
  va_list list;
  va_start(list, args);
  put_event(p, label, lgt_profile_now(), "\"ph\":\"i\",\"s\":\"t\"", args, list);
  va_end(list);
}

static void put_half(lgt_profile *p, uint64_t number, const lgt_label *label, char half, const char *args,
                     va_list list) {
  char head[64];
  snprintf(head, sizeof head, "\"ph\":\"%c\",\"id\":\"%d.%llu\"", half, p->rank, (unsigned long long)number);
  put_event(p, label, lgt_profile_now(), head, args, list);
}

uint64_t lgt_profile_begin(lgt_profile *p, const lgt_label *label, const char *args, ...) {
  uint64_t number = atomic_fetch_add_explicit(&p->number, 1, memory_order_relaxed);
  va_list list;
  va_start(list, args);
  put_half(p, number, label, 'b', args, list);
  va_end(list);
  return number;
}

static void end_half(lgt_profile *p, uint64_t number, const lgt_label *label, ...) {
  va_list list;
  va_start(list, label);
  put_half(p, number, label, 'e', NULL, list);
  va_end(list);
}

void lgt_profile_end(lgt_profile *p, uint64_t number, const lgt_label *label) { end_half(p, number, label); }

/* ---- opening and closing ---------------------------------------------------------------------------- */

/* Names of the process and of its threads; the file's first bytes. */
static bool put_names(lgt_profile *p, int size) {
  char text[256];
  int n = snprintf(
      text, sizeof text,
      "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"lgt, rank %d of %d\"}}",
      p->rank, p->rank, size);
  bool good = write_all(p->file, text, (size_t)n);
  p->written += n;
  for (int i = 0; i < p->ntrack && good; i++) {
    char name[32];
    int track = i + LGT_TRACK_COMPILER;
    if (track > 0) snprintf(name, sizeof name, "worker %d", track);
    n = snprintf(
        text, sizeof text,
        ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
        p->rank, i + 1,
        track > 0                   ? name
        : track == LGT_TRACK_SCRIPT ? "script"
                                    : "compiler");
    good = write_all(p->file, text, (size_t)n);
    p->written += n;
  }
  return good;
}

/* Only what is a trace, or nothing yet, may be overwritten: `--profile script.lua` must not cost a script. */
static lgt_status open_file(lgt_profile *p) {
  p->file = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (p->file < 0 && errno == EACCES) p->file = open(p->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  struct stat info;
  if (p->file < 0 || fstat(p->file, &info))
    return lgt_err(LGT_IO, "the profile %s cannot be written: %s", p->path, strerror(errno));
  p->device = info.st_dev;
  p->inode = info.st_ino;
  char first = '[';
  if (!S_ISREG(info.st_mode)) return LGT_OK;
  if (info.st_size > 0 && (pread(p->file, &first, 1, 0) != 1 || first != '['))
    return lgt_err(LGT_IO,
                   "the profile %s would overwrite a file that is no trace; give another name, or remove it",
                   p->path);
  for (const lgt_profile *other = opened; other; other = other->next)
    if (other->device == p->device && other->inode == p->inode)
      return lgt_err(LGT_IO, "the profile %s is being written by another runtime of this process", p->path);
  if (ftruncate(p->file, 0))
    return lgt_err(LGT_IO, "the profile %s cannot be written: %s", p->path, strerror(errno));
  return LGT_OK;
}

static void free_profile(lgt_profile *p) {
  for (int i = 0; i < p->ntrack; i++) {
    pthread_mutex_destroy(&p->track[i].lock);
    lgt_mem_free(p->track[i].text);
  }
  pthread_mutex_destroy(&p->lock);
  lgt_mem_free(p->track);
  lgt_mem_free(p->path);
  lgt_mem_free(p);
}

lgt_status lgt_profile_open(const char *path, int rank, int size, int threads, lgt_profile **out) {
  size_t room = strlen(path) + 32;
  lgt_profile *p = lgt_mem_zalloc(sizeof *p);
  if (!p) return lgt_err(LGT_NO_MEMORY, "out of memory for a profile");
  pthread_mutex_init(&p->lock, NULL);
  p->rank = rank;
  p->process = getpid();
  p->file = -1;
  int64_t now = clock_ns(CLOCK_REALTIME);
  p->shift = now % WEEK - lgt_profile_now();
  p->path = lgt_mem_alloc(room);
  p->track = lgt_mem_zalloc((size_t)(threads + 1) * sizeof *p->track);
  if (!p->path || !p->track) {
    free_profile(p);
    return lgt_err(LGT_NO_MEMORY, "out of memory for a profile");
  }
  p->ntrack = threads + 1;
  for (int i = 0; i < p->ntrack; i++) pthread_mutex_init(&p->track[i].lock, NULL);
  if (rank) snprintf(p->path, room, "%s.rank%d", path, rank);
  else snprintf(p->path, room, "%s", path);
  pthread_mutex_lock(&opened_lock);
  lgt_status status = open_file(p);
  if (!status && !put_names(p, size))
    status = lgt_err(LGT_IO, "the profile %s cannot be written: %s", p->path, strerror(errno));
  if (!status) {
    p->next = opened;
    opened = p;
  }
  pthread_mutex_unlock(&opened_lock);
  if (status) {
    if (p->file >= 0) close(p->file);
    free_profile(p);
    return status;
  }
  *out = p;
  return LGT_OK;
}

/* What the tracks still hold, and the array's end. */
static void finish(lgt_profile *p) {
  for (int i = 0; i < p->ntrack; i++) {
    pthread_mutex_lock(&p->track[i].lock);
    flush(p, &p->track[i]);
    pthread_mutex_unlock(&p->track[i].lock);
  }
  pthread_mutex_lock(&p->lock);
  if (p->file >= 0 && !end_file(p)) warn(p, errno);
  pthread_mutex_unlock(&p->lock);
}

void lgt_profile_close(lgt_profile *p) {
  if (!p) return;
  pthread_mutex_lock(&opened_lock);
  lgt_profile **link = &opened;
  while (*link != p) link = &(*link)->next;
  *link = p->next;
  pthread_mutex_unlock(&opened_lock);
  finish(p);
  free_profile(p);
}

/* A script may call os.exit, which closes no runtime. */
__attribute__((destructor)) void lgt_profile_finish(void) {
  if (pthread_mutex_trylock(&opened_lock)) return; /* somebody is stuck in it */
  for (lgt_profile *p = opened; p; p = p->next)
    if (p->process == getpid()) finish(p);
  pthread_mutex_unlock(&opened_lock);
}
