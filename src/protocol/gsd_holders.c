/*
 * gsd_holders.c
 *		Entries of processes that hold memory of the pool, and shares; see gsd_holders.h.
 *
 * There are no locks.  An entry is claimed by compare-and-swap of its pid, and written by the
 * process that has this pid; its count of extents is changed by whichever process changes an owner
 * word.  Low entries are claimed first, so that those in use lie together, and all of them are
 * looked at whenever a sort asks for memory.  Sums over entries that change meanwhile are right
 * soon after: the worst that comes of it is a few extents more for one sort and fewer for another.
 *
 * A process gives its entry back when it ends (gsd_drop_holder, in an exit callback).  After the
 * death of a process that could not do so, the server makes a new pool.
 */
#include "protocol/gsd_holders.h"

#define RESERVE_PART	16		/* this part of the pool is kept for small sorts */
#define SMALL_PART		64		/* a small sort has less than this part of the pool */

static gsd_holder *
find_holder(const gsd_header *header, uint32_t pid)
{
	uint32_t	end = atomic_load_explicit(&header->holders_end, memory_order_acquire);

	for (uint32_t i = 0; i < end; i++)
		if (atomic_load_explicit(&header->holders[i].pid, memory_order_relaxed) == pid)
			return (gsd_holder *) &header->holders[i];
	return NULL;
}

/* Raises holders_end to at least `end`: entries below it are looked at. */
static void
raise_end(gsd_header *header, uint32_t end)
{
	uint32_t	seen = atomic_load(&header->holders_end);

	while (seen < end && !atomic_compare_exchange_weak(&header->holders_end, &seen, end))
		;
}

/* Returns the process's entry, a new one if it has none, or NULL if no entry is free. */
static gsd_holder *
enter(gsd_header *header, uint32_t pid, uint32_t session, uint32_t role)
{
	gsd_holder *holder = find_holder(header, pid);

	for (uint32_t i = 0; holder == NULL && i < GSD_MAX_HOLDERS; i++)
	{
		uint32_t	none = 0;

		if (atomic_load_explicit(&header->holders[i].pid, memory_order_relaxed) == 0 &&
			atomic_compare_exchange_strong(&header->holders[i].pid, &none, pid))
		{
			holder = &header->holders[i];
			raise_end(header, i + 1);
		}
	}
	if (holder != NULL)
	{
		atomic_store(&holder->session, session);
		atomic_store(&holder->role, role);
	}
	return holder;
}

static void
clear(gsd_holder *holder)
{
	atomic_store(&holder->session, 0);
	atomic_store(&holder->role, 0);
	atomic_store(&holder->sorts, 0);
	atomic_store(&holder->wants, 0);
	atomic_store(&holder->extents, 0);
	atomic_store(&holder->kept_bytes, 0);
	atomic_store(&holder->pid, 0);
}

/* Frees an entry that has nothing to count any more. */
static void
clear_if_empty(gsd_holder *holder)
{
	if (holder->sorts == 0 && holder->extents == 0 && holder->kept_bytes == 0)
		clear(holder);
}

/* Lowers a count by one, unless it is 0. */
static void
lower(_Atomic uint32_t *count)
{
	uint32_t	seen = atomic_load_explicit(count, memory_order_relaxed);

	while (seen > 0 &&
		   !atomic_compare_exchange_weak_explicit(count, &seen, seen - 1, memory_order_relaxed,
												  memory_order_relaxed))
		;
}

bool
gsd_enter_sort(gsd_header *header, uint32_t pid, uint32_t session, uint32_t role)
{
	gsd_holder *holder = enter(header, pid, session, role);

	if (holder != NULL)
		atomic_fetch_add(&holder->sorts, 1);
	return holder != NULL;
}

void
gsd_leave_sort(gsd_header *header, uint32_t pid)
{
	gsd_holder *holder = find_holder(header, pid);

	if (holder == NULL)
		return;
	lower(&holder->sorts);
	if (holder->sorts == 0)
		atomic_store(&holder->wants, 0);
	clear_if_empty(holder);
}

void
gsd_note_want(gsd_header *header, uint32_t pid, bool wants)
{
	gsd_holder *holder = find_holder(header, pid);

	if (holder != NULL && wants)
		atomic_fetch_add(&holder->wants, 1);
	else if (holder != NULL)
		lower(&holder->wants);
}

bool
gsd_note_kept(gsd_header *header, uint32_t pid, uint32_t session, uint32_t role, uint64_t bytes)
{
	gsd_holder *holder;

	if (bytes == 0)
	{
		holder = find_holder(header, pid);
		if (holder != NULL)
		{
			atomic_store(&holder->kept_bytes, 0);
			clear_if_empty(holder);
		}
		return true;
	}
	holder = enter(header, pid, session, role);
	if (holder != NULL)
		atomic_store(&holder->kept_bytes, bytes);
	return holder != NULL;
}

