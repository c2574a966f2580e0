/* object.c - maps and relocates an ELF64 x86-64 object.
 *
 * What the emitter makes is simple: code, constants, references between the two, and calls of a few
 * functions of this library.  Everything goes into one mapping:
 *
 *   sections   those with SHF_ALLOC, in the object's order, with their alignment
 *   slots      16 bytes for each symbol: an indirect jump and, in its second half, the address that
 *              it jumps to.  The jump is the far call's stub, the address its entry of a GOT.
 *
 * The mapping is written first and made executable afterwards; it is never both.  The instructions
 * and their constants share their pages, so that a small kernel takes one page.
 *
 * The object may have been read from a file that is damaged or hostile.  Every offset, size and index
 * is checked before it is used, headers are copied out (they may be misaligned), writable or
 * thread-local sections and unknown relocations are refused, and the only symbols that an object can
 * reach outside of itself are those of lgt_helper_symbol.
 *
 * Thread: any, an object at a time; a loaded object does not change.
 */
#include "kernel/object.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/helper.h"
#include "base/mem.h"

enum {
  MAX_SECTIONS = 256,
  MAX_SYMBOLS = 4096,
  MAX_IMAGE = 64 << 20, /* bytes: calls within it always reach */
  MAX_ALIGN = 4096,
  SLOT = 16,
};

typedef struct entry {
  char name[32];
  void *address;
} entry;

struct lgt_object {
  char *image; /* owned mapping */
  size_t size;
  int nentry;
  entry entry[4]; /* global functions that the object defines */
};

/* What is known while an object is being loaded. */
typedef struct loader {
  const char *bytes; /* borrowed */
  size_t size;
  Elf64_Ehdr head;
  Elf64_Shdr *section; /* owned, head.e_shnum */
  size_t *place;       /* owned: where each section goes in the image, or NOWHERE */
  size_t slots;        /* where the slots begin */
  size_t image_size;
  int nsym;
  const char *symbols; /* nsym Elf64_Sym, perhaps misaligned */
  const char *strings;
  size_t strings_size;
  char *image;
} loader;

#define NOWHERE ((size_t)-1)

#define REFUSE(...) lgt_err(LGT_COMPILE, "not an object of lgt's: " __VA_ARGS__)

static bool within(const loader *l, uint64_t offset, uint64_t size) {
  return offset <= l->size && size <= l->size - offset;
}

static lgt_status read_headers(loader *l) {
  if (l->size < sizeof l->head) return REFUSE("%zu bytes are fewer than an ELF header has", l->size);
  memcpy(&l->head, l->bytes, sizeof l->head);
  const Elf64_Ehdr *h = &l->head;
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL || h->e_machine != EM_X86_64)
    return REFUSE("no relocatable ELF64 file for x86-64");
  if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 || h->e_shnum > MAX_SECTIONS ||
      !within(l, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return REFUSE("a table of %u sections of %u bytes at %llu", h->e_shnum, h->e_shentsize,
                  (unsigned long long)h->e_shoff);
  l->section = lgt_mem_alloc(h->e_shnum * sizeof *l->section);
  l->place = lgt_mem_alloc(h->e_shnum * sizeof *l->place);
  if (!l->section || !l->place) return lgt_err(LGT_NO_MEMORY, "out of memory for %u sections", h->e_shnum);
  memcpy(l->section, l->bytes + h->e_shoff, h->e_shnum * sizeof *l->section);
  for (int i = 0; i < h->e_shnum; i++)
    if (l->section[i].sh_type != SHT_NOBITS && !within(l, l->section[i].sh_offset, l->section[i].sh_size))
      return REFUSE("section %d ends behind the file", i);
  return LGT_OK;
}

