/*
 * sort_lent.c
 *		A sort of one process, lent to others; see team_private.h.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "memory/pool.h"
#include "sort/memory_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

/* ---------- by the process that has it ---------- */

/*
 * Appends data to a description, and aligns what follows.  Returns the offset of the data from
 * `start`, where the description begins.
 */
static size_t
append(StringInfo to, size_t start, const void *data, size_t bytes)
{
	static const char zeros[MAXIMUM_ALIGNOF] = {0};
	size_t		offset = to->len - start;

	if (bytes > 0)
		appendBinaryStringInfo(to, data, (int) bytes);
	appendBinaryStringInfo(to, zeros, (int) (MAXALIGN(bytes) - bytes));
	return offset;
}

/* Appends the columns of rows: all that a descriptor without a type and without defaults needs. */
static size_t
append_desc(StringInfo to, size_t start, TupleDesc desc)
{
	size_t		offset = to->len - start;

	for (int i = 0; i < desc->natts; i++)
	{
		FormData_pg_attribute att = {0};

		memcpy(&att, TupleDescAttr(desc, i), ATTRIBUTE_FIXED_PART_SIZE);
		append(to, start, &att, sizeof(att));
	}
	return offset;
}

static void
append_spec(StringInfo to, size_t start, const GpuSortSpec *spec, LentSort *lent)
{
	lent->kind = spec->kind;
	lent->nkeys = spec->nkeys;
	lent->attnos = append(to, start, spec->attnos, spec->nkeys * sizeof(AttrNumber));
	lent->sortops = append(to, start, spec->sortops, spec->nkeys * sizeof(Oid));
	lent->collations = append(to, start, spec->collations, spec->nkeys * sizeof(Oid));
	lent->nulls_first = append(to, start, spec->nulls_first, spec->nkeys * sizeof(bool));
}

/* Ranges of a sort that are being listed. */
typedef struct Listing
{
	StringInfo	list;
	StringInfoData ranges;
	uint32		total;
	int			first_plane_role;
} Listing;

/*
 * Lists the first `bytes` bytes of a range.  Returns false if some of them are private memory,
 * which other processes can't map.
 */
static bool
list_range(const GpuSortRange *range, size_t bytes, Listing *listing)
{
	LentRange	lent = {.role = range->role,.bytes = bytes};

	if (!gpusort_team_job_describe(range, bytes, &lent.piece, &listing->total))
		return false;
	enlargeStringInfo(listing->list, lent.piece.count * sizeof(uint32));
	gpusort_team_job_list(range, lent.piece, (uint32 *) listing->list->data);
	listing->list->len = listing->total * sizeof(uint32);
	appendBinaryStringInfo(&listing->ranges, (const char *) &lent, sizeof(lent));
	return true;
}

/*
 * A GpuSortRangeVisitor: lists the planes of columns that the engine has not sorted by, or that the
 * refinement uses as scratch memory.  These are the planes from the column where refinement begins
 * on.
 */
static bool
list_plane(GpuSortRange **range, size_t bytes, void *arg)
{
	Listing    *listing = arg;

	return (*range)->role < listing->first_plane_role || list_range(*range, bytes, listing);
}

static bool
list_ranges(GpuSort *sort, LentSort *lent, Listing *listing)
{
	const GpuSortOrder *order = &sort->order;
	const GpuSortRows *rows = &sort->rows;
	bool		refined = order->refined != NULL && order->ids == RANGE_U32(order->refined);
	const GpuSortRange *in_order = refined ? order->refined : order->workspace;

	lent->order_role = in_order->role;
	lent->order_offset = (const char *) order->ids - in_order->base;
	return list_range(rows->store, rows->used, listing) &&
		list_range(rows->refs, rows->places.uniform ? 0 : rows->count * sizeof(uint32), listing) &&
		list_range(in_order, lent->order_offset + rows->count * sizeof(uint32), listing) &&
		(!(sort->tells_equal || lent->refines) ||
		 list_range(order->equal, gpusort_bitmap_bytes(rows->count), listing)) &&
		(!lent->refines ||
		 (list_range(order->workspace, order->workspace->usable, listing) &&
		  gpusort_visit_planes(sort, rows->count, list_plane, listing)));
}

