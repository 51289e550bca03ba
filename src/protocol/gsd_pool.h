/*
 * gsd_pool.h
 *		The pool: memory that the server's processes share with gpusortd, and
 *		the jobs that pass through it.
 *
 * This file is plain C11, and is included by the extension and by the daemon, which map the same
 * memfd at different addresses.  So everything in the pool is numbers: extents, not pointers.
 *
 *	header | owners, one word an extent | states, one byte an extent |
 *	extents of 2 MB ...
 *
 * The memfd is made anew whenever the server (re)initialises shared memory, so a daemon that
 * outlives a crash of the server keeps the old pool to itself and can't write into the new one.
 *
 * An extent belongs to a backend (by pid), to a sort that several share or, when the backend has
 * left a job behind that the daemon may still be writing for, to that job; nobody else touches it.
 *
 * A job has two state words, each written by its side.  For a daemon that is dead, after it was
 * reaped, the supervisor writes the daemon's word.  The supervisor also frees jobs that backends
 * have abandoned, and then sets the backend's word to NONE:
 *
 *	backend   NONE -> CLAIMED -> OPEN -> RUN -> CLOSED -> NONE
 *	daemon    IDLE -> OPENED -> RUNNING -> DONE | FAILED -> IDLE
 *
 * The daemon goes to IDLE only after it has seen CLOSED and no device touches the job's extents any
 * more.  A slot (an element of jobs[]) is free when it is NONE and IDLE.  What a side needs to know
 * about a state is written before the state and read after it.
 *
 * A backend that finds IDLE after it has set CLOSED may take its extents away, although the daemon
 * may not have seen the job yet.  So a daemon that leaves IDLE, or a supervisor that fails a job
 * for a dead daemon, looks at the backend's state again afterwards, and goes back to IDLE, with
 * nothing touched, if the job is not open any more.  For that to work, states are read and written
 * sequentially consistent (the plain operators on _Atomic are).
 */
#ifndef GSD_POOL_H
#define GSD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/gs_engine.h"
#include "parse/gs_dialect.h"

#define GSD_MAGIC			UINT64_C(0x67707573727430)
#define GSD_ABI_VERSION		9

#define GSD_EXTENT_SHIFT	21
#define GSD_EXTENT_BYTES	(UINT64_C(1) << GSD_EXTENT_SHIFT)
#define GSD_EXTENT_WORDS	(GSD_EXTENT_BYTES / sizeof(uint64_t))	/* words that fill an extent */
#define GSD_MAX_JOBS		64
#define GSD_MAX_DEVICES		16
#define GSD_MAX_HOLDERS		4096
#define GSD_MAX_SPANS		512

/*
 * An element of owners[] is GSD_OWNER_NONE, a backend's owner word, GSD_OWNER_JOB | job number, or
 * GSD_OWNER_DAEMON.  The lower bits of a backend's owner word are its pid, which is below 2^22 on
 * Linux.  Above them is the number, from 1, of a sort of the backend that several processes collect
 * rows for, or 0 for what is the backend's alone.
 */
#define GSD_OWNER_NONE		0u
#define GSD_OWNER_JOB		0x80000000u
#define GSD_OWNER_DAEMON	(GSD_OWNER_JOB | GSD_MAX_JOBS)
#define GSD_OWNER_PID_BITS	22
#define GSD_OWNER_SORTS		(1u << (31 - GSD_OWNER_PID_BITS))

static inline uint32_t
gsd_owner(uint32_t pid, uint32_t sort)
{
	return sort << GSD_OWNER_PID_BITS | pid;
}

/* Returns the pid in a backend's owner word. */
static inline uint32_t
gsd_owner_pid(uint32_t owner)
{
	return owner & ((1u << GSD_OWNER_PID_BITS) - 1);
}

static inline bool
gsd_owner_is_backend(uint32_t owner, uint32_t pid)
{
	return (owner & (GSD_OWNER_JOB | ((1u << GSD_OWNER_PID_BITS) - 1))) == pid;
}

/*
 * What the memory behind an extent is like.  Memory of the pool stays with the pool once it has
 * been touched, so the state of an extent only ever moves down this list.
 */
