/*
 * parse_workload.c
 *		Delimited text for benchmarks of the parser.
 *
 * The first two are like the data of the ParPaRaw paper: NYC taxi trips have 17 columns and 88 bytes a
 * record, Yelp's reviews 9 columns, all quoted, and 721 bytes, with quotes and newlines among them.
 */
#include "parse_workload.h"

#include <stdio.h>
#include <string.h>

static uint64_t seed = 1;

static unsigned
next_random(unsigned bound)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned) (seed >> 33) % bound;
}

static size_t
put_taxi(char *at, uint64_t number)
{
	return (size_t) sprintf(at, "%u,2018-%02u-%02u %02u:%02u:%02u,2018-02-07 11:%02u:09,%u,%u.%u,1,N,%u,%u,%u,%u.5,0,0.5,%u.%02u,0,0.3,%u.8\n",
							1 + next_random(2), 1 + next_random(12), 1 + next_random(28), next_random(24),
							next_random(60), next_random(60), next_random(60), 1 + next_random(4),
							next_random(9), next_random(10), next_random(265), next_random(265),
							1 + next_random(2), 3 + next_random(50), next_random(9), next_random(100),
							5 + next_random(60));
}

static size_t
put_review(char *at, uint64_t number)
{
	static const char *const words[] = {"the ", "place ", "was, ", "\"\"great\"\" ", "food; ", "service ", "and ", "\n", "never ", "again "};
	char	   *begin = at;
	unsigned	count = 60 + next_random(80);

	at += sprintf(at, "\"%016x\",\"%u\",\"2018-%02u-01\",\"", next_random(1u << 30), 1 + next_random(5), 1 + next_random(12));
	for (unsigned i = 0; i < count; i++)
	{
		const char *word = words[next_random(next_random(20) == 0 ? 10 : 7)];

		at = stpcpy(at, word);
	}
	at += sprintf(at, "\",\"%u\",\"%u\",\"%u\",\"%08x\",\"%08x\"\n", next_random(10), next_random(10), next_random(10),
				  next_random(1u << 30), next_random(1u << 30));
	return (size_t) (at - begin);
}

static size_t
put_three(char *at, uint64_t number, char delimiter)
{
	return (size_t) sprintf(at, "%llu%c%d%c%08x%08x\n", (unsigned long long) number * 2654435761u, delimiter,
							(int) next_random(1u << 31), delimiter, next_random(1u << 30), next_random(1u << 30));
}

static size_t
put_three_csv(char *at, uint64_t number)
{
	return put_three(at, number, ',');
}

static size_t
put_three_text(char *at, uint64_t number)
{
	return put_three(at, number, '\t');
}

static size_t
put_escapes(char *at, uint64_t number)
{
	static const char *const words[] = {"plain", "tab\\tin", "\\N", "C:\\\\dir", "two\\\nlines", "x"};

	return (size_t) sprintf(at, "%llu\t%s\t%s\t%u\n", (unsigned long long) number, words[next_random(6)],
							words[next_random(6)], next_random(1u << 30));
}

static size_t
put_mixed(char *at, uint64_t number)
{
	static const char *const words[] = {"plain", "\"a, \\\"b\\\"\"", "\"\"", "\"C:\\\\\"", "", "x"};

	return (size_t) sprintf(at, "%llu,%s,%s,%u\r\n", (unsigned long long) number, words[next_random(6)],
							words[next_random(6)], next_random(1u << 30));
}

/* The usual CSV and text. */
#define CSV_FIELDS	.csv = true, .delimiter = ',', .quote = '"', .escape = '"', .newline = GS_NEWLINE_LF
#define TEXT_FIELDS	.delimiter = '\t', .newline = GS_NEWLINE_LF

const parse_workload parse_workloads[] = {
	{"csv, 17 columns", {CSV_FIELDS}, put_taxi},
	{"csv, all quoted", {CSV_FIELDS}, put_review},
	{"csv, 3 columns", {CSV_FIELDS}, put_three_csv},
	{"csv, 3 columns, before 18", {CSV_FIELDS, .csv_end_marker = true}, put_three_csv},
	{"text, 3 columns", {TEXT_FIELDS}, put_three_text},
	{"text, escapes", {TEXT_FIELDS}, put_escapes},
	{"csv, escape \\, CRLF", {.csv = true, .delimiter = ',', .quote = '"', .escape = '\\', .newline = GS_NEWLINE_CRLF}, put_mixed},
};
const unsigned parse_nworkloads = sizeof(parse_workloads) / sizeof(parse_workloads[0]);

size_t
parse_workload_fill(const parse_workload *workload, char *data, size_t bytes)
{
	size_t		length = 0;

	for (uint64_t number = 1; length + PARSE_WORKLOAD_RECORD <= bytes; number++)
		length += workload->put_record(data + length, number);
	return length;
}