/* Sections that take part.  Unwind tables do not: nothing unwinds through a kernel. */
static bool is_mapped(const Elf64_Shdr *s) {
  return (s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_X86_64_UNWIND;
}

static lgt_status lay_out(loader *l) {
  size_t end = 0;
  for (int i = 0; i < l->head.e_shnum; i++) {
    const Elf64_Shdr *s = &l->section[i];
    l->place[i] = NOWHERE;
    if (!is_mapped(s)) continue;
    uint64_t align = s->sh_addralign ? s->sh_addralign : 1;
    if (s->sh_type != SHT_PROGBITS || (s->sh_flags & (SHF_WRITE | SHF_TLS | SHF_COMPRESSED)))
      return REFUSE("section %d has type %u and flags %llx", i, s->sh_type, (unsigned long long)s->sh_flags);
    if ((align & (align - 1)) || align > MAX_ALIGN)
      return REFUSE("section %d is aligned to %llu", i, (unsigned long long)align);
    end = (end + align - 1) & ~(size_t)(align - 1);
    l->place[i] = end;
    end += s->sh_size;
    if (end > MAX_IMAGE) return REFUSE("sections of more than %d MiB", MAX_IMAGE >> 20);
  }
  l->slots = (end + SLOT - 1) & ~(size_t)(SLOT - 1);
  return LGT_OK;
}

static lgt_status find_symbols(loader *l) {
  const Elf64_Shdr *table = NULL;
  for (int i = 0; i < l->head.e_shnum; i++)
    if (l->section[i].sh_type == SHT_SYMTAB) table = &l->section[i];
  if (!table || table->sh_entsize != sizeof(Elf64_Sym) || table->sh_size / sizeof(Elf64_Sym) > MAX_SYMBOLS ||
      table->sh_link >= l->head.e_shnum)
    return REFUSE("no usable table of symbols");
  const Elf64_Shdr *strings = &l->section[table->sh_link];
  if (strings->sh_type != SHT_STRTAB || strings->sh_size == 0 ||
      l->bytes[strings->sh_offset + strings->sh_size - 1] != 0)
    return REFUSE("no usable table of names");
  l->nsym = (int)(table->sh_size / sizeof(Elf64_Sym));
  l->symbols = l->bytes + table->sh_offset;
  l->strings = l->bytes + strings->sh_offset;
  l->strings_size = strings->sh_size;
  l->image_size = l->slots + (size_t)l->nsym * SLOT;
  return LGT_OK;
}

static lgt_status get_symbol(const loader *l, uint64_t index, Elf64_Sym *symbol, const char **name) {
  if (index >= (uint64_t)l->nsym) return REFUSE("symbol %llu of %d", (unsigned long long)index, l->nsym);
  memcpy(symbol, l->symbols + index * sizeof *symbol, sizeof *symbol);
  if (symbol->st_name >= l->strings_size) return REFUSE("symbol %llu has no name", (unsigned long long)index);
  *name = l->strings + symbol->st_name;
  if (symbol->st_shndx == SHN_UNDEF) return LGT_OK;
  if (symbol->st_shndx >= l->head.e_shnum || l->place[symbol->st_shndx] == NOWHERE ||
      symbol->st_value > l->section[symbol->st_shndx].sh_size)
    return REFUSE("symbol '%.40s' lies in no section", *name);
  return LGT_OK;
}

/* The symbol's address; of one defined elsewhere only where `far` allows it. */
static lgt_status address_of(const loader *l, uint64_t index, bool far, uint64_t *out) {
  Elf64_Sym symbol;
  const char *name;
  lgt_status status = get_symbol(l, index, &symbol, &name);
  if (status) return status;
  if (symbol.st_shndx != SHN_UNDEF) {
    *out = (uint64_t)(uintptr_t)l->image + l->place[symbol.st_shndx] + symbol.st_value;
    return LGT_OK;
  }
  void *function = far ? lgt_helper_symbol(name) : NULL;
  if (!function) return REFUSE("it refers to '%.40s'", name);
  *out = (uint64_t)(uintptr_t)function;
  return LGT_OK;
}

/* Fill the symbol's slot: jmp *[rip + 2]; two bytes of nothing; the address. */
static char *fill_slot(const loader *l, uint64_t index, uint64_t address) {
  static const unsigned char jump[8] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x66, 0x90};
  char *slot = l->image + l->slots + index * SLOT;
  memcpy(slot, jump, sizeof jump);
  memcpy(slot + sizeof jump, &address, sizeof address);
  return slot;
}

static lgt_status relocate(const loader *l, const Elf64_Shdr *target, char *base, const Elf64_Rela *r) {
  uint64_t symbol = ELF64_R_SYM(r->r_info), type = ELF64_R_TYPE(r->r_info), address = 0,
           width = type == R_X86_64_64 ? 8 : 4;
  if (r->r_offset > target->sh_size || width > target->sh_size - r->r_offset)
    return REFUSE("a relocation at %llu of a section of %llu bytes", (unsigned long long)r->r_offset,
                  (unsigned long long)target->sh_size);
  lgt_status status = address_of(l, symbol, type != R_X86_64_PC32, &address);
  if (status) return status;
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC32:
      break;
    case R_X86_64_PLT32:
      address = (uint64_t)(uintptr_t)fill_slot(l, symbol, address);
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      address = (uint64_t)(uintptr_t)(fill_slot(l, symbol, address) + 8);
      break;
    default:
      return REFUSE("relocation type %llu", (unsigned long long)type);
  }
  char *at = base + r->r_offset;
  uint64_t value = address + (uint64_t)r->r_addend;
  if (type == R_X86_64_64) {
    memcpy(at, &value, 8);
    return LGT_OK;
  }
  int64_t distance = (int64_t)(value - (uint64_t)(uintptr_t)at);
  int32_t near = (int32_t)distance;
  if (near != distance) return REFUSE("a relocation out of reach");
  memcpy(at, &near, 4);
  return LGT_OK;
}

