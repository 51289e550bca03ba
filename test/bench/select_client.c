/*
 * select_client.c
 *		Receives the rows of a query, and does nothing with them.
 *
 *		select_client raw|single|whole CONNINFO QUERY [SETTING]...
 *
 * "raw" reads what the server sends, and does not look at it: what sending takes, and no client.
 * "single" has libpq make a result of each row (single row mode), "whole" one of all rows, as psql
 * does.  Settings are commands that are executed before.  It writes the milliseconds that passed from the query to
 * its end, and those of CPU time that this process has taken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>

/* The last message: the server is ready, and in no transaction. */
static const char ready[6] = "Z\0\0\0\5I";

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000.0 + now.tv_nsec / 1000000.0;
}

static double
cpu_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000.0 +
		(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000.0;
}

static void
fail(const char *what)
{
	fprintf(stderr, "select_client: %s\n", what);
	exit(1);
}

/* Read to the last message, which is the end of what was read last. */
static void
read_raw(PGconn *connection)
{
	static char buffer[1 << 20];
	char		tail[sizeof(ready)] = "";

	if (PQflush(connection) != 0)
		fail("the query was not sent");
	do
	{
		ssize_t		bytes = read(PQsocket(connection), buffer, sizeof(buffer));

		if (bytes < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (bytes <= 0)
			fail("the connection is lost");
		if (bytes >= (ssize_t) sizeof(tail))
			memcpy(tail, buffer + bytes - sizeof(tail), sizeof(tail));
		else
		{
			memmove(tail, tail + bytes, sizeof(tail) - bytes);
			memcpy(tail + sizeof(tail) - bytes, buffer, bytes);
		}
	} while (memcmp(tail, ready, sizeof(tail)) != 0);
}

static void
read_results(PGconn *connection)
{
	PGresult   *result;

	while ((result = PQgetResult(connection)) != NULL)
	{
		if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_SINGLE_TUPLE)
			fail(PQresultErrorMessage(result));
		PQclear(result);
	}
}

int
main(int argc, char **argv)
{
	PGconn	   *connection;
	double		begin_ms;
	double		begin_cpu_ms;

	if (argc < 4)
		fail("raw|single|whole CONNINFO QUERY [SETTING]...");
	connection = PQconnectdb(argv[2]);
	if (PQstatus(connection) != CONNECTION_OK)
		fail(PQerrorMessage(connection));
	if (strcmp(argv[1], "raw") == 0 && PQsslInUse(connection))
		fail("raw can't read what is encrypted: sslmode=disable");
	for (int i = 4; i < argc; i++)
	{
		PGresult   *result = PQexec(connection, argv[i]);

		if (PQresultStatus(result) != PGRES_COMMAND_OK)
			fail(PQresultErrorMessage(result));
		PQclear(result);
	}
	begin_ms = now_ms();
	begin_cpu_ms = cpu_ms();
	if (!PQsendQuery(connection, argv[3]))
		fail(PQerrorMessage(connection));
	if (strcmp(argv[1], "raw") == 0)
		read_raw(connection);
	else
	{
		if (strcmp(argv[1], "single") == 0)
			PQsetSingleRowMode(connection);
		read_results(connection);
	}
	printf("%.1f %.1f\n", now_ms() - begin_ms, cpu_ms() - begin_cpu_ms);
	PQfinish(connection);
	return 0;
}