typedef enum gsd_extent_state
{
	GSD_EXTENT_FRESH,			/* not, or not all, of it has been touched */
	GSD_EXTENT_POPULATED,		/* all of it is there, in small pages */
	/* all is there in small pages, and the system could not make a huge page of it */
	GSD_EXTENT_SMALL,
	GSD_EXTENT_HUGE				/* it is one huge page, so that mapping it costs nothing */
} gsd_extent_state;

typedef enum gsd_backend_state
{
	GSD_BACKEND_NONE,
	GSD_BACKEND_CLAIMED,		/* the descriptor is being written */
	GSD_BACKEND_OPEN,			/* the descriptor is there, rows are still being collected */
	GSD_BACKEND_RUN,			/* all rows are there: the job is to be sorted */
	GSD_BACKEND_CLOSED			/* the backend is no longer interested in the job */
} gsd_backend_state;

typedef enum gsd_daemon_state
{
	GSD_DAEMON_IDLE,
	GSD_DAEMON_OPENED,
	GSD_DAEMON_RUNNING,
	GSD_DAEMON_DONE,
	GSD_DAEMON_FAILED			/* message and failure say why */
} gsd_daemon_state;

/* What a failed job says about the next one. */
typedef enum gsd_failure
{
	GSD_FAILURE_NONE,
	GSD_FAILURE_JOB,			/* only this job fails: it is too large, or its arguments are bad */
	/* a device has failed, and the daemon may end and be started again */
	GSD_FAILURE_DEVICE,
	GSD_FAILURE_GONE			/* the daemon has died */
} gsd_failure;

/*
 * The memory of a plane or of a result: the extents list[first .. first + count) of the
 * descriptor.  For rows and planes that are fed, the backend raises the count while the daemon
 * reads it.
 */
typedef struct gsd_extents
{
	uint32_t	first;
	_Atomic uint32_t count;
} gsd_extents;

typedef struct gsd_plane
{
	gsd_extents words;
	gsd_extents nulls;			/* count 0: no row is null */
	uint32_t	null_order;		/* gs_null_order */
	/* 1: words are bytes of strings, to be numbered if it pays (gs_layout.h) */
	uint32_t	bytes;
} gsd_plane;

/*
 * Rows that are to be brought into the order found by the sort.  The rows, and the references that
 * point to them, are as gs_stored_rows describes.
 */
typedef struct gsd_rows
{
	gsd_extents rows;			/* count 0: not wanted */
	gsd_extents refs;
	gsd_extents to_rows;		/* out */
	gsd_extents to_refs;		/* out */
	uint64_t	row_bytes;
	uint64_t	stride;
	uint64_t	unit;
	uint64_t	length_shift;
	uint64_t	length_mask;
} gsd_rows;

/*
 * Delimited text whose records and fields are to be found, in chunks.  Each chunk begins with a
 * record and has an extent of its own.  The extent holds the chunk's bytes and, from
 * GSD_CHUNK_BYTES on, what is found: first where fields end, and then how many fields there are up
 * to the end of each record, as parse/gs_parse.h describes.
 */
#define GSD_CHUNK_BYTES		(UINT32_C(1) << 20)
/* at most so many fields of a chunk are found */
#define GSD_CHUNK_FIELDS	(UINT32_C(192) << 10)
#define GSD_CHUNK_RECORDS	(UINT32_C(64) << 10)
#define GSD_MAX_CHUNKS		32

/* A device finds the fields of so many bytes of text in the time in which it sorts a row. */
#define GSD_TEXT_ROW_BYTES	16

typedef struct gsd_chunk
{
	uint32_t	extent;
	uint32_t	bytes;
	gs_found	found;			/* out */
} gsd_chunk;

static inline uint32_t *
gsd_chunk_field_ends(void *extent)
{
	return (uint32_t *) ((char *) extent + GSD_CHUNK_BYTES);
}

static inline uint32_t *
gsd_chunk_record_fields(void *extent)
{
	return gsd_chunk_field_ends(extent) + GSD_CHUNK_FIELDS;
}

typedef struct gsd_text
{
	uint8_t		csv;			/* as in gs_dialect */
	uint8_t		delimiter;
	uint8_t		quote;
	uint8_t		escape;
	uint8_t		newline;
	uint8_t		csv_end_marker;
	uint32_t	nchunks;
	gsd_chunk	chunks[GSD_MAX_CHUNKS];
} gsd_text;

