/*
 * daemon_options.c
 *		The command line of gpusortd.
 *
 * The supervisor writes the command line from settings that it has checked already, so mistakes are
 * reported in one line and end the program.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon_jobs.h"
#include "daemon/daemon.h"

#define DEFAULT_MEMORY_PERCENT 80

enum
{
	OPTION_ENGINE = 256,
	OPTION_DEVICES,
	OPTION_DEVICE_MEMORY,
	OPTION_DEVICE_ROWS,
	OPTION_BUCKET_ROWS,
	OPTION_STEP_ROWS,
	OPTION_LANES,
	OPTION_SUPERVISOR_PID,
	OPTION_POOL_FD,
	OPTION_POOL_BYTES,
	OPTION_INJECT_FAULT,
	OPTION_PROBE,
	OPTION_VERSION,
	OPTION_HELP
};

static const struct option long_options[] = {
	{"engine", required_argument, NULL, OPTION_ENGINE},
	{"devices", required_argument, NULL, OPTION_DEVICES},
	{"device-memory", required_argument, NULL, OPTION_DEVICE_MEMORY},
	{"device-rows", required_argument, NULL, OPTION_DEVICE_ROWS},
	{"bucket-rows", required_argument, NULL, OPTION_BUCKET_ROWS},
	{"step-rows", required_argument, NULL, OPTION_STEP_ROWS},
	{"lanes", required_argument, NULL, OPTION_LANES},
	{"supervisor-pid", required_argument, NULL, OPTION_SUPERVISOR_PID},
	{"pool-fd", required_argument, NULL, OPTION_POOL_FD},
	{"pool-bytes", required_argument, NULL, OPTION_POOL_BYTES},
	{"inject-fault", required_argument, NULL, OPTION_INJECT_FAULT},
	{"probe", no_argument, NULL, OPTION_PROBE},
	{"version", no_argument, NULL, OPTION_VERSION},
	{"help", no_argument, NULL, OPTION_HELP},
	{NULL, 0, NULL, 0}
};

void
gsd_print_help(void)
{
	puts("gpusortd sorts for the PostgreSQL extension gpusort.\n"
		 "\n"
		 "The server starts it; by hand it is of use only to see what it would find:\n"
		 "\n"
		 "  gpusortd --probe [--engine=auto|cuda|host] [--devices=LIST] [--device-memory=SIZE]\n"
		 "  gpusortd --version | --help\n"
		 "\n"
		 "  --engine         devices to open: CUDA's (auto, cuda) or simulated ones (host)\n"
		 "  --devices        all, numbers like 0,2, or how many (host)\n"
		 "  --device-memory  memory to take on each device: 80%, 512MB or 40GB\n"
		 "\n"
		 "Exit status: 0 asked to stop, 1 wrong usage, 3 no device, 4 pool of another version,\n"
		 "5 device lost, 6 out of memory, 7 devices have sorted wrongly twice, 8 no CUDA.");
}

/* Reads a number of digits only, and sets *end to where they end. */
static bool
read_number(const char *text, uint64_t *number, const char **end)
{
	char	   *stop;

	if (!isdigit((unsigned char) *text))
		return false;
	errno = 0;
	*number = strtoull(text, &stop, 10);
	*end = stop;
	return errno == 0;
}

static bool
read_whole_number(const char *text, uint64_t *number)
{
	const char *end;

	return read_number(text, number, &end) && *end == '\0';
}

static bool
read_lanes(gsd_options *options, const char *text)
{
	uint64_t	number;

	if (!read_whole_number(text, &number) || number > GSD_DEVICE_LANES)
		return false;
	options->lanes = (unsigned) number;
	return true;
}

static bool
read_fd(const char *text, int *fd)
{
	uint64_t	number;

	if (!read_whole_number(text, &number) || number > INT32_MAX)
		return false;
	*fd = (int) number;
	return true;
}

/* Reads a comma-separated list of at most max numbers; returns how many, or 0 for a mistake. */
static unsigned
read_list(const char *text, unsigned *numbers, unsigned max)
{
	for (unsigned n = 0; n < max;)
	{
		uint64_t	number;

		if (!read_number(text, &number, &text) || number > INT32_MAX)
			return 0;
		numbers[n++] = (unsigned) number;
		if (*text == '\0')
			return n;
		if (*text++ != ',')
			return 0;
	}
	return 0;
}

static bool
read_engine(gsd_options *options, const char *text)
{
	if (strcmp(text, "auto") == 0)
		options->engine = GSD_ENGINE_AUTO;
	else if (strcmp(text, "cuda") == 0)
		options->engine = GSD_ENGINE_CUDA;
	else if (strcmp(text, "host") == 0)
		options->engine = GSD_ENGINE_SIMULATED;
	else
		return false;
	return true;
}

/*
 * Reads "all", a list of CUDA devices, or a number of simulated devices: a single number is taken
 * for both, as the engine may be read later.
 */
static bool
read_devices(gsd_options *options, const char *text)
{
	options->ncuda_devices = options->simulated_devices = 0;
	if (strcmp(text, "all") == 0)
		return true;
	options->ncuda_devices = read_list(text, options->cuda_devices, GSD_MAX_DEVICES);
	if (options->ncuda_devices == 1)
		options->simulated_devices = options->cuda_devices[0];
	return options->ncuda_devices > 0;
}