static lgt_status relocate_all(const loader *l) {
  for (int i = 0; i < l->head.e_shnum; i++) {
    const Elf64_Shdr *s = &l->section[i];
    if (s->sh_type == SHT_REL) return REFUSE("relocations without addends");
    if (s->sh_type != SHT_RELA || s->sh_info >= l->head.e_shnum || l->place[s->sh_info] == NOWHERE) continue;
    if (s->sh_entsize != sizeof(Elf64_Rela))
      return REFUSE("relocations of %llu bytes", (unsigned long long)s->sh_entsize);
    for (uint64_t k = 0; k < s->sh_size / sizeof(Elf64_Rela); k++) {
      Elf64_Rela r;
      memcpy(&r, l->bytes + s->sh_offset + k * sizeof r, sizeof r);
      lgt_status status = relocate(l, &l->section[s->sh_info], l->image + l->place[s->sh_info], &r);
      if (status) return status;
    }
  }
  return LGT_OK;
}

static lgt_status collect_entries(const loader *l, lgt_object *object) {
  for (int i = 1; i < l->nsym; i++) {
    Elf64_Sym symbol;
    const char *name;
    memcpy(&symbol, l->symbols + (size_t)i * sizeof symbol, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    lgt_status status = get_symbol(l, (uint64_t)i, &symbol, &name);
    if (status) return status;
    if (!(l->section[symbol.st_shndx].sh_flags & SHF_EXECINSTR) ||
        symbol.st_value >= l->section[symbol.st_shndx].sh_size)
      return REFUSE("function '%.40s' is no code", name);
    entry *to = &object->entry[object->nentry];
    if (object->nentry == (int)(sizeof object->entry / sizeof *object->entry) ||
        strlen(name) >= sizeof to->name)
      return REFUSE("function '%.40s' is one too many", name);
    strcpy(to->name, name);
    to->address = l->image + l->place[symbol.st_shndx] + symbol.st_value;
    object->nentry++;
  }
  return LGT_OK;
}

static lgt_status make_image(loader *l) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  l->image_size = (l->image_size + page - 1) & ~(page - 1);
  void *image = mmap(NULL, l->image_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (image == MAP_FAILED)
    return lgt_err(LGT_NO_MEMORY, "out of memory for %zu bytes of machine code", l->image_size);
  l->image = image;
  for (int i = 0; i < l->head.e_shnum; i++)
    if (l->place[i] != NOWHERE)
      memcpy(l->image + l->place[i], l->bytes + l->section[i].sh_offset, l->section[i].sh_size);
  return LGT_OK;
}

lgt_status lgt_object_load(const void *bytes, size_t size, lgt_object **out) {
  loader l = {.bytes = bytes, .size = size};
  lgt_object *object = NULL;
  lgt_status status;
  if ((status = read_headers(&l)) || (status = lay_out(&l)) || (status = find_symbols(&l)) ||
      (status = make_image(&l)))
    goto done;
  if (!(object = lgt_mem_zalloc(sizeof *object))) {
    status = lgt_err(LGT_NO_MEMORY, "out of memory for an object");
    goto done;
  }
  if ((status = relocate_all(&l)) || (status = collect_entries(&l, object))) goto done;
  if (mprotect(l.image, l.image_size, PROT_READ | PROT_EXEC)) {
    status =
        lgt_err(LGT_SYSTEM, "this system does not let a program make code (mprotect to executable failed)");
    goto done;
  }
  object->image = l.image;
  object->size = l.image_size;
  *out = object;
done:
  if (status) {
    if (l.image) munmap(l.image, l.image_size);
    lgt_mem_free(object);
  }
  lgt_mem_free(l.section);
  lgt_mem_free(l.place);
  return status;
}

void *lgt_object_symbol(const lgt_object *object, const char *name) {
  for (int i = 0; i < object->nentry; i++)
    if (strcmp(object->entry[i].name, name) == 0) return object->entry[i].address;
  return NULL;
}

void lgt_object_free(lgt_object *object) {
  if (!object) return;
  munmap(object->image, object->size);
  lgt_mem_free(object);
}