typedef enum gsd_job_kind
{
	GSD_JOB_SORT,
	GSD_JOB_TEXT
} gsd_job_kind;

/* What a device did for a job that is traced; times are ms of the machine's monotonic clock. */
typedef struct gsd_span
{
	char		name[16];
	uint32_t	device;
	uint32_t	queue;			/* gs_queue; spans of one queue follow each other */
	double		begin_ms;
	double		end_ms;
} gsd_span;

/*
 * A job's descriptor fills one extent: this struct, then the list of extent numbers up to the
 * extent's end.  Every plane and result has a stretch of the list for itself, laid out before the
 * job is opened, so that planes can grow side by side.
 *
 * While the job is open, nplanes and expected_rows are meaningful, and the planes' words as far as
 * they are fed: the words of rows below fed_rows[i] of plane i are final, so that they may be
 * uploaded ahead.  The backend raises fed_rows[i] (with release semantics) by whole extents, after
 * it has written the words and the list.  In the same way the first fed_row_bytes bytes of the
 * rows, whose extents are listed at rows.rows, are final.  When the job is run, everything is
 * meaningful.
 *
 * A job about text is run at once.  It has no planes and results, and its ready_rows counts chunks.
 */
typedef struct gsd_descriptor
{
	uint32_t	kind;			/* gsd_job_kind */
	gsd_text	text;
	uint64_t	nrows;			/* for text, its bytes / GSD_TEXT_ROW_BYTES */
	uint64_t	expected_rows;
	uint32_t	nplanes;
	uint32_t	id_bytes;
	gsd_extents ids;			/* out */
	gsd_extents equal;			/* out; count 0: not wanted */
	gsd_plane	planes[GS_MAX_PLANES];
	_Atomic uint64_t fed_rows[GS_MAX_PLANES];	/* rows of each plane that are fed; 0: none */
	gsd_rows	rows;
	_Atomic uint64_t fed_row_bytes;
	uint32_t	traced;			/* 1: spans are wanted */
	_Atomic uint32_t nspans;	/* out; like spans, complete when DONE */
	gsd_span	spans[GSD_MAX_SPANS];
	uint32_t	list_size;		/* how many entries of list[] may be read */
	uint32_t	list[];
} gsd_descriptor;

#define GSD_LIST_MAX ((GSD_EXTENT_BYTES - sizeof(gsd_descriptor)) / sizeof(uint32_t))

typedef struct gsd_result
{
	uint32_t	key_bits;
	uint32_t	devices;
	uint32_t	rounds;
	uint32_t	histograms;
	uint32_t	buckets;
	uint32_t	presorted;
	uint64_t	exchanged_rows;
	uint64_t	refined_rows;
	double		device_ms;		/* from RUN seen to the last id ready */
	double		reorder_ms;		/* from there to the last row in place */
} gsd_result;

typedef struct gsd_job
{
	/* written by the backend; by the supervisor, too, when it frees an abandoned job */
	_Atomic uint32_t backend_state;
	_Atomic uint32_t cancel;	/* set with CLOSED: stop as soon as possible */
	/* set with CLOSED, 1: no backend waits, and the supervisor may free the job; 2: it does */
	_Atomic uint32_t abandoned;
	_Atomic uint32_t waiter;	/* pid of the process that sleeps until there is news; 0: none */
	_Atomic uint32_t claims;	/* how many jobs have had this slot, to tell one from another */
	uint32_t	pid;
	uint32_t	descriptor;		/* number of the extent that holds it */

	/* written by the daemon; the counts are 0 when a job is claimed */
	_Atomic uint32_t daemon_state;
	_Atomic uint64_t ready_rows;	/* ids that are in place; all of them when DONE */
	/* rows in place, once all ids are; final when DONE or FAILED */
	_Atomic uint64_t reordered_rows;
	uint32_t	failure;		/* gsd_failure */
	gsd_result	result;			/* complete from the first ready row on */
	char		message[200];
} gsd_job;

typedef struct gsd_device_info
{
	char		name[64];
	uint64_t	memory_bytes;
	uint64_t	arena_bytes;
	uint32_t	number;
	uint32_t	peers;			/* bit i is set: it reaches the memory of device i of this table */
} gsd_device_info;

