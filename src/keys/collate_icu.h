/*
 * collate_icu.h
 *		Sort keys of ICU's collations; for collate_library.c.
 */
#ifndef GPUSORT_COLLATE_ICU_H
#define GPUSORT_COLLATE_ICU_H

#include "keys/collate_library.h"

#ifdef USE_ICU

/* Fills in the functions of *library and what they need, for library->locale. */
extern void gpusort_collate_begin_icu(CollateLibrary *library);

#endif

#endif							/* GPUSORT_COLLATE_ICU_H */
