/*
 * shares_test.c
 *		Shares of the pool: sorts one after the other and side by side, small ones among
 *		large ones, quotas, and counts that stay in step with owner words.
 *
 * A process is a pid here, and takes what gsd_room() says.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "protocol/gsd_holders.h"
#include "tap.h"

#define NEXTENTS	8191
#define ROLE		10
#define THREADS		4
#define ROUNDS		3000

static const gsd_limits standard = {.sort = 75, .session = 100, .role = 100};

static gsd_header *
make_header(uint32_t nextents)
{
	uint64_t	bytes = gsd_pool_bytes(nextents);
	gsd_header *header = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
							  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (header == MAP_FAILED)
		abort();
	gsd_pool_init(header, bytes, false);
	return header;
}

static void
free_header(gsd_header *header)
{
	munmap(header, header->pool_bytes);
}

static const gsd_holder *
holder_of(const gsd_header *header, uint32_t pid)
{
	for (uint32_t i = 0; i < header->holders_end; i++)
		if (header->holders[i].pid == pid)
			return &header->holders[i];
	return NULL;
}

static uint32_t
extents_of(const gsd_header *header, uint32_t pid)
{
	const gsd_holder *holder = holder_of(header, pid);

	return holder != NULL ? holder->extents : 0;
}

static uint32_t
room_of(const gsd_header *header, uint32_t pid, uint32_t role, uint32_t held, gsd_limits limits,
		bool *is_short)
{
	gsd_claim	claim = {.session = pid, .role = role, .held = held, .limits = limits};

	return gsd_room(header, &claim, is_short);
}

/* Take so many extents for a process whose sort has `held`, or what it may; returns how many. */
static uint32_t
take(gsd_header *header, uint32_t pid, uint32_t role, uint32_t held, uint32_t wanted,
	 gsd_limits limits)
{
	bool		is_short;
	uint32_t	room = room_of(header, pid, role, held, limits, &is_short);
	uint32_t	taken = 0;
	uint32_t	extent;

	while (taken < wanted && taken < room && gsd_take_any(header, gsd_owner(pid, 0), &extent))
		taken++;
	return taken;
}

/* The only sort of a process takes what it can get. */
static uint32_t
take_all(gsd_header *header, uint32_t pid)
{
	return take(header, pid, ROLE, extents_of(header, pid), NEXTENTS, standard);
}

static void
test_alone(void)
{
	gsd_header *header = make_header(NEXTENTS);
	gsd_limits	all = {.sort = 100, .session = 100, .role = 100};
	bool		is_short;

	tap_ok(room_of(header, 1, ROLE, 0, standard, &is_short) == gsd_most_extents(header, &standard),
		   "who is alone may have all that one ever may");
	gsd_enter_sort(header, 1, 1, ROLE);
	tap_ok(take_all(header, 1) == NEXTENTS * 75 / 100, "... which is the quota");
	tap_ok(room_of(header, 1, ROLE, NEXTENTS * 75 / 100, standard, &is_short) == 0 && !is_short,
		   "... and is not short of more");
	gsd_give_backend(header, 1);
	tap_ok(take(header, 1, ROLE, 0, NEXTENTS, all) == NEXTENTS - NEXTENTS / 16,
		   "a quota of all leaves the last sixteenth");
	(void) room_of(header, 1, ROLE, extents_of(header, 1), all, &is_short);
	tap_ok(!is_short, "... of which it is not short");
	free_header(header);
}

/* Sorts that begin one after the other, and all stay. */
static void
test_newcomers(void)
{
	gsd_header *header = make_header(NEXTENTS);
	bool		right = true;
	uint32_t	last = 0;

	for (uint32_t pid = 1; pid <= 6; pid++)
	{
		uint32_t	available = header->free_extents;
		uint32_t	wanted = pid <= 2 ? available * 3 / 4 : 0;

		gsd_enter_sort(header, pid, pid, ROLE);
		last = take_all(header, pid);
		tap_note("newcomer %u takes %u of %u extents", pid, last, available);
		right &= last >= wanted && last >= GSD_LEAST_EXTENTS && last <= available;
	}
	tap_ok(right, "each of six newcomers finds something");
	free_header(header);
}

/* Sorts that grow side by side, extent by extent. */
static void
test_side_by_side(void)
{
	bool		right = true;

	for (uint32_t n = 2; n <= 8; n++)
	{
		gsd_header *header = make_header(NEXTENTS);
		uint32_t	fair = 3 * NEXTENTS / (1 + 3 * n);
		bool		grown = true;

		for (uint32_t pid = 1; pid <= n; pid++)
			gsd_enter_sort(header, pid, pid, ROLE);
		while (grown)
		{
			grown = false;
			for (uint32_t pid = 1; pid <= n; pid++)
				grown |= take(header, pid, ROLE, extents_of(header, pid), 1, standard) == 1;
		}
		for (uint32_t pid = 1; pid <= n; pid++)
		{
			uint32_t	has = extents_of(header, pid);

			/* the last sixteenth is not for them */
			if (has > fair + 1 || has + 1 < fair - NEXTENTS / 16 / n)
			{
				tap_note("%u of %u has %u extents, fair are %u", pid, n, has, fair);
				right = false;
			}
		}
		free_header(header);
	}
	tap_ok(right, "sorts that grow side by side get the same");
}