typedef enum gsd_service_state
{
	GSD_SERVICE_OFF,			/* gpusort.daemon = off */
	GSD_SERVICE_STARTING,		/* the daemon was forked, its devices are not open yet */
	GSD_SERVICE_UP,
	GSD_SERVICE_DOWN,			/* the daemon has died, or could not start; tried again */
	GSD_SERVICE_NO_DEVICE		/* there is no device to run on; not tried again */
} gsd_service_state;

/*
 * The state of the service.  The supervisor writes it, but for the devices and counters, which the
 * daemon writes.
 */
typedef struct gsd_service
{
	_Atomic uint32_t state;
	_Atomic uint32_t supervisor_pid;	/* 0: there is none */
	_Atomic uint32_t daemon_pid;	/* 0: none is alive */
	_Atomic uint32_t starts;	/* how many daemons were started */
	/* when the running daemon was started, in us since the Unix epoch */
	_Atomic uint64_t started_us;
	char		message[200];	/* why the service is not up */

	uint32_t	engine;			/* 1: CUDA devices, 0: simulated devices */
	uint32_t	ndevices;
	gsd_device_info devices[GSD_MAX_DEVICES];
	_Atomic uint64_t jobs_done;
	_Atomic uint64_t jobs_failed;
	_Atomic uint64_t jobs_cancelled;
	_Atomic uint64_t rows_sorted;
	_Atomic uint64_t device_bytes_used;	/* arena memory in use, on all devices */
	_Atomic uint64_t fallbacks; /* sorts that went back to the host engine; backends count them */
} gsd_service;

/* A process that holds memory of the pool, or would like to (gsd_holders.h). */
typedef struct gsd_holder
{
	_Atomic uint32_t pid;		/* 0: the entry is free */
	_Atomic uint32_t session;	/* pid of the leader that it works for, or its own */
	_Atomic uint32_t role;		/* role of the session */
	_Atomic uint32_t sorts;		/* how many sorts the process has */
	_Atomic uint32_t wants;		/* sorts of this process that have got less than they asked for */
	_Atomic uint32_t extents;	/* extents whose owner word has its pid */
	_Atomic uint64_t kept_bytes;	/* private memory kept for its next sort */
} gsd_holder;

typedef struct gsd_header
{
	uint64_t	magic;
	uint32_t	abi_version;
	uint32_t	extent_shift;
	uint64_t	pool_bytes;		/* size of the whole memfd */
	uint64_t	extents_offset; /* where extent 0 begins, a multiple of GSD_EXTENT_BYTES */
	uint32_t	nextents;
	uint32_t	huge;			/* backed by MFD_HUGETLB pages */
	_Atomic uint32_t free_extents;	/* at least as many as are free */
	_Atomic uint32_t hint;		/* hardly any extent below this one is free */
	_Atomic uint32_t rings;		/* how often gpusortd was asked to look; see gsd_wake.h */
	_Atomic uint32_t collapsing;	/* how many sessions make a huge page now; see gsd_collapse.h */
	_Atomic uint64_t collapse_at_ms;	/* when a session may make a huge page; 0: any time */
	/* when one may try an extent in small pages again; 0: any time */
	_Atomic uint64_t retry_at_ms;
	gsd_service service;
	gsd_job		jobs[GSD_MAX_JOBS];
	_Atomic uint32_t holders_end;	/* entries from here on were never used */
	gsd_holder	holders[GSD_MAX_HOLDERS];
	_Atomic uint32_t owners[];	/* by extent; nextents of them */
} gsd_header;

/* A process's view of the pool. */
typedef struct gsd_pool
{
	gsd_header *header;			/* where the memfd is mapped */
	int			fd;
} gsd_pool;

static inline void *
gsd_extent(const gsd_pool *pool, uint32_t extent)
{
	return (char *) pool->header + pool->header->extents_offset +
		((uint64_t) extent << GSD_EXTENT_SHIFT);
}

static inline uint64_t
gsd_extent_offset(const gsd_pool *pool, uint32_t extent)
{
	return pool->header->extents_offset + ((uint64_t) extent << GSD_EXTENT_SHIFT);
}

