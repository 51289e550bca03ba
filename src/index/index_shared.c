/*
 * index_shared.c
 *		Lays out the shared memory of an index build by several processes; see index_shared.h.
 */
#include "postgres.h"

#include "index/index_shared.h"
#include "memory/pool.h"
#include "worker_start.h"

/* Key of the first part in the table of contents; the others follow. */
#define FIRST_KEY		UINT64CONST(0x4753000000000001)

typedef enum Part
{
	PART_BUILD,
	PART_SCAN,
	PART_ROW_QUEUES,
	PART_NOTE_QUEUES,
	PART_VIEW,
	PART_TEAM,
	PARTS
} Part;

static void
set_parts(GpuSortSharedMemory *memory, void **parts)
{
	memory->build = parts[PART_BUILD];
	memory->scan = parts[PART_SCAN];
	memory->row_queues = parts[PART_ROW_QUEUES];
	memory->note_queues = parts[PART_NOTE_QUEUES];
	memory->view = parts[PART_VIEW];
	memory->team = parts[PART_TEAM];
}

/* Allocate the parts whose size is not 0.  Returns false if there is no shared memory. */
static bool
make_parts(ParallelContext *context, const Size *bytes, void **parts)
{
	for (int i = 0; i < PARTS; i++)
	{
		if (bytes[i] == 0)
			continue;
		shm_toc_estimate_chunk(&context->estimator, bytes[i]);
		shm_toc_estimate_keys(&context->estimator, 1);
	}
	if (!gpusort_init_parallel_context(context))
		return false;
	for (int i = 0; i < PARTS; i++)
	{
		if (bytes[i] == 0)
			continue;
		parts[i] = shm_toc_allocate(context->toc, bytes[i]);
		shm_toc_insert(context->toc, FIRST_KEY + i, parts[i]);
	}
	return true;
}

bool
gpusort_shared_create(GpuSortSharedMemory *memory, ParallelContext *context, Size scan_bytes)
{
	int			workers = context->nworkers;
	bool		can_write = gpusort_pool != NULL;
	void	   *parts[PARTS] = {NULL};
	Size		bytes[PARTS] = {
		[PART_BUILD] = sizeof(GpuSortSharedBuild),
		[PART_SCAN] = scan_bytes,
		[PART_ROW_QUEUES] = gpusort_exchange_bytes(workers),
		[PART_NOTE_QUEUES] = can_write ? gpusort_notes_bytes(workers) : 0,
		[PART_VIEW] = can_write ? gpusort_shared_view_bytes() : 0,
		[PART_TEAM] = gpusort_team_bytes()
	};

	if (!make_parts(context, bytes, parts))
		return false;
	set_parts(memory, parts);
	return true;
}

void
gpusort_shared_find(GpuSortSharedMemory *memory, shm_toc *toc)
{
	void	   *parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		parts[i] = shm_toc_lookup(toc, FIRST_KEY + i, true);
	set_parts(memory, parts);
}