/*
 * Returns how much private memory each process that helps may use.  In a query that is as much as
 * this process has left, just as every worker of a parallel query may use work_mem: with less, the
 * keys of wide strings would be made again and again.  In a build the processes divide what is
 * left, since a build's memory is for all of them together.
 */
static size_t
memory_of_each(GpuSort *sort)
{
	size_t		used = gpusort_private_bytes(sort);
	size_t		limit = sort->memory.limit_bytes;
	size_t		left = limit - Min(used, limit);

	return gpusort_kind_is_build(sort->spec.kind) ? left / sort->team.participants : left;
}

static void
append_bases(StringInfo to, size_t start, const GpuSortKeys *keys, LentSort *lent)
{
	uint32	   *bases = palloc(keys->ncolumns * sizeof(uint32));

	for (int i = 0; i < keys->ncolumns; i++)
		bases[i] = keys->columns[i].base;
	lent->bases = append(to, start, bases, keys->ncolumns * sizeof(uint32));
	pfree(bases);
}

bool
gpusort_lend(GpuSort *sort, bool refines, StringInfo to, StringInfo list)
{
	const GpuSortRowPlaces *places = &sort->rows.places;
	size_t		start = to->len;
	LentSort	lent = {
		.natts = sort->desc->natts,.index_rows = sort->index_rows,.tells_equal = sort->tells_equal,
		.tids_ordered = sort->index.tids_ordered,
		.nrows = sort->rows.count,.rows_used = sort->rows.used,
		.places = *places,.refines = refines,.refine_column = sort->keys.refine_column,
		.participants = sort->team.participants,.memory_bytes = memory_of_each(sort)
	};
	Listing		listing = {
		.list = list,.first_plane_role = GPUSORT_PLANE_ROLE(Max(sort->keys.refine_column, 0), 0)
	};

	initStringInfo(&listing.ranges);
	if (sort->key_rows.used || places->base != sort->rows.store->base ||
		!list_ranges(sort, &lent, &listing))
		return false;
	append(to, start, &lent, sizeof(lent));
	append_spec(to, start, &sort->spec, &lent);
	append_bases(to, start, &sort->keys, &lent);
	lent.desc = append_desc(to, start, sort->desc);
	lent.granules = append(to, start, places->granule_offsets,
						   (places->granule_rows >> GPUSORT_GRANULE_SHIFT) * sizeof(size_t));
	lent.nranges = listing.ranges.len / sizeof(LentRange);
	lent.ranges = append(to, start, listing.ranges.data, listing.ranges.len);
	memcpy(to->data + start, &lent, sizeof(lent));
	pfree(listing.ranges.data);
	return true;
}

/* ---------- by others ---------- */

static inline void *
part_of(const LentSort *lent, size_t offset)
{
	return (char *) lent + offset;
}

static GpuSortSpec
spec_of(const LentSort *lent)
{
	return (GpuSortSpec) {
		.nkeys = lent->nkeys,
		.attnos = part_of(lent, lent->attnos),
		.sortops = part_of(lent, lent->sortops),
		.collations = part_of(lent, lent->collations),
		.nulls_first = part_of(lent, lent->nulls_first),
		.kind = lent->kind
	};
}

/*
 * Returns how much of a helping process's private memory its encoders may hold; the rest is for
 * keys, which are kept behind the rows (bytes_of_keys()).
 */
static size_t
bytes_of_encoders(const LentSort *lent)
{
	return gpusort_encoders_limit(Max(lent->memory_bytes, 1));
}

static size_t
bytes_of_keys(const LentSort *lent)
{
	return lent->memory_bytes - Min(bytes_of_encoders(lent), lent->memory_bytes);
}

