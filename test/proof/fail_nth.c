/*
 * fail_nth.c
 *		Calls that fail when they are told to, for faults.pl.
 *
 * Preloaded by the server, behind gpusort.  Once gpusort.so is there, its table of addresses
 * (GOT) is changed: what it calls of the list below goes through functions of this file, which
 * do the same but for the nth call of a kind, or all from the nth call on.  Extents of its pool, which
 * it takes by itself, it asks a function of this file for (memory/pool_account.c).  For the kinds
 * "system ..." the same is done to the server itself and libc; with the nth one of KIND_SYSTEM_CANCEL
 * nothing fails, but the statement is cancelled.  (Not to ICU, which crashes when
 * malloc() fails: ICU's failures are what it tells its callers.)
 *
 * What is to fail stands in the file that is named by the environment's FAIL_NTH_FILE, which
 * faults.pl writes and all processes map.  Calls are counted by process, from 1, anew
 * whenever the file's generation changes.
 *
 * Compiled with FAIL_NTH_DAEMON this is a library for LD_PRELOAD of gpusortd, which has one
 * kind, and counts from its start.
 */
#ifdef FAIL_NTH_DAEMON
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint32_t uint32;
#else
#include "postgres.h"

#include "access/parallel.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/shm_mq.h"
#include "utils/memutils.h"
#endif

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kinds of calls; faults.pl has the same list. */
enum
{
	KIND_NONE,
	KIND_PALLOC,				/* gpusort.so: the server's memory contexts */
	KIND_MALLOC,				/* gpusort.so: malloc and the like */
	KIND_MAP,					/* gpusort.so: mmap, mprotect, madvise, fallocate, ftruncate */
	KIND_OPEN,					/* gpusort.so: open, fopen */
	KIND_MESSAGE,				/* gpusort.so: messages between participants, futexes, signals */
	KIND_SYSTEM_MALLOC,			/* everybody: malloc and the like */
	KIND_SYSTEM_MAP,			/* everybody: the same as KIND_MAP */
	KIND_SYSTEM_WRITE,			/* the server: writing and enlarging files of tables and rows */
	KIND_SYSTEM_READ,			/* the server: reading them */
	KIND_DAEMON_MALLOC,			/* gpusortd: malloc and the like */
	KIND_DAEMON_MAP,			/* gpusortd: mmap, madvise */
	KIND_LIBRARY,				/* gpusort.so: ICU, and libc's locales */
	KIND_SYSTEM_CANCEL,			/* the server: reading, writing, looking for and deleting temporary files */
	KIND_EXTENT					/* gpusort.so: extents of the pool */
};

/* The file, as words. */
typedef struct Control
{
	uint32		generation;
	uint32		kind;
	uint32		nth;			/* 0: only count */
	uint32		for_good;		/* the nth and all that follow */
	uint32		who;			/* WHO_... */
	uint32		session;		/* its process, and the leader of these workers */
	uint32		calls;			/* out: most calls of any process */
	uint32		failed;			/* out: failures of all processes */
} Control;

/* Whose calls fail. */
enum
{
	WHO_SESSION,				/* the session's own process's */
	WHO_WORKERS,				/* not that one's, but its workers' */
	WHO_BOTH
};

static Control no_control;
static volatile Control *control = &no_control;

static void
map_control(void)
{
	const char *path = getenv("FAIL_NTH_FILE");
	int			fd = path != NULL ? open(path, O_RDWR) : -1;
	void	   *map;

	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		control = map;
}

/* Is the failure for this process? */
static bool
is_ours(void)
{
#ifdef FAIL_NTH_DAEMON
	return true;
#else
	if (control->who != WHO_SESSION && IsParallelWorker())
		return true;
	return control->who != WHO_WORKERS && (uint32) getpid() == control->session;
#endif
}

/* Calls of this process since the file told of something else. */
static uint32 calls = 0;

