/*
 * service_settings.c
 *		The settings of the service that sorts on GPUs.
 *
 * The settings of gpusortd itself are the server's; a session decides only whether, and
 * for how long, it uses gpusortd.  The supervisor hands the values down to gpusortd,
 * which parses them by itself.  So their syntax is checked here: a wrong value is
 * refused when the configuration is read, with a message, instead of ending a program
 * in the background.
 */
#include "postgres.h"

#include <ctype.h>
#include <limits.h>

#include "utils/guc.h"

#include "protocol/gsd_pool.h"
#include "service/service.h"

#define MAX_DEVICE_NUMBER 255

char	   *gpusort_daemon = NULL;
char	   *gpusort_device_list = NULL;
char	   *gpusort_device_memory = NULL;
char	   *gpusort_daemon_options = NULL;
int			gpusort_min_gpu_rows = 100000;
int			gpusort_daemon_timeout = 60000;
int			gpusort_daemon_queue_timeout = 2000;
int			gpusort_reorder_rows = GPUSORT_REORDER_AUTO;
int			gpusort_copy_parser = GPUSORT_COPY_PARSER_HOST;

static const struct config_enum_entry reorder_options[] = {
	{"off", GPUSORT_REORDER_OFF, false},
	{"auto", GPUSORT_REORDER_AUTO, false},
	{"on", GPUSORT_REORDER_ON, false},
	{NULL, 0, false}
};

static const struct config_enum_entry copy_parser_options[] = {
	{"host", GPUSORT_COPY_PARSER_HOST, false},
	{"device", GPUSORT_COPY_PARSER_DEVICE, false},
	{NULL, 0, false}
};

/* Reads a number of at most `max`; returns what comes behind it, or NULL if there is none. */
static const char *
read_number(const char *text, uint64 max, uint64 *number)
{
	*number = 0;
	if (!isdigit((unsigned char) *text))
		return NULL;
	for (; isdigit((unsigned char) *text); text++)
	{
		*number = *number * 10 + (*text - '0');
		if (*number > max)
			return NULL;
	}
	return text;
}

int
gpusort_daemon_simulated_devices(const char *daemon)
{
	uint64		number;
	const char *end;

	if (strncmp(daemon, "host:", 5) != 0)
		return 0;
	end = read_number(daemon + 5, GSD_MAX_DEVICES, &number);
	return end != NULL && *end == '\0' ? (int) number : 0;
}

static bool
check_daemon(char **newval, void **extra, GucSource source)
{
	if (strcmp(*newval, "auto") == 0 || strcmp(*newval, "off") == 0 ||
		gpusort_daemon_simulated_devices(*newval) > 0)
		return true;
	GUC_check_errdetail("Valid values are \"auto\", \"off\" and \"host:N\", with N from 1 to %d.",
						GSD_MAX_DEVICES);
	return false;
}

/* Returns whether a text is "all", or up to GSD_MAX_DEVICES different numbers. */
static bool
devices_are_valid(const char *text)
{
	bool		seen[MAX_DEVICE_NUMBER + 1] = {0};
	uint64		number;

	if (strcmp(text, "all") == 0)
		return true;
	for (int n = 1; n <= GSD_MAX_DEVICES; n++)
	{
		text = read_number(text, MAX_DEVICE_NUMBER, &number);
		if (text == NULL || seen[number])
			return false;
		seen[number] = true;
		if (*text == '\0')
			return true;
		if (*text++ != ',')
			return false;
	}
	return false;
}

static bool
check_devices(char **newval, void **extra, GucSource source)
{
	if (devices_are_valid(*newval))
		return true;
	GUC_check_errdetail("Valid values are \"all\" and up to %d different numbers of CUDA devices, such as \"0,2\".",
						GSD_MAX_DEVICES);
	return false;
}

static bool
check_device_memory(char **newval, void **extra, GucSource source)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	uint64		number;
	const char *unit = read_number(*newval, PG_UINT64_MAX >> 40, &number);

	if (unit != NULL && number > 0)
	{
		if (strcmp(unit, "%") == 0 && number <= 100)
			return true;
		for (int i = 0; i < lengthof(units); i++)
			if (strcmp(unit, units[i]) == 0)
				return true;
	}
	GUC_check_errdetail("Valid values are a share such as \"80%%\" and an amount with a unit (kB, MB, GB, TB), such as \"40GB\".");
	return false;
}

void
gpusort_define_service_settings(void)
{
	DefineCustomStringVariable("gpusort.daemon",
							   "Chooses what gpusortd sorts on.",
							   "\"auto\" runs it if there are CUDA devices, \"host:N\" on N simulated devices, \"off\" not at all.",
							   &gpusort_daemon, "auto",
							   PGC_SIGHUP, 0, check_daemon, NULL, NULL);
	DefineCustomStringVariable("gpusort.devices",
							   "Sets the CUDA devices to use.",
							   "\"all\", or a list of numbers.",
							   &gpusort_device_list, "all",
							   PGC_SIGHUP, 0, check_devices, NULL, NULL);
	DefineCustomStringVariable("gpusort.device_memory",
							   "Sets how much memory to take on each device.",
							   "A share of what is free there, or an amount with a unit.",
							   &gpusort_device_memory, "80%",
							   PGC_SIGHUP, 0, check_device_memory, NULL, NULL);
	DefineCustomStringVariable("gpusort.daemon_options",
							   "Sets further options of gpusortd, for testing.",
							   NULL, &gpusort_daemon_options, "",
							   PGC_SIGHUP, GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL,
							   NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.min_gpu_rows",
							"Sets the number of rows below which a sort does not ask for a GPU.",
							NULL, &gpusort_min_gpu_rows, gpusort_min_gpu_rows, 0, INT_MAX,
							PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpusort.reorder_rows",
							 "Has rows brought into sorted order by gpusortd, so that they are read one after the other.",
							 "\"auto\" does so on GPUs where it should pay; \"on\" does so wherever possible and waits for it, which is for testing.",
							 &gpusort_reorder_rows, gpusort_reorder_rows, reorder_options,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpusort.copy_parser",
							 "Chooses what finds records and fields for COPY FROM.",
							 "\"host\": the processes that make rows of them; \"device\": gpusortd, if it runs and several processes load.",
							 &gpusort_copy_parser, gpusort_copy_parser, copy_parser_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.daemon_queue_timeout",
							"Sets how long a sort waits for its turn at gpusortd.",
							"Then it goes on without it. 0 means for ever.",
							&gpusort_daemon_queue_timeout, gpusort_daemon_queue_timeout, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.daemon_timeout",
							"Sets how long to wait for a gpusortd that makes no progress.",
							"Then sorts go on without it, and it is replaced. 0 means for ever.",
							&gpusort_daemon_timeout, gpusort_daemon_timeout, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
}
