/*
 * explain_option.h
 *		EXPLAIN (GPUSORT): why each sort of a plan is whose it is.
 */
#ifndef GPUSORT_EXPLAIN_OPTION_H
#define GPUSORT_EXPLAIN_OPTION_H

/* From _PG_init(); for servers on which extensions have options. */
extern void gpusort_install_explain_option(void);

#endif							/* GPUSORT_EXPLAIN_OPTION_H */