/* Is it calls of this kind, in this process, that are counted? */
static bool
is_counted(uint32 kind)
{
	static uint32 generation = 0;

	if (control->kind != kind || !is_ours())
		return false;
	if (generation != control->generation)
		calls = 0;
	generation = control->generation;
	return true;
}

/* Count a call; is it to fail? */
static bool
is_due(uint32 kind)
{
	uint32		nth = control->nth;

	if (!is_counted(kind))
		return false;
	calls++;
	if (calls > control->calls)
		control->calls = calls;
	if (nth == 0 || calls < nth || (calls > nth && !control->for_good))
		return false;
	__atomic_fetch_add(&control->failed, 1, __ATOMIC_RELAXED);
	return true;
}

/* A function that sets errno and returns this in place of calling the real one. */
#define FAILING(name, type, failure, error, kind, parameters, arguments) \
static type \
name parameters \
{ \
	if (is_due(kind)) \
	{ \
		errno = error; \
		return failure; \
	} \
	return real_##name arguments; \
}

#ifdef FAIL_NTH_DAEMON

/* gpusortd: functions of these names come before those of libc. */
static void *(*real_malloc) (size_t);
static void *(*real_calloc) (size_t, size_t);
static void *(*real_realloc) (void *, size_t);
static void *(*real_aligned_alloc) (size_t, size_t);
static void *(*real_mmap) (void *, size_t, int, int, int, off_t);
static int	(*real_madvise) (void *, size_t, int);

/* Before the constructor has run nothing is asked for but by the loader itself. */
__attribute__((constructor))
static void
begin(void)
{
	real_malloc = dlsym(RTLD_NEXT, "malloc");
	real_calloc = dlsym(RTLD_NEXT, "calloc");
	real_realloc = dlsym(RTLD_NEXT, "realloc");
	real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	real_mmap = dlsym(RTLD_NEXT, "mmap");
	real_madvise = dlsym(RTLD_NEXT, "madvise");
	map_control();
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);

#define VISIBLE __attribute__((visibility("default")))

VISIBLE void *
malloc(size_t size)
{
	if (real_malloc == NULL)
		return __libc_malloc(size);
	return is_due(KIND_DAEMON_MALLOC) ? (errno = ENOMEM, NULL) : real_malloc(size);
}

VISIBLE void *
calloc(size_t count, size_t size)
{
	if (real_calloc == NULL)
		return __libc_calloc(count, size);
	return is_due(KIND_DAEMON_MALLOC) ? (errno = ENOMEM, NULL) : real_calloc(count, size);
}

VISIBLE void *
realloc(void *old, size_t size)
{
	return is_due(KIND_DAEMON_MALLOC) ? (errno = ENOMEM, NULL) : real_realloc(old, size);
}

VISIBLE void *
aligned_alloc(size_t alignment, size_t size)
{
	return is_due(KIND_DAEMON_MALLOC) ? (errno = ENOMEM, NULL) : real_aligned_alloc(alignment, size);
}

VISIBLE void *
mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (real_mmap == NULL)
		return (void *) syscall(SYS_mmap, at, size, protection, flags, fd, offset);
	return is_due(KIND_DAEMON_MAP) ? (errno = ENOMEM, MAP_FAILED)
		: real_mmap(at, size, protection, flags, fd, offset);
}

VISIBLE int
madvise(void *at, size_t size, int advice)
{
	return is_due(KIND_DAEMON_MAP) ? (errno = ENOMEM, -1) : real_madvise(at, size, advice);
}

#else

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

/* ---- the pool ---- */

/* Does gpusort get no extent, or if it only asks for how many there are, would it get none ever again? */
static bool
refuse_extent(bool taking)
{
	if (taking)
		return is_due(KIND_EXTENT);
	if (!is_counted(KIND_EXTENT) || !control->for_good || control->nth == 0 || calls + 1 < control->nth)
		return false;
	__atomic_fetch_add(&control->failed, 1, __ATOMIC_RELAXED);
	return true;
}

/* ---- the server's memory contexts ---- */

