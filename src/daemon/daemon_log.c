/*
 * daemon_log.c
 *		Lines for the server's log.
 *
 * Each line is one write(), so that lines of other processes don't get in between.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "daemon/daemon.h"

#define MAX_LINE 512

void
gsd_log(const char *format,...)
{
	char		line[MAX_LINE];
	size_t		length;
	time_t		now = time(NULL);
	struct tm	utc;
	va_list		args;
	int			written;

	gmtime_r(&now, &utc);
	length = strftime(line, sizeof(line), "%Y-%m-%d %H:%M:%S UTC ", &utc);
	length += snprintf(line + length, sizeof(line) - length, "[%d] gpusortd: ", (int) getpid());
	va_start(args, format);
	written = vsnprintf(line + length, sizeof(line) - length - 1, format, args);
	va_end(args);
	if (written > 0)
		length += written;
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, length) < 0)
		return;					/* nobody reads the log, and nothing else depends on it */
}