/* Sessions are counted, not their workers, and not those that have none. */
static void
test_sessions(void)
{
	gsd_header *header = make_header(NEXTENTS);

	gsd_enter_sort(header, 1, 1, ROLE);
	tap_ok(gsd_other_sessions(header, 1) == 0, "alone");
	gsd_enter_sort(header, 2, 2, ROLE);
	gsd_enter_sort(header, 2, 2, ROLE);
	gsd_enter_sort(header, 3, 2, ROLE);
	tap_ok(gsd_other_sessions(header, 1) == 1 && gsd_other_sessions(header, 4) == 2,
		   "sessions, with all their sorts and workers");
	gsd_leave_sort(header, 2);
	gsd_leave_sort(header, 2);
	gsd_leave_sort(header, 3);
	tap_ok(gsd_other_sessions(header, 1) == 0, "... as long as they sort");
	free_header(header);
}

static void
test_small_sorts(void)
{
	gsd_header *header = make_header(NEXTENTS);
	bool		right = true;

	for (uint32_t pid = 1; pid <= 12; pid++)
		gsd_enter_sort(header, pid, pid, ROLE);
	for (bool grown = true; grown;)
	{
		grown = false;
		for (uint32_t pid = 1; pid <= 12; pid++)
			grown |= take(header, pid, ROLE, extents_of(header, pid), 16, standard) > 0;
	}
	tap_note("%u of %u extents are left by twelve large sorts", header->free_extents, NEXTENTS);
	for (uint32_t pid = 100; pid < 110; pid++)
	{
		gsd_enter_sort(header, pid, pid, ROLE);
		for (uint32_t has = 0; right && has < 48; has++)
			right &= take(header, pid, ROLE, has, 1, standard) == 1;
	}
	tap_ok(right, "ten small sorts get all that they ask for beside twelve large ones");
	free_header(header);
}

static void
test_wants(void)
{
	gsd_header *header = make_header(NEXTENTS);
	bool		is_short;
	uint32_t	owned;

	gsd_enter_sort(header, 1, 1, ROLE);
	gsd_enter_sort(header, 2, 2, ROLE);
	(void) take_all(header, 1);
	(void) take_all(header, 2);
	owned = extents_of(header, 2);
	tap_ok(room_of(header, 2, ROLE, owned, standard, &is_short) == 0 && is_short,
		   "the second of two large sorts is short");
	gsd_note_want(header, 2, true);

	/* the first one has given memory back, but for somewhat more than half of the pool */
	for (uint32_t i = 0; extents_of(header, 1) > NEXTENTS / 2 + 100; i++)
		gsd_give_extent(header, i, gsd_owner(1, 0));
	tap_ok(room_of(header, 1, ROLE, extents_of(header, 1), standard, &is_short) == 0 && !is_short,
		   "who has more than the even part gets nothing while another session is short");
	tap_ok(room_of(header, 2, ROLE, owned, standard, &is_short) > 0, "... which does");
	tap_ok(gsd_is_wanted(header, &(gsd_claim) {.session = 1, .role = ROLE}) &&
		   !gsd_is_wanted(header, &(gsd_claim) {.session = 2, .role = ROLE}),
		   "... and knows that it is wanted");
	gsd_note_want(header, 2, false);
	tap_ok(room_of(header, 1, ROLE, extents_of(header, 1), standard, &is_short) > 0,
		   "... until nobody is short");
	gsd_note_want(header, 2, true);
	gsd_give_backend(header, 2);
	gsd_leave_sort(header, 2);
	tap_ok(holder_of(header, 2) == NULL &&
		   room_of(header, 1, ROLE, extents_of(header, 1), standard, &is_short) > 0,
		   "... or whoever is has gone");
	free_header(header);
}

static void
test_quotas(void)
{
	gsd_header *header = make_header(NEXTENTS);
	gsd_limits	few = {.sort = 75, .session = 10, .role = 15};
	uint32_t	tenth = NEXTENTS / 10;
	bool		is_short;

	gsd_enter_sort(header, 1, 1, ROLE);
	gsd_enter_sort(header, 1, 1, ROLE);
	gsd_enter_sort(header, 2, 2, ROLE);
	tap_ok(take(header, 1, ROLE, 0, 500, few) == 500 &&
		   take(header, 1, ROLE, 0, NEXTENTS, few) == tenth - 500,
		   "two sorts of a session get its quota together");
	tap_ok(room_of(header, 1, ROLE, 0, few, &is_short) == 0 && !is_short,
		   "... and nobody else keeps them from more");
	tap_ok(take(header, 2, ROLE, 0, NEXTENTS, few) == NEXTENTS * 15 / 100 - tenth,
		   "two sessions of a role get its quota together");
	tap_ok(room_of(header, 3, ROLE, 0, few, &is_short) == 0, "... and another one nothing");
	tap_ok(room_of(header, 3, ROLE + 1, 0, few, &is_short) == tenth, "... but of another role");
	few.session = 0;
	tap_ok(room_of(header, 3, ROLE + 1, 0, few, &is_short) == 0, "a quota of nothing is nothing");
	free_header(header);
}