static bool
read_memory(gsd_options *options, const char *text)
{
	uint64_t	number;
	unsigned	shift;

	if (!read_number(text, &number, &text))
		return false;
	options->memory_percent = 0;
	options->memory_bytes = 0;
	if (strcmp(text, "%") == 0)
	{
		options->memory_percent = number <= 100 ? (unsigned) number : 0;
		return options->memory_percent > 0;
	}
	if (strcmp(text, "kB") == 0)
		shift = 10;
	else if (strcmp(text, "MB") == 0)
		shift = 20;
	else if (strcmp(text, "GB") == 0)
		shift = 30;
	else if (strcmp(text, "TB") == 0)
		shift = 40;
	else
		return false;
	options->memory_bytes = number << shift;
	return number > 0 && number <= UINT64_MAX >> shift;
}

/* Reads "abi", or a kind of fault and the number of the event in which it happens. */
static bool
read_fault(gsd_options *options, const char *text)
{
	static const struct
	{
		const char *prefix;
		gsd_fault	fault;
		gs_damage	damage;
	}			counted[] = {
		{"operation:", GSD_FAULT_OPERATION, GS_DAMAGE_NONE},
		{"operations:", GSD_FAULT_OPERATIONS, GS_DAMAGE_NONE},
		{"wrong-key:", GSD_FAULT_WRONG, GS_DAMAGE_KEY_BIT},
		{"wrong-id:", GSD_FAULT_WRONG, GS_DAMAGE_ID_BIT},
		{"swapped:", GSD_FAULT_WRONG, GS_DAMAGE_SWAP},
		{"swapped-ids:", GSD_FAULT_WRONG, GS_DAMAGE_SWAP_IDS},
		{"doubled:", GSD_FAULT_WRONG, GS_DAMAGE_DOUBLE},
		{"lost:", GSD_FAULT_LOST, GS_DAMAGE_NONE},
		{"crash:", GSD_FAULT_CRASH, GS_DAMAGE_NONE},
		{"crash-late:", GSD_FAULT_CRASH_LATE, GS_DAMAGE_NONE},
		{"stop:", GSD_FAULT_STOP, GS_DAMAGE_NONE},
		{"stop-late:", GSD_FAULT_STOP_LATE, GS_DAMAGE_NONE},
		{"crash-reorder:", GSD_FAULT_CRASH_REORDER, GS_DAMAGE_NONE},
		{"stop-reorder:", GSD_FAULT_STOP_REORDER, GS_DAMAGE_NONE},
	};

	if (strcmp(text, "abi") == 0)
	{
		options->fault = GSD_FAULT_ABI;
		return true;
	}
	for (unsigned i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
	{
		size_t		length = strlen(counted[i].prefix);

		if (strncmp(text, counted[i].prefix, length) != 0)
			continue;
		options->fault = counted[i].fault;
		options->damage = counted[i].damage;
		return read_whole_number(text + length, &options->fault_at) && options->fault_at > 0;
	}
	return false;
}

static bool
read_option(gsd_options *options, int option, const char *value)
{
	switch (option)
	{
		case OPTION_ENGINE:
			return read_engine(options, value);
		case OPTION_DEVICES:
			return read_devices(options, value);
		case OPTION_DEVICE_MEMORY:
			return read_memory(options, value);
		case OPTION_DEVICE_ROWS:
			return read_whole_number(value, &options->device_rows);
		case OPTION_BUCKET_ROWS:
			return read_whole_number(value, &options->bucket_rows);
		case OPTION_STEP_ROWS:
			return read_whole_number(value, &options->step_rows);
		case OPTION_LANES:
			return read_lanes(options, value);
		case OPTION_SUPERVISOR_PID:
			return read_whole_number(value, &options->supervisor_pid);
		case OPTION_POOL_FD:
			return read_fd(value, &options->pool_fd);
		case OPTION_POOL_BYTES:
			return read_whole_number(value, &options->pool_bytes);
		case OPTION_INJECT_FAULT:
			return read_fault(options, value);
		case OPTION_PROBE:
			options->action = GSD_ACTION_PROBE;
			return true;
		case OPTION_VERSION:
			options->action = GSD_ACTION_VERSION;
			return true;
		case OPTION_HELP:
			options->action = GSD_ACTION_HELP;
			return true;
		default:
			return false;
	}
}

bool
gsd_read_options(gsd_options *options, int argc, char **argv)
{
	int			option;
	int			index;

	memset(options, 0, sizeof(*options));
	options->memory_percent = DEFAULT_MEMORY_PERCENT;
	options->lanes = GSD_DEVICE_LANES;
	options->pool_fd = -1;

	while ((option = getopt_long(argc, argv, "", long_options, &index)) != -1)
	{
		if (option == '?')
			return false;
		if (!read_option(options, option, optarg))
		{
			fprintf(stderr, "gpusortd: invalid value for --%s: \"%s\"\n",
					long_options[index].name, optarg);
			return false;
		}
	}
	if (optind < argc)
	{
		fprintf(stderr, "gpusortd: unexpected argument \"%s\"\n", argv[optind]);
		return false;
	}
	if (options->action == GSD_ACTION_SERVE &&
		(options->supervisor_pid == 0 || options->pool_fd < 0 || options->pool_bytes == 0))
	{
		fprintf(stderr,
				"gpusortd: the PostgreSQL server starts this program, see gpusortd --help\n");
		return false;
	}
	return true;
}
