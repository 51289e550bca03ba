/*
 * out_labels.c
 *		Looks up the labels of enum values; see out_row_private.h.
 *
 * We keep labels that were looked up.  A label can be renamed while rows are written, so all are
 * forgotten when the server invalidates its own cache of enums.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "bulk/out_row_private.h"
#include "pg_compat/keys.h"

/*
 * Number of labels that are kept.  A label's place is given by the last bits of its value's OID;
 * the OIDs of an enum mostly differ by two.
 */
#define KEPT 64

typedef struct Label
{
	Oid			value;			/* InvalidOid if this place is empty */
	int			length;
	NameData	name;
} Label;

struct GpuSortOutLabels
{
	uint64		changes;		/* value of the global counter when the labels were looked up */
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
