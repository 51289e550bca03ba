/*
 * plan_known.c
 *		What has been found out about the planner's relations and clauses; see
 *		plan_estimate_private.h.
 *
 * There is a table for each memory context, in that context, and it is forgotten when the context
 * is reset.  While GEQO works, there are two contexts: that of the query, with its base relations
 * and clauses; and that of the order of joins being tried, with the relations of these joins, which
 * is deleted afterwards.  Plans that are made in the same context, one after the other or one while
 * another is made, have tables of their own.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "plan/plan_estimate_private.h"

typedef struct KnownEntry
{
	const void *about;
	void	   *known;
	char		status;
} KnownEntry;

#define SH_PREFIX			known
#define SH_ELEMENT_TYPE		KnownEntry
#define SH_KEY_TYPE			const void *
#define SH_KEY				about
#define SH_HASH_KEY(tb, key) \
	((uint32) (((uintptr_t) (key) >> 3) * UINT64CONST(0x9E3779B97F4A7C15) >> 32))
#define SH_EQUAL(tb, a, b)	((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct KnownTable
{
	MemoryContext context;
	const PlannerGlobal *plan;
	known_hash *entries;
	MemoryContextCallback forget;
	struct KnownTable *next;
} KnownTable;

/* The initial size of a table, which few queries exceed. */
#define FIRST_SIZE	32

static KnownTable *tables = NULL;

static void
forget_table(void *arg)
{
	KnownTable **link = &tables;

	while (*link != arg)
		link = &(*link)->next;
	*link = (*link)->next;
}

static KnownTable *
make_table(MemoryContext context, const PlannerGlobal *plan)
{
	KnownTable *table = MemoryContextAllocZero(context, sizeof(KnownTable));

	table->context = context;
	table->plan = plan;
	table->entries = known_create(context, FIRST_SIZE, NULL);
	table->next = tables;
	tables = table;
	table->forget.func = forget_table;
	table->forget.arg = table;
	MemoryContextRegisterResetCallback(context, &table->forget);
	return table;
}

static KnownTable *
find_table(MemoryContext context, const PlannerGlobal *plan)
{
	KnownTable *table = tables;

	while (table != NULL && (table->context != context || table->plan != plan))
		table = table->next;
	return table != NULL ? table : make_table(context, plan);
}

void *
gpusort_known(PlannerInfo *root, const void *about, Size size)
{
	MemoryContext context = GetMemoryChunkContext(unconstify(void *, about));
	KnownTable *table = find_table(context, root->glob);
	bool		found;
	KnownEntry *entry = known_insert(table->entries, about, &found);

	if (!found)
	{
		entry->known = NULL;
		entry->known = MemoryContextAllocZero(context, size);
	}
	return entry->known;
}