/*
 * Returns the word that says what the memory of an extent is like: a gsd_extent_state, which the
 * extent's owner sets.
 */
static inline _Atomic uint8_t *
gsd_extent_state_of(gsd_header *header, uint32_t extent)
{
	return (_Atomic uint8_t *) (header->owners + header->nextents) + extent;
}

/* Returns how many bytes a memfd with so many extents has, header included. */
extern uint64_t gsd_pool_bytes(uint32_t nextents);

/* Sets up an empty pool in zeroed memory. */
extern void gsd_pool_init(gsd_header *header, uint64_t pool_bytes, bool huge);

/* Returns NULL if this code can work with the header, else what is wrong with it. */
extern const char *gsd_pool_check(const gsd_header *header, uint64_t pool_bytes);

/*
 * Take and give extents.  gsd_take_extent() takes a particular extent if it is free, and
 * gsd_take_any() one that is free, low ones first, so that the extents in use lie together and
 * memory that was never needed stays untouched; both return false if there is none.  Giving or
 * leaving an extent that does not belong to `owner` does nothing.
 */
extern bool gsd_take_extent(gsd_header *header, uint32_t extent, uint32_t owner);
extern bool gsd_take_any(gsd_header *header, uint32_t owner, uint32_t *extent);
extern void gsd_give_extent(gsd_header *header, uint32_t extent, uint32_t owner);

/*
 * Takes `count` extents that lie side by side, the highest that there are, and sets *first; returns
 * false if there are none.
 */
extern bool gsd_take_row(gsd_header *header, uint32_t count, uint32_t owner, uint32_t *first);

/* Makes an extent of `owner` the property of a job that the daemon may still write for. */
extern void gsd_leave_extent(gsd_header *header, uint32_t extent, uint32_t owner, uint32_t job);

/*
 * gsd_give_all() gives back all extents that have this owner word, gsd_give_backend() all that have
 * any owner word of a backend.  Both return how many extents they gave back.  These two functions
 * and the four above may be called in signal handlers.
 */
extern uint32_t gsd_give_all(gsd_header *header, uint32_t owner);
extern uint32_t gsd_give_backend(gsd_header *header, uint32_t pid);

/*
 * Claims a free job for the backend `pid`, whose extents the job will use, and returns its number,
 * or -1 if no job is free.  Sets the job's pid, and clears cancel, abandoned and waiter.
 */
extern int	gsd_claim_job(gsd_header *header, uint32_t pid);

/*
 * Frees all jobs that are CLOSED, abandoned and IDLE, with their extents, and returns how many they
 * were.
 */
extern unsigned gsd_reap_jobs(gsd_header *header);

/*
 * Plays the part of the daemon when none is alive and the last one was reaped.  Jobs that are OPEN
 * or RUN become FAILED with GSD_FAILURE_GONE, unless they are DONE, and their backends are woken;
 * all other jobs become IDLE.  The daemon's extents are given back.  May be called again and again
 * until the next daemon is started.
 */
extern void gsd_daemon_died(gsd_header *header);

/* ---------- exit: what gpusortd's exit status tells its supervisor ---------- */

typedef enum gsd_exit
{
	GSD_EXIT_ASKED = 0,			/* it was asked to end */
	GSD_EXIT_USAGE = 1,			/* its command line makes no sense */
	GSD_EXIT_NO_DEVICE = 3,		/* there is no device to sort on */
	GSD_EXIT_WRONG_POOL = 4,	/* the pool was made by another version */
	GSD_EXIT_DEVICE_LOST = 5,
	GSD_EXIT_NO_MEMORY = 6,
	GSD_EXIT_DEVICE_WRONG = 7,	/* its devices have sorted wrongly, more than once */
	GSD_EXIT_NO_CUDA = 8,		/* it was built without CUDA, and there is no other device */
	GSD_EXIT_NO_PROGRAM = 127	/* the program does not exist; a child of the supervisor ends so */
} gsd_exit;

/*
 * Returns whether the next gpusortd would end in the same way as one that ended with this status.
 * It would not if that one has lost a device or found no memory, nor if it was ended by a signal,
 * for which status is below 0.
 */
extern bool gsd_exit_is_permanent(int status);

#endif							/* GSD_POOL_H */