/* What the server says, in its words. */
static void
out_of_memory(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory"),
			 errdetail("Injected failure.")));
}

static void *
fail_palloc(Size size)
{
	if (is_due(KIND_PALLOC))
		out_of_memory();
	return palloc(size);
}

static void *
fail_palloc0(Size size)
{
	if (is_due(KIND_PALLOC))
		out_of_memory();
	return palloc0(size);
}

static void *
fail_palloc_extended(Size size, int flags)
{
	if (is_due(KIND_PALLOC))
	{
		if (flags & MCXT_ALLOC_NO_OOM)
			return NULL;
		out_of_memory();
	}
	return palloc_extended(size, flags);
}

static void *
fail_context_alloc(MemoryContext context, Size size)
{
	if (is_due(KIND_PALLOC))
		out_of_memory();
	return MemoryContextAlloc(context, size);
}

static void *
fail_context_alloc_zero(MemoryContext context, Size size)
{
	if (is_due(KIND_PALLOC))
		out_of_memory();
	return MemoryContextAllocZero(context, size);
}

static void *
fail_context_alloc_extended(MemoryContext context, Size size, int flags)
{
	if (is_due(KIND_PALLOC))
	{
		if (flags & MCXT_ALLOC_NO_OOM)
			return NULL;
		out_of_memory();
	}
	return MemoryContextAllocExtended(context, size, flags);
}

static void *
fail_repalloc(void *old, Size size)
{
	if (is_due(KIND_PALLOC))
		out_of_memory();
	return repalloc(old, size);
}

static char *
fail_pstrdup(const char *string)
{
	if (is_due(KIND_PALLOC))
		out_of_memory();
	return pstrdup(string);
}

static MemoryContext
fail_context_create(MemoryContext parent, const char *name, Size min, Size first, Size max)
{
	if (is_due(KIND_PALLOC))
		out_of_memory();
	return AllocSetContextCreateInternal(parent, name, min, first, max);
}

/* ---- memory, mappings, files: errno ---- */

#define real_own_malloc malloc
#define real_own_calloc calloc
#define real_own_realloc realloc
#define real_own_mmap mmap
#define real_own_mprotect mprotect
#define real_own_madvise madvise
#define real_own_ftruncate ftruncate
#define real_own_fallocate fallocate
#define real_own_memfd_create memfd_create
#define real_own_fopen fopen
#define real_own_kill kill
#define real_system_malloc malloc
#define real_system_calloc calloc
#define real_system_realloc realloc
#define real_system_mmap mmap
#define real_system_ftruncate ftruncate
#define real_system_posix_fallocate posix_fallocate

FAILING(own_malloc, void *, NULL, ENOMEM, KIND_MALLOC, (size_t size), (size))
FAILING(own_calloc, void *, NULL, ENOMEM, KIND_MALLOC, (size_t n, size_t size), (n, size))
FAILING(own_realloc, void *, NULL, ENOMEM, KIND_MALLOC, (void *old, size_t size), (old, size))
FAILING(own_mmap, void *, MAP_FAILED, ENOMEM, KIND_MAP,
		(void *at, size_t size, int protection, int flags, int fd, off_t offset),
		(at, size, protection, flags, fd, offset))
FAILING(own_mprotect, int, -1, ENOMEM, KIND_MAP, (void *at, size_t size, int protection),
		(at, size, protection))
FAILING(own_madvise, int, -1, ENOMEM, KIND_MAP, (void *at, size_t size, int advice),
		(at, size, advice))
FAILING(own_ftruncate, int, -1, ENOMEM, KIND_MAP, (int fd, off_t size), (fd, size))
FAILING(own_fallocate, int, -1, ENOSPC, KIND_MAP, (int fd, int mode, off_t from, off_t size),
		(fd, mode, from, size))
FAILING(own_memfd_create, int, -1, EMFILE, KIND_MAP, (const char *name, unsigned flags),
		(name, flags))