uint64_t
gsd_kept_bytes(const gsd_header *header)
{
	uint64_t	bytes = 0;

	for (uint32_t i = 0; i < header->holders_end; i++)
		bytes += header->holders[i].kept_bytes;
	return bytes;
}

void
gsd_drop_holder(gsd_header *header, uint32_t pid)
{
	gsd_holder *holder = find_holder(header, pid);

	if (holder != NULL)
		clear(holder);
}

void
gsd_count_taken(gsd_header *header, uint32_t owner)
{
	gsd_holder *holder = (owner & GSD_OWNER_JOB) != 0 ? NULL
		: find_holder(header, gsd_owner_pid(owner));

	if (holder != NULL)
		atomic_fetch_add_explicit(&holder->extents, 1, memory_order_relaxed);
}

void
gsd_count_given(gsd_header *header, uint32_t owner)
{
	gsd_holder *holder = (owner & GSD_OWNER_JOB) != 0 ? NULL
		: find_holder(header, gsd_owner_pid(owner));

	if (holder != NULL)
		lower(&holder->extents);
}

/* What a claim's session, its role and other sessions have, as far as it matters to the claim. */
typedef struct Others
{
	uint32_t	session;		/* extents of the claim's session */
	uint32_t	role;			/* extents of the claim's role */
	uint32_t	sessions;		/* how many sessions sort, with the claim's own */
	bool		want;			/* another session is short of memory */
} Others;

static Others
look_at_others(const gsd_header *header, const gsd_claim *claim)
{
	uint32_t	end = atomic_load_explicit(&header->holders_end, memory_order_acquire);
	Others		others = {.sessions = 1};

	for (uint32_t i = 0; i < end; i++)
	{
		const gsd_holder *holder = &header->holders[i];
		uint32_t	extents = atomic_load_explicit(&holder->extents, memory_order_relaxed);

		if (holder->pid == 0)
			continue;
		if (holder->role == claim->role)
			others.role += extents;
		if (holder->session == claim->session)
			others.session += extents;
		else
		{
			/* a worker's sorts belong to its leader's session, which has an entry of its own */
			others.sessions += holder->sorts > 0 && holder->session == holder->pid;
			others.want |= holder->wants > 0;
		}
	}
	return others;
}

static uint32_t
percent_of(uint64_t extents, uint32_t percent)
{
	return (uint32_t) (extents * percent / 100);
}

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t
most(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Returns what is left of `limit` when so much of it is used. */
static uint32_t
left_of(uint32_t limit, uint32_t used)
{
	return limit - least(limit, used);
}

/*
 * Returns how much of the pool a limit leaves.  A limit of 100 % is no limit, so the whole pool:
 * where less is free, it is because of other sessions.
 */
static uint32_t
limit_leaves(uint32_t nextents, uint32_t percent, uint32_t used)
{
	return percent >= 100 ? nextents : left_of(percent_of(nextents, percent), used);
}

uint32_t
gsd_most_extents(const gsd_header *header, const gsd_limits *limits)
{
	uint32_t	percent = least(limits->sort, least(limits->session, limits->role));
	uint32_t	nextents = header->nextents;

	return least(percent_of(nextents, percent),
				 most(nextents - nextents / RESERVE_PART, GSD_LEAST_EXTENTS));
}

uint32_t
gsd_other_sessions(const gsd_header *header, uint32_t session)
{
	gsd_claim	claim = {.session = session};

	return look_at_others(header, &claim).sessions - 1;
}

bool
gsd_is_wanted(const gsd_header *header, const gsd_claim *claim)
{
	Others		others = look_at_others(header, claim);

	return others.want && others.session > header->nextents / others.sessions;
}

uint32_t
gsd_room(const gsd_header *header, const gsd_claim *claim, bool *is_short)
{
	const gsd_limits *limits = &claim->limits;
	Others		others = look_at_others(header, claim);
	uint32_t	nextents = header->nextents;
	uint32_t	held = claim->held;
	uint32_t	even = nextents / others.sessions;
	uint32_t	available = atomic_load_explicit(&header->free_extents, memory_order_relaxed);
	uint32_t	allowed;
	uint32_t	room;

	allowed = least(left_of(gsd_most_extents(header, limits), held),
					least(limit_leaves(nextents, limits->session, others.session),
						  limit_leaves(nextents, limits->role, others.role)));

	room = left_of(percent_of((uint64_t) held + available, limits->sort), held);	/* (2) */
	room = most(least(room, left_of(available, nextents / RESERVE_PART)),	/* (3) */
				least(room, left_of(nextents / SMALL_PART, held)));
	if (others.want)
		room = least(room, left_of(even, others.session));	/* (4) */
	room = most(room, left_of(GSD_LEAST_EXTENTS, held));	/* (5) */
	room = least(room, available);	/* (1) */

	*is_short = room < allowed && others.session + room < even;
	return least(room, allowed);
}
