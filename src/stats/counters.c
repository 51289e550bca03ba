/*
 * counters.c
 *		Counters of a sort; see counters.h.
 */
#include "postgres.h"

#include "stats/counters.h"

#define KEPT(column)	column
#define NOT_KEPT		NULL
#define NOT_EXPLAINED	{GPUSORT_LINE_NONE}
#define EXPLAINED(line, engine, zero, text, property) \
	{GPUSORT_LINE_##line, GPUSORT_SHOWN_OF_##engine, GPUSORT_ZERO_##zero, text, property}

const GpuSortCounter gpusort_counters[GPUSORT_COUNTERS] = {
#define COUNTER(unit, name, merge, kept, ...) \
	{offsetof(GpuSortStats, name), GPUSORT_UNIT_##unit, GPUSORT_MERGE_##merge, kept, __VA_ARGS__},
#include "stats/counter_list.h"
};

const char *
gpusort_engine_name(GpuSortSortedBy engine)
{
	static const char *const names[] = {
		[GPUSORT_SORTED_BY_HOST] = "host",
		[GPUSORT_SORTED_BY_CUDA] = "cuda",
		[GPUSORT_SORTED_BY_SIMULATION] = "simulated"
	};

	return names[engine];
}

const char *
gpusort_handover_reason(GpuSortHandover why)
{
	static const char *const reasons[] = {
		[GPUSORT_HANDOVER_NONE] = "none",
		[GPUSORT_HANDOVER_MEMORY] = "memory limit reached",
		[GPUSORT_HANDOVER_VALUE] = "value without encoding",
		[GPUSORT_HANDOVER_ORDER] = "order not confirmed"
	};

	return reasons[why];
}

/* Returns where a counter that is no time stands. */
static uint64 *
field_of(const GpuSortCounter *counter, const GpuSortStats *stats)
{
	return (uint64 *) ((char *) stats + counter->offset);
}

instr_time
gpusort_counter_time(const GpuSortCounter *counter, const GpuSortStats *stats)
{
	return *(const instr_time *) ((const char *) stats + counter->offset);
}

uint64
gpusort_counter_value(const GpuSortCounter *counter, const GpuSortStats *stats)
{
	instr_time	time;

	if (counter->unit != GPUSORT_UNIT_TIME)
		return *field_of(counter, stats);
	time = gpusort_counter_time(counter, stats);
	return INSTR_TIME_GET_MICROSEC(time);
}

void
gpusort_counters_merge(GpuSortStats *to, const GpuSortStats *part, const GpuSortStats *before)
{
	for (int i = 0; i < GPUSORT_COUNTERS; i++)
	{
		const GpuSortCounter *counter = &gpusort_counters[i];

		if (counter->merge == GPUSORT_MERGE_OWN)
			continue;
		Assert(counter->unit != GPUSORT_UNIT_TIME);
		if (counter->unit == GPUSORT_UNIT_FLAG)
			*field_of(counter, to) |= *field_of(counter, part);
		else
			*field_of(counter, to) += *field_of(counter, part) -
				(before != NULL ? *field_of(counter, before) : 0);
	}
}

void
gpusort_tally_sort(GpuSortTally *tally, const GpuSortStats *stats)
{
	int			count = 0;
	int			time = GPUSORT_TALLY_TIMES;

	memset(tally, 0, sizeof(*tally));
	for (int i = 0; i < GPUSORT_COUNTERS; i++)
	{
		const GpuSortCounter *counter = &gpusort_counters[i];

		if (counter->column != NULL)
			tally->places[counter->unit == GPUSORT_UNIT_TIME ? time++ : count++] =
				(int64) gpusort_counter_value(counter, stats);
	}
}

void
gpusort_tally_add(GpuSortTally *to, const GpuSortTally *tally)
{
	for (int i = 0; i < GPUSORT_TALLY_PLACES; i++)
		to->places[i] += tally->places[i];
}

bool
gpusort_tally_subtract(GpuSortTally *from, const GpuSortTally *tally)
{
	bool		differ = false;

	for (int i = 0; i < GPUSORT_TALLY_PLACES; i++)
	{
		from->places[i] -= tally->places[i];
		differ = differ || from->places[i] != 0;
	}
	return differ;
}
