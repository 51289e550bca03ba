/*
 * parse_workload.h
 *		Delimited text for benchmarks of the parser.
 */
#ifndef PARSE_WORKLOAD_H
#define PARSE_WORKLOAD_H

#include "parse/gs_dialect.h"

typedef struct parse_workload
{
	const char *name;
	gs_dialect	dialect;
	size_t		(*put_record) (char *at, uint64_t number);	/* below PARSE_WORKLOAD_RECORD bytes */
} parse_workload;

#define PARSE_WORKLOAD_RECORD	4096

extern const parse_workload parse_workloads[];
extern const unsigned parse_nworkloads;

/* Whole records, as many as fit; returns their bytes. */
extern size_t parse_workload_fill(const parse_workload *workload, char *data, size_t bytes);

#endif							/* PARSE_WORKLOAD_H */