FAILING(own_fopen, FILE *, NULL, EMFILE, KIND_OPEN, (const char *path, const char *mode),
		(path, mode))
FAILING(own_kill, int, -1, EPERM, KIND_MESSAGE, (pid_t pid, int signal), (pid, signal))
FAILING(system_malloc, void *, NULL, ENOMEM, KIND_SYSTEM_MALLOC, (size_t size), (size))
FAILING(system_calloc, void *, NULL, ENOMEM, KIND_SYSTEM_MALLOC, (size_t n, size_t size), (n, size))
FAILING(system_realloc, void *, NULL, ENOMEM, KIND_SYSTEM_MALLOC, (void *old, size_t size),
		(old, size))
FAILING(system_mmap, void *, MAP_FAILED, ENOMEM, KIND_SYSTEM_MAP,
		(void *at, size_t size, int protection, int flags, int fd, off_t offset),
		(at, size, protection, flags, fd, offset))
FAILING(system_posix_fallocate, int, ENOSPC, ENOSPC, KIND_SYSTEM_MAP,
		(int fd, off_t from, off_t size), (fd, from, size))

/* open() in gpusort.so opens what is to be read. */
static int
own_open(const char *path, int flags, ...)
{
	if (is_due(KIND_OPEN))
	{
		errno = EMFILE;
		return -1;
	}
	return open(path, flags);
}

/* ---- the server's files ---- */

/* Does the name of an open file have this in it? */
static bool
is_named(int fd, const char *part)
{
	char		link[64];
	char		path[MAXPGPATH];
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	return strstr(path, part) != NULL;
}

/* Is this a file of rows?  What happens to WAL and transaction states is not asked here. */
static bool
is_data_file(int fd)
{
	return is_named(fd, "/base/") && !is_named(fd, "/pg_wal/");
}

static bool
is_temporary_file(int fd)
{
	return is_named(fd, "/pgsql_tmp/");
}

/* Have the statement be cancelled at the next CHECK_FOR_INTERRUPTS(). */
static void
cancel_if_due(void)
{
	if (!is_due(KIND_SYSTEM_CANCEL))
		return;
	QueryCancelPending = true;
	InterruptPending = true;
}

/* Only calls about files of rows are counted. */
static bool
is_due_file(int fd, uint32 kind)
{
	if (control->kind == KIND_SYSTEM_CANCEL && is_temporary_file(fd))
		cancel_if_due();
	return control->kind == kind && is_data_file(fd) && is_due(kind);
}

#define FAILING_FILE(name, type, error, kind, parameters, arguments) \
static type \
fail_##name parameters \
{ \
	if (is_due_file(fd, kind)) \
	{ \
		errno = error; \
		return -1; \
	} \
	return name arguments; \
}