static char *
map_range(const TeamJob *job, const LentSort *lent, const LentRange *from)
{
	if (from->role == GPUSORT_RANGE_ROWS)
	{
		size_t		more = lent->refines ? bytes_of_keys(lent) : 0;

		return gpusort_team_job_map_with_room(job, from->piece,
											  (more + EXTENT_BYTES - 1) / EXTENT_BYTES);
	}
	return gpusort_team_job_map(job, from->piece, from->role != GPUSORT_RANGE_ROW_REFS &&
								(lent->refines || from->role == GPUSORT_RANGE_EQUAL));
}

static TupleDesc
desc_of(const LentSort *lent)
{
	Form_pg_attribute *attributes = palloc(lent->natts * sizeof(Form_pg_attribute));
	char	   *first = part_of(lent, lent->desc);

	for (int i = 0; i < lent->natts; i++)
		attributes[i] = (Form_pg_attribute) (first + i * MAXALIGN(sizeof(FormData_pg_attribute)));
	return CreateTupleDesc(lent->natts, attributes);
}

/* Maps the ranges of a lent sort.  Returns false if there is no address space. */
static bool
map_ranges(const TeamJob *job, const LentSort *lent, GpuSort *sort)
{
	const LentRange *ranges = part_of(lent, lent->ranges);

	for (int i = 0; i < lent->nranges; i++)
	{
		const LentRange *from = &ranges[i];
		GpuSortRange *range = palloc0(sizeof(GpuSortRange));

		if (from->piece.count > 0 && (range->base = map_range(job, lent, from)) == NULL)
			return false;
		range->role = from->role;
		range->usable = from->bytes;
		*gpusort_sort_range_of_role(sort, from->role) = range;
	}
	return true;
}

static void
place_rows(const LentSort *lent, GpuSort *sort)
{
	GpuSortRows *rows = &sort->rows;

	rows->count = lent->nrows;
	rows->used = TYPEALIGN(EXTENT_BYTES, lent->rows_used);
	rows->end = rows->used + (lent->refines ? bytes_of_keys(lent) : 0);
	rows->places = lent->places;
	rows->places.base = rows->store->base;
	rows->places.refs = RANGE_U32(rows->refs);
	rows->places.granule_offsets = part_of(lent, lent->granules);
	/* rows and their references are read at random */
	gpusort_mapping_populate(rows->store->base, lent->rows_used);
}

/* Makes the encoders and the scratch memory with which keys are made. */
static void
begin_keys(const LentSort *lent, GpuSort *sort)
{
	const uint32 *bases = part_of(lent, lent->bases);

	gpusort_begin_columns(&sort->keys, sort->desc, &sort->spec, bytes_of_encoders(lent));
	for (int i = 0; i < sort->keys.ncolumns; i++)
		sort->keys.columns[i].base = bases[i];
	sort->keys.refine_column = lent->refine_column;
	sort->scratch = AllocSetContextCreate(CurrentMemoryContext, "gpusort keys",
										  ALLOCSET_DEFAULT_SIZES);
}

GpuSort *
gpusort_borrow(const TeamJob *job, const LentSort *lent)
{
	GpuSort    *sort = palloc0(sizeof(GpuSort));
	GpuSortOrder *order = &sort->order;
	const GpuSortRange *in_order;

	sort->context = CurrentMemoryContext;
	sort->is_borrowed = true;
	sort->desc = desc_of(lent);
	sort->spec = spec_of(lent);
	sort->index_rows = lent->index_rows;
	sort->tells_equal = lent->tells_equal;
	sort->index.tids_ordered = lent->tids_ordered;
	sort->team.participants = lent->participants;
	if (lent->refines)
		begin_keys(lent, sort);
	if (!map_ranges(job, lent, sort))
		return NULL;
	place_rows(lent, sort);
	in_order = *gpusort_sort_range_of_role(sort, lent->order_role);
	order->ids = (uint32 *) (in_order->base + lent->order_offset);
	order->ready = lent->nrows;
	return sort;
}
