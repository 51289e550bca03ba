/*
 * out_labels.c
 *		The labels of enums; see out_labels.h.
 *
 * A label can be renamed while rows are written, which the server's cache is told.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "bulk/out_labels.h"
#include "pg_compat/keys.h"

/* Labels are kept by the last bits of their OIDs, which mostly follow one another, by twos. */
#define KEPT 64

typedef struct Label
{
	Oid			value;			/* or InvalidOid */
	int			length;
	NameData	name;
} Label;

struct GpuSortOutLabels
{
	uint64		changes;		/* that were known when labels were looked up */
	Label		kept[KEPT];
};

static uint64 changes = 0;

static void
note_change(Datum arg, GpuSortSysCache cache, uint32 hash)
{
	changes++;
}

GpuSortOutLabels *
gpusort_out_begin_labels(void)
{
	static bool listens = false;
	GpuSortOutLabels *labels = palloc0(sizeof(GpuSortOutLabels));

	if (!listens)
		CacheRegisterSyscacheCallback(ENUMOID, note_change, (Datum) 0);
	listens = true;
	labels->changes = changes;
	return labels;
}

static void
look_up(Label *label, Oid value)
{
	char	   *name = DatumGetCString(DirectFunctionCall1(enum_out, ObjectIdGetDatum(value)));

	label->length = strlen(name);
	memcpy(NameStr(label->name), name, label->length);
	label->value = value;
	pfree(name);
}

const char *
gpusort_out_label(GpuSortOutLabels *labels, Oid value, int *length)
{
	Label	   *label = &labels->kept[value / 2 % KEPT];

	if (unlikely(labels->changes != changes))
	{
		memset(labels, 0, sizeof(*labels));
		labels->changes = changes;
	}
	if (unlikely(label->value != value))
		look_up(label, value);
	*length = label->length;
	return NameStr(label->name);
}