FAILING_FILE(pwrite, ssize_t, ENOSPC, KIND_SYSTEM_WRITE,
			 (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
FAILING_FILE(pwritev, ssize_t, ENOSPC, KIND_SYSTEM_WRITE,
			 (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
FAILING_FILE(pread, ssize_t, EIO, KIND_SYSTEM_READ,
			 (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))
FAILING_FILE(preadv, ssize_t, EIO, KIND_SYSTEM_READ,
			 (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))

static int
fail_ftruncate(int fd, off_t size)
{
	if (is_due_file(fd, KIND_SYSTEM_WRITE) || is_due(KIND_SYSTEM_MAP))
	{
		errno = ENOSPC;
		return -1;
	}
	return ftruncate(fd, size);
}

static int
fail_posix_fallocate(int fd, off_t from, off_t size)
{
	return is_due_file(fd, KIND_SYSTEM_WRITE) ? ENOSPC : system_posix_fallocate(fd, from, size);
}

/* ---- names of temporary files ---- */

static bool
is_temporary_name(const char *path)
{
	return control->kind == KIND_SYSTEM_CANCEL && strstr(path, "pgsql_tmp") != NULL;
}

static DIR *
cancel_opendir(const char *path)
{
	if (is_temporary_name(path))
		cancel_if_due();
	return opendir(path);
}

static int
cancel_unlink(const char *path)
{
	if (is_temporary_name(path))
		cancel_if_due();
	return unlink(path);
}

static int
cancel_rmdir(const char *path)
{
	if (is_temporary_name(path))
		cancel_if_due();
	return rmdir(path);
}

/* ---- messages ---- */

/* The other side is gone. */
static shm_mq_result
fail_shm_mq_send(shm_mq_handle *queue, Size size, const void *bytes, bool nowait,
				 bool force_flush)
{
	if (is_due(KIND_MESSAGE))
		return SHM_MQ_DETACHED;
	return shm_mq_send(queue, size, bytes, nowait, force_flush);
}

static shm_mq_result
fail_shm_mq_receive(shm_mq_handle *queue, Size *size, void **bytes, bool nowait)
{
	if (is_due(KIND_MESSAGE))
		return SHM_MQ_DETACHED;
	return shm_mq_receive(queue, size, bytes, nowait);
}

/* A futex is a hint: it wakes nobody, and waits no longer than until a signal. */
static long
own_syscall(long number, void *word, long operation, long value, void *timeout)
{
	if (is_due(KIND_MESSAGE))
	{
		errno = EINTR;
		return -1;
	}
	return syscall(number, word, operation, value, timeout, NULL, 0);
}

/* ---- collations ---- */

/* UErrorCode: U_MEMORY_ALLOCATION_ERROR */
#define ICU_NO_MEMORY	7

static int32_t (*real_get_key) (const void *, const void *, int32_t, void *, int32_t);
static int32_t (*real_next_part) (const void *, void *, uint32_t *, void *, int32_t, int *);
static void *(*real_open_elements) (const void *, const void *, int32_t, int *);
static void *(*real_open_set) (void);
static void (*real_contractions) (const void *, void *, void *, int8_t, int *);
static void *(*real_from_utf8) (void *, int32_t, int32_t *, const char *, int32_t, int *);
static int (*real_collate) (const void *, const char *, int32_t, const char *, int32_t, int *);

#define real_own_newlocale newlocale
#define real_own_duplocale duplocale

FAILING(own_newlocale, locale_t, (locale_t) 0, ENOMEM, KIND_LIBRARY,
		(int mask, const char *name, locale_t base), (mask, name, base))
FAILING(own_duplocale, locale_t, (locale_t) 0, ENOMEM, KIND_LIBRARY, (locale_t locale), (locale))

static int32_t
icu_get_key(const void *collator, const void *string, int32_t length, void *key, int32_t size)
{
	return is_due(KIND_LIBRARY) ? 0 : real_get_key(collator, string, length, key, size);
}

static int32_t
icu_next_part(const void *collator, void *iterator, uint32_t *state, void *part, int32_t size,
			  int *status)
{
	return is_due(KIND_LIBRARY) ? (*status = ICU_NO_MEMORY, 0)
		: real_next_part(collator, iterator, state, part, size, status);
}

static void *
icu_open_elements(const void *collator, const void *text, int32_t length, int *status)
{
	return is_due(KIND_LIBRARY) ? (*status = ICU_NO_MEMORY, NULL)
		: real_open_elements(collator, text, length, status);
}

static void *
icu_open_set(void)
{
	return is_due(KIND_LIBRARY) ? NULL : real_open_set();
}

static void
icu_contractions(const void *collator, void *contractions, void *expansions, int8_t prefixes,
				 int *status)
{
	if (is_due(KIND_LIBRARY))
		*status = ICU_NO_MEMORY;
	else
		real_contractions(collator, contractions, expansions, prefixes, status);
}

static void *
icu_from_utf8(void *to, int32_t size, int32_t *written, const char *string, int32_t length,
			  int *status)
{
	return is_due(KIND_LIBRARY) ? (*status = ICU_NO_MEMORY, NULL)
		: real_from_utf8(to, size, written, string, length, status);
}

static int
icu_collate(const void *collator, const char *a, int32_t a_length, const char *b, int32_t b_length,
			int *status)
{
	return is_due(KIND_LIBRARY) ? (*status = ICU_NO_MEMORY, 0)
		: real_collate(collator, a, a_length, b, b_length, status);
}

/* ---- changing the table of addresses ---- */

typedef struct Replacement
{
	const char *name;
	void	   *function;
	void	   *real;			/* where the replaced function's address is to go; then the name has
								 * a version behind it */
} Replacement;

static const Replacement own[] = {
	{"palloc", fail_palloc},
	{"palloc0", fail_palloc0},
	{"palloc_extended", fail_palloc_extended},
	{"MemoryContextAlloc", fail_context_alloc},
	{"MemoryContextAllocZero", fail_context_alloc_zero},
	{"MemoryContextAllocExtended", fail_context_alloc_extended},
	{"repalloc", fail_repalloc},
	{"pstrdup", fail_pstrdup},
	{"AllocSetContextCreateInternal", fail_context_create},
	{"malloc", own_malloc},
	{"calloc", own_calloc},
	{"realloc", own_realloc},
	{"mmap", own_mmap},
	{"mprotect", own_mprotect},
	{"madvise", own_madvise},
	{"ftruncate", own_ftruncate},
	{"fallocate", own_fallocate},
	{"memfd_create", own_memfd_create},
	{"open", own_open},
	{"fopen", own_fopen},
	{"kill", own_kill},
	{"syscall", own_syscall},
	{"shm_mq_send", fail_shm_mq_send},
	{"shm_mq_receive", fail_shm_mq_receive},
	{"newlocale", own_newlocale},
	{"duplocale", own_duplocale},
	{"ucol_getSortKey", icu_get_key, &real_get_key},
	{"ucol_nextSortKeyPart", icu_next_part, &real_next_part},
	{"ucol_openElements", icu_open_elements, &real_open_elements},
	{"uset_openEmpty", icu_open_set, &real_open_set},
	{"ucol_getContractionsAndExpansions", icu_contractions, &real_contractions},
	{"u_strFromUTF8", icu_from_utf8, &real_from_utf8},
	{"ucol_strcollUTF8", icu_collate, &real_collate},
	{NULL, NULL}
};

static const Replacement everybody[] = {
	{"malloc", system_malloc},
	{"calloc", system_calloc},
	{"realloc", system_realloc},
	{"mmap", system_mmap},
	{"mmap64", system_mmap},
	{"posix_fallocate", fail_posix_fallocate},
	{"posix_fallocate64", fail_posix_fallocate},
	{"ftruncate", fail_ftruncate},
	{"ftruncate64", fail_ftruncate},
	{"pwrite", fail_pwrite},
	{"pwrite64", fail_pwrite},
	{"pwritev", fail_pwritev},
	{"pwritev64", fail_pwritev},
	{"pread", fail_pread},
	{"pread64", fail_pread},
	{"preadv", fail_preadv},
	{"preadv64", fail_preadv},
	{"opendir", cancel_opendir},
	{"unlink", cancel_unlink},
	{"rmdir", cancel_rmdir},
	{NULL, NULL}
};

static bool
is_address_of_symbol(ElfW(Xword) info)
{
#if defined(__x86_64__)
	return ELF64_R_TYPE(info) == R_X86_64_JUMP_SLOT || ELF64_R_TYPE(info) == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
	return ELF64_R_TYPE(info) == R_AARCH64_JUMP_SLOT || ELF64_R_TYPE(info) == R_AARCH64_GLOB_DAT;
#else
#error "relocations of this processor are not known"
#endif
}

/* ICU's functions are called ucol_open_72 and the like. */
static bool
has_name(const char *name, const Replacement *replacement)
{
	size_t		length = strlen(replacement->name);

	if (strncmp(name, replacement->name, length) != 0)
		return false;
	return name[length] == '\0' ||
		(replacement->real != NULL && name[length] == '_' &&
		 strspn(name + length + 1, "0123456789") == strlen(name + length + 1));
}

static void
replace_entry(ElfW(Addr) *entry, void *function)
{
	uintptr_t	page_bytes = (uintptr_t) sysconf(_SC_PAGESIZE);
	char	   *page = (char *) ((uintptr_t) entry / page_bytes * page_bytes);

	if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0)
		elog(FATAL, "could not change the table of addresses: %m");
	*entry = (ElfW(Addr)) function;
}

static int
replace_in_list(const struct dl_phdr_info *object, const ElfW(Rela) *list, size_t bytes,
				const ElfW(Sym) *symbols, const char *strings, const Replacement *replacements)
{
	int			replaced = 0;

	for (size_t i = 0; list != NULL && i < bytes / sizeof(*list); i++)
	{
		const char *name = strings + symbols[ELF64_R_SYM(list[i].r_info)].st_name;

		if (!is_address_of_symbol(list[i].r_info))
			continue;
		for (const Replacement *r = replacements; r->name != NULL; r++)
		{
			if (!has_name(name, r))
				continue;
			if (r->real != NULL)
				*(void **) r->real = dlsym(RTLD_DEFAULT, name);
			replace_entry((ElfW(Addr) *) (object->dlpi_addr + list[i].r_offset), r->function);
			replaced++;
		}
	}
	return replaced;
}

static int
replace_in(const struct dl_phdr_info *object, const Replacement *replacements)
{
	const ElfW(Sym) *symbols = NULL;
	const char *strings = NULL;
	const ElfW(Rela) *lists[2] = {NULL, NULL};
	size_t		bytes[2] = {0, 0};

	for (int i = 0; i < object->dlpi_phnum; i++)
	{
		const ElfW(Dyn) *entry = (const ElfW(Dyn) *) (object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);

		if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (; entry->d_tag != DT_NULL; entry++)
		{
			switch (entry->d_tag)
			{
				case DT_SYMTAB:
					symbols = (const void *) entry->d_un.d_ptr;
					break;
				case DT_STRTAB:
					strings = (const void *) entry->d_un.d_ptr;
					break;
				case DT_JMPREL:
					lists[0] = (const void *) entry->d_un.d_ptr;
					break;
				case DT_PLTRELSZ:
					bytes[0] = entry->d_un.d_val;
					break;
				case DT_RELA:
					lists[1] = (const void *) entry->d_un.d_ptr;
					break;
				case DT_RELASZ:
					bytes[1] = entry->d_un.d_val;
					break;
			}
		}
	}
	if (symbols == NULL || strings == NULL)
		return 0;
	return replace_in_list(object, lists[0], bytes[0], symbols, strings, replacements) +
		replace_in_list(object, lists[1], bytes[1], symbols, strings, replacements);
}

/* Counts of what was replaced in gpusort.so and elsewhere. */
typedef struct Replaced
{
	int			own;
	int			others;
} Replaced;

static int
visit(struct dl_phdr_info *object, size_t size, void *arg)
{
	Replaced   *replaced = arg;
	const char *name = object->dlpi_name;

	if (strstr(name, "/gpusort.so") != NULL)
		replaced->own += replace_in(object, own);
	else if (name[0] == '\0' || strstr(name, "/libc.so") != NULL)
		replaced->others += replace_in(object, everybody);
	return 0;
}

void
_PG_init(void)
{
	Replaced	replaced = {0, 0};

	map_control();
	if (control == &no_control)
		elog(FATAL, "FAIL_NTH_FILE names no file that can be mapped");
	(void) dl_iterate_phdr(visit, &replaced);
	if (replaced.own == 0 || replaced.others == 0)
		elog(FATAL, "there are no calls of gpusort to replace");
	*find_rendezvous_variable("gpusort_refuses_extent") = refuse_extent;
	elog(LOG, "%d calls of gpusort and %d of others can fail", replaced.own, replaced.others);
}

#endif