/* A worker's extents under its leader's pid, jobs, and processes that end. */
static void
test_counts(void)
{
	gsd_header *header = make_header(64);
	uint32_t	extent;

	gsd_enter_sort(header, 5, 5, ROLE);
	for (int i = 0; i < 3; i++)
		(void) gsd_take_any(header, gsd_owner(5, 0), &extent);
	(void) gsd_take_any(header, gsd_owner(5, 7), &extent);
	tap_ok(extents_of(header, 5) == 4, "extents of a shared sort are its leader's");
	gsd_leave_extent(header, 0, gsd_owner(5, 0), 3);
	gsd_leave_extent(header, 0, gsd_owner(5, 0), 3);
	gsd_give_extent(header, 1, gsd_owner(6, 0));
	tap_ok(extents_of(header, 5) == 3, "what is left to a job is not");
	gsd_leave_sort(header, 5);
	tap_ok(extents_of(header, 5) == 3, "who has extents has an entry");
	tap_ok(gsd_give_backend(header, 5) == 3 && extents_of(header, 5) == 0, "all are given back");
	gsd_drop_holder(header, 5);
	tap_ok(holder_of(header, 5) == NULL, "a process that ends takes its entry along");

	gsd_enter_sort(header, 8, 8, ROLE);
	tap_ok(gsd_note_kept(header, 9, 9, ROLE, 1000) && gsd_note_kept(header, 8, 8, ROLE, 500) &&
		   gsd_kept_bytes(header) == 1500, "kept memory is summed up");
	gsd_leave_sort(header, 8);
	tap_ok(holder_of(header, 8) != NULL, "who keeps memory has an entry");
	gsd_note_kept(header, 8, 8, ROLE, 0);
	gsd_drop_holder(header, 9);
	tap_ok(holder_of(header, 8) == NULL && gsd_kept_bytes(header) == 0, "... for so long");

	for (uint32_t pid = 1; pid <= GSD_MAX_HOLDERS; pid++)
		gsd_enter_sort(header, pid, pid, ROLE);
	tap_ok(!gsd_enter_sort(header, GSD_MAX_HOLDERS + 1, 1, ROLE) &&
		   !gsd_note_kept(header, GSD_MAX_HOLDERS + 1, 1, ROLE, 1), "entries may run out");
	gsd_drop_holder(header, 77);
	tap_ok(gsd_enter_sort(header, GSD_MAX_HOLDERS + 1, 1, ROLE), "... and be used again");
	free_header(header);
}

typedef struct Process
{
	gsd_header *header;
	uint32_t	pid;
	bool		in_step;
} Process;

/* Sort again and again; at each end nothing is left. */
static void *
sort_often(void *arg)
{
	Process    *self = arg;
	gsd_header *header = self->header;
	uint32_t	seed = self->pid;

	self->in_step = true;
	for (int round = 0; round < ROUNDS; round++)
	{
		uint32_t	taken = 0;

		gsd_enter_sort(header, self->pid, self->pid, ROLE);
		seed = seed * 1103515245 + 12345;
		while (taken < (seed >> 16) % 16 && take(header, self->pid, ROLE, taken, 1, standard) == 1)
			taken++;
		self->in_step &= extents_of(header, self->pid) == taken;
		if (taken < GSD_LEAST_EXTENTS)
			gsd_note_want(header, self->pid, true);
		self->in_step &= gsd_give_all(header, gsd_owner(self->pid, 0)) == taken;
		gsd_leave_sort(header, self->pid);
	}
	return NULL;
}

static void
test_threads(void)
{
	gsd_header *header = make_header(40);
	pthread_t	threads[THREADS];
	Process		processes[THREADS];
	bool		in_step = true;
	bool		empty = true;

	for (uint32_t i = 0; i < THREADS; i++)
	{
		processes[i] = (Process) {.header = header, .pid = 100 + i};
		if (pthread_create(&threads[i], NULL, sort_often, &processes[i]) != 0)
			abort();
	}
	for (uint32_t i = 0; i < THREADS; i++)
	{
		pthread_join(threads[i], NULL);
		in_step &= processes[i].in_step;
	}
	for (uint32_t i = 0; i < header->holders_end; i++)
		empty &= header->holders[i].pid == 0 && header->holders[i].extents == 0 &&
			header->holders[i].wants == 0;
	tap_ok(in_step, "counts are in step while others sort");
	tap_ok(empty && header->free_extents == 40 && header->holders_end <= THREADS,
		   "nothing is left when all have gone");
	free_header(header);
}

int
main(void)
{
	test_alone();
	test_newcomers();
	test_side_by_side();
	test_sessions();
	test_small_sorts();
	test_wants();
	test_quotas();
	test_counts();
	test_threads();
	return tap_finish();
}
