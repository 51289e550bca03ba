/*
 * service_settings.h
 *		The settings of the service that sorts on GPUs: gpusort.daemon and its like.
 */
#ifndef GPUSORT_SERVICE_SETTINGS_H
#define GPUSORT_SERVICE_SETTINGS_H

extern char *gpusort_daemon;	/* "auto", "off" or "host:N" */
extern char *gpusort_device_list;	/* gpusort.devices: "all", or a list of numbers */
extern char *gpusort_device_memory; /* a share such as "80%", or an amount with its unit */
extern char *gpusort_daemon_options;	/* further options of gpusortd, separated by spaces */
extern int	gpusort_min_gpu_rows;
extern int	gpusort_daemon_timeout; /* ms; 0: wait for ever */
extern int	gpusort_daemon_queue_timeout;	/* ms; 0: wait for ever */
extern int	gpusort_reorder_rows;	/* GpuSortReorderRows */
extern int	gpusort_copy_parser;	/* GpuSortCopyParser */

/* gpusort.reorder_rows: whether gpusortd brings rows into order after the sort */
typedef enum GpuSortReorderRows
{
	GPUSORT_REORDER_OFF,
	GPUSORT_REORDER_AUTO,		/* on GPUs, where it should pay */
	GPUSORT_REORDER_ON			/* wherever possible, and sessions wait for it */
} GpuSortReorderRows;

/* gpusort.copy_parser: what finds records and fields for COPY FROM */
typedef enum GpuSortCopyParser
{
	GPUSORT_COPY_PARSER_HOST,
	GPUSORT_COPY_PARSER_DEVICE
} GpuSortCopyParser;

/* Defines the settings; called by _PG_init(). */
extern void gpusort_define_service_settings(void);

/* Returns the N of a gpusort.daemon of "host:N"; 0 if it is something else. */
extern int	gpusort_daemon_simulated_devices(const char *daemon);

#endif							/* GPUSORT_SERVICE_SETTINGS_H */
