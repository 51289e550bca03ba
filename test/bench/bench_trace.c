/*
 * bench_trace.c
 *		What the devices' traces say: time by phase, and a file to look at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_bench.h"

static const char *const queue_names[GS_QUEUES] = {
	[GS_QUEUE_UP] = "up",
	[GS_QUEUE_WORK] = "work",
	[GS_QUEUE_WORK2] = "work 2",
	[GS_QUEUE_DOWN] = "down",
};

static int
compare_begins(const void *a, const void *b)
{
	const gs_span_time *x = a;
	const gs_span_time *y = b;

	return x->begin_ms < y->begin_ms ? -1 : x->begin_ms > y->begin_ms;
}

static bool
is_work(const gs_span_time *span)
{
	return (span->queue == GS_QUEUE_WORK || span->queue == GS_QUEUE_WORK2) &&
		strcmp(span->name, "statistics") != 0;
}

/* ms covered by spans of a name, or of all work if that is NULL, once each. */
static double
covered_ms(const bench_spans *device, const char *name)
{
	static gs_span_time sorted[BENCH_MAX_SPANS];
	unsigned	count = 0;
	double		sum = 0;
	double		end = -1e300;

	for (unsigned i = 0; i < device->count; i++)
		if (name == NULL ? is_work(&device->spans[i]) : strcmp(device->spans[i].name, name) == 0)
			sorted[count++] = device->spans[i];
	qsort(sorted, count, sizeof(sorted[0]), compare_begins);
	for (unsigned i = 0; i < count; i++)
	{
		double		begin = sorted[i].begin_ms > end ? sorted[i].begin_ms : end;

		if (sorted[i].end_ms <= begin)
			continue;
		sum += sorted[i].end_ms - begin;
		end = sorted[i].end_ms;
	}
	return sum;
}

static double
most_ms(const bench_spans *spans, unsigned ndevices, const char *name)
{
	double		most = 0;

	for (unsigned d = 0; d < ndevices; d++)
	{
		double		ms = covered_ms(&spans[d], name);

		most = ms > most ? ms : most;
	}
	return most;
}

bench_phases
bench_sum_phases(const bench_spans *spans, unsigned ndevices)
{
	bench_phases sums = {.work_ms = most_ms(spans, ndevices, NULL)};

	for (unsigned d = 0; d < ndevices; d++)
		for (unsigned i = 0; i < spans[d].count; i++)
		{
			const char *name = spans[d].spans[i].name;
			unsigned	p = 0;

			while (p < sums.nphases && strcmp(sums.phases[p].name, name) != 0)
				p++;
			if (p < sums.nphases || p == BENCH_MAX_PHASES)
				continue;
			sums.phases[sums.nphases++] = (bench_phase) {name, most_ms(spans, ndevices, name)};
		}
	return sums;
}

void
bench_add_ends(bench_phases *sums, const bench_spans *spans, unsigned ndevices, double begin_ms,
			   double end_ms)
{
	double		first = end_ms;
	double		last = begin_ms;

	for (unsigned d = 0; d < ndevices; d++)
		for (unsigned i = 0; i < spans[d].count; i++)
		{
			first = spans[d].spans[i].begin_ms < first ? spans[d].spans[i].begin_ms : first;
			last = spans[d].spans[i].end_ms > last ? spans[d].spans[i].end_ms : last;
		}
	if (sums->nphases + 2 > BENCH_MAX_PHASES)
		return;
	sums->phases[sums->nphases++] = (bench_phase) {"before", first - begin_ms};
	sums->phases[sums->nphases++] = (bench_phase) {"after", end_ms - last};
}

bool
bench_write_trace(const char *path, const bench_spans *spans, unsigned ndevices)
{
	FILE	   *file = fopen(path, "w");
	const char *separator = "";

	if (file == NULL)
	{
		perror(path);
		return false;
	}
	fprintf(file, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
	for (unsigned d = 0; d < ndevices; d++)
	{
		for (unsigned q = 0; q < GS_QUEUES; q++, separator = ",\n")
			fprintf(file, "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,"
					"\"args\":{\"name\":\"%s\"}}", separator, d, q, queue_names[q]);
		fprintf(file, ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,"
				"\"args\":{\"name\":\"device %u\"}}", d, d);
		for (unsigned i = 0; i < spans[d].count; i++)
		{
			const gs_span_time *span = &spans[d].spans[i];

			fprintf(file, ",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,"
					"\"ts\":%.3f,\"dur\":%.3f}", span->name, d, (unsigned) span->queue,
					span->begin_ms * 1e3, (span->end_ms - span->begin_ms) * 1e3);
		}
	}
	fprintf(file, "\n]}\n");
	return fclose(file) == 0;
}
