/*
 * tap.h
 *		Test Anything Protocol, as much of it as we need.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>

/* Report one test; the description is a printf format. */
extern void tap_ok(bool passed, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Say something about a failure. */
extern void tap_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Print the plan; the value to return from main(). */
extern int	tap_finish(void);

#endif							/* TAP_H */
