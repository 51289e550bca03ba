/*
 * letter_case.c
 *		lower() and upper() of a table's column; see projection_private.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "pg_compat.h"
#include "sort/projection_private.h"

#define EACH_BYTE(x)	((uint64) (x) * UINT64CONST(0x0101010101010101))

const FuncExpr *
gpusort_find_letter_case(const Expr *expr)
{
	const FuncExpr *call;

	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	call = (const FuncExpr *) expr;
	return IsA(call, FuncExpr) && OidIsValid(call->inputcollid) &&
		(call->funcid == F_LOWER_TEXT || call->funcid == F_UPPER_TEXT) ? call : NULL;
}

GpuSortLetterCase *
gpusort_make_letter_case(const FuncExpr *call, AttrNumber attno)
{
	GpuSortLetterCase *letters = palloc0(sizeof(GpuSortLetterCase));

	letters->function = call->funcid;
	letters->collation = call->inputcollid;
	letters->attno = attno;
	return letters;
}

/*
 * Changes the case of the letters in a word, of the 26 that begin with `first`.  The two cases
 * differ by one bit.  All bytes must be ASCII.
 */
static inline uint64
change_word(uint64 word, char first)
{
	uint64		from_first = word + EACH_BYTE(0x80 - first);
	uint64		from_last = word + EACH_BYTE(0x80 - first - 26);

	return word ^ (((from_first & ~from_last) & EACH_BYTE(0x80)) >> 2);
}

/*
 * Changes the case of letters in a string.  Returns false if it has characters that are not ASCII.
 */
static inline bool
change_bytes(const char *from, char *to, size_t size, char first)
{
	uint64		all = 0;
	uint64		word;

	for (; size >= sizeof(word); size -= sizeof(word))
	{
		memcpy(&word, from, sizeof(word));
		all |= word;
		word = change_word(word, first);
		memcpy(to, &word, sizeof(word));
		from += sizeof(word);
		to += sizeof(word);
	}
	for (; size > 0; size--)
	{
		all |= (unsigned char) *from;
		*to++ = (char) change_word((unsigned char) *from++ & 0x7f, first);
	}
	return (all & EACH_BYTE(0x80)) == 0;
}

static char
first_letter(const GpuSortLetterCase *letters)
{
	return letters->function == F_LOWER_TEXT ? 'A' : 'a';
}

/*
 * Asks whether the collation changes ASCII characters as C does; in Turkish, for example, the lower
 * case of I is not i.  One call for all of the characters is enough: in no language does an ASCII
 * character depend on ASCII characters beside it.
 */
static bool
ask_collation(const GpuSortLetterCase *letters)
{
	char		all[127];
	char		wanted[lengthof(all)];
	text	   *answer;

	for (int i = 0; i < lengthof(all); i++)
		all[i] = (char) (i + 1);
	change_bytes(all, wanted, sizeof(all), first_letter(letters));
	answer =
		DatumGetTextPP(OidFunctionCall1Coll(letters->function, letters->collation,
											PointerGetDatum(cstring_to_text_with_len(all,
																					sizeof(all)))));
	return VARSIZE_ANY_EXHDR(answer) == sizeof(all) &&
		memcmp(VARDATA_ANY(answer), wanted, sizeof(all)) == 0;
}

bool
gpusort_change_letter_case(GpuSortLetterCase *letters, Datum text, Datum *value)
{
	struct varlena *from = (struct varlena *) DatumGetPointer(text);
	struct varlena *to;
	size_t		size;

	if (VARATT_IS_EXTERNAL(from) || VARATT_IS_COMPRESSED(from))
		return false;
	if (!letters->is_asked)
	{
		letters->is_plain = ask_collation(letters);
		letters->is_asked = true;
	}
	if (!letters->is_plain)
		return false;
	size = VARSIZE_ANY_EXHDR(from);
	to = palloc(VARHDRSZ + size);
	SET_VARSIZE(to, VARHDRSZ + size);
	*value = PointerGetDatum(to);
	if (!change_bytes(VARDATA_ANY(from), VARDATA(to), size, first_letter(letters)))
		return false;
	letters->calls_saved++;
	return true;
}
