/*
 * daemon_mistakes.h
 *		What can be wrong in a descriptor of daemon_test's.
 */
#ifndef DAEMON_MISTAKES_H
#define DAEMON_MISTAKES_H

#include "protocol/gsd_pool.h"

#define EXTENTS		48
#define PID			4711
#define OTHER_PID	4712
#define NROWS		UINT64_C(300000)

/* Which extents of the pool hold what. */
enum
{
	DESCRIPTOR,
	WORDS,						/* and the next two */
	NULLS = WORDS + 3,
	IDS,
	EQUAL,
	ROWS,						/* and the next two */
	REFS = ROWS + 3,
	TO_ROWS,					/* and the next two */
	TO_REFS = TO_ROWS + 3,
	FOREIGN,					/* of another process */
	UNOWNED
};

/* The change that makes a right descriptor, of NROWS rows of one plane, wrong. */
typedef struct mistake
{
	const char *name;
	void		(*make) (gsd_descriptor *d);
} mistake;

extern const mistake daemon_mistakes[];
extern const unsigned daemon_nmistakes;

#endif							/* DAEMON_MISTAKES_H */
