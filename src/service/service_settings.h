/*
 * service_settings.h
 *		The settings of the service that sorts on GPUs: gpusort.daemon and its like.
 */
#ifndef GPUSORT_SERVICE_SETTINGS_H
#define GPUSORT_SERVICE_SETTINGS_H

extern char *gpusort_daemon;		/* auto, off, host:N */
extern char *gpusort_device_list;		/* all, or a list of numbers */
extern char *gpusort_device_memory; /* 80%, or an amount with its unit */
extern char *gpusort_daemon_options;	/* further ones, separated by spaces */
extern int	gpusort_min_gpu_rows;
extern int	gpusort_daemon_timeout; /* ms; 0: none */
extern int	gpusort_daemon_queue_timeout;	/* ms; 0: none */
extern int	gpusort_reorder_rows;	/* GpuSortReorderRows */
extern int	gpusort_copy_parser;	/* GpuSortCopyParser */

/* gpusort.reorder_rows */
typedef enum GpuSortReorderRows
{
	GPUSORT_REORDER_OFF,
	GPUSORT_REORDER_AUTO,		/* by GPUs, if it should pay */
	GPUSORT_REORDER_ON			/* wherever possible, and wait for it */
} GpuSortReorderRows;

/* gpusort.copy_parser */
typedef enum GpuSortCopyParser
{
	GPUSORT_COPY_PARSER_HOST,
	GPUSORT_COPY_PARSER_DEVICE
} GpuSortCopyParser;

extern void gpusort_define_service_settings(void);

/* The N of host:N; 0 if gpusort.daemon is not of that kind. */
extern int	gpusort_daemon_simulated_devices(const char *daemon);

#endif							/* GPUSORT_SERVICE_SETTINGS_H */
