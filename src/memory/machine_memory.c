/*
 * machine_memory.c
 *		How much memory the server could have.
 *
 * A container or a service unit may be allowed less than the machine has.
 * /proc/self/cgroup names the control group, one line for each hierarchy:
 *
 *		0::/system.slice/postgresql.service			version 2
 *		5:memory:/docker/0123...					version 1
 *
 * A limit may also be set on any group above.  Inside a container the cgroup file
 * system usually begins at the container's own group, while the path may still be
 * that of the host.  So groups that the file system does not have are passed over,
 * and its root is looked at in any case.
 */
#include "postgres.h"

#include <stdio.h>
#include <unistd.h>

#include "memory/pool.h"

/* Returns the number in a limit file, or `otherwise` if it has none ("max") or is not there. */
static uint64
read_limit(const char *path, uint64 otherwise)
{
	FILE	   *file = fopen(path, "r");
	unsigned long long limit;

	if (file == NULL)
		return otherwise;
	if (fscanf(file, "%llu", &limit) != 1)
		limit = otherwise;
	fclose(file);
	return limit;
}

/* Returns the smallest limit of a group and the groups above it, or `limit` if that is less. */
static uint64
group_limit(const char *root, char *group, const char *file, uint64 limit)
{
	char		path[MAXPGPATH];

	for (;;)
	{
		char	   *slash = strrchr(group, '/');

		snprintf(path, sizeof(path), "%s%s/%s", root, group, file);
		limit = Min(limit, read_limit(path, limit));
		if (slash == NULL)
			return limit;
		*slash = '\0';
	}
}

/* Returns whether a comma-separated list of controllers has "memory". */
static bool
has_memory(char *controllers)
{
	char	   *rest = NULL;

	for (char *name = strtok_r(controllers, ",", &rest); name != NULL;
		 name = strtok_r(NULL, ",", &rest))
		if (strcmp(name, "memory") == 0)
			return true;
	return false;
}

/* Returns the limit of this process's control groups, or `limit` if that is less. */
static uint64
cgroup_limit(uint64 limit)
{
	FILE	   *file = fopen("/proc/self/cgroup", "r");
	char		line[MAXPGPATH];

	if (file == NULL)
		return limit;
	while (fgets(line, sizeof(line), file) != NULL)
	{
		char	   *controllers = strchr(line, ':');
		char	   *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (group == NULL)
			continue;
		*controllers++ = '\0';
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (*controllers == '\0')
			limit = group_limit("/sys/fs/cgroup", group, "memory.max", limit);
		else if (has_memory(controllers))
			limit = group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", limit);
	}
	fclose(file);
	return limit;
}

uint64
gpusort_machine_memory(void)
{
	static uint64 bytes = 0;

	if (bytes == 0)
	{
		long		pages = sysconf(_SC_PHYS_PAGES);

		if (pages > 0)
			bytes = cgroup_limit((uint64) pages * sysconf(_SC_PAGESIZE));
	}
	return bytes;
}
