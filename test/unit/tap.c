/*
 * tap.c
 *		Test Anything Protocol, as much of it as we need.
 */
#include <stdarg.h>
#include <stdio.h>

#include "tap.h"

static unsigned tests_run;
static unsigned tests_failed;

void
tap_ok(bool passed, const char *format, ...)
{
	va_list		args;

	tests_run++;
	if (!passed)
		tests_failed++;
	printf("%s %u - ", passed ? "ok" : "not ok", tests_run);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

void
tap_note(const char *format, ...)
{
	va_list		args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

int
tap_finish(void)
{
	printf("1..%u\n", tests_run);
	return tests_failed > 0 || tests_run == 0;
}
