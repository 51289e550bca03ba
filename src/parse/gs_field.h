/*
 * gs_field.h
 *		A field's value: without quotes and escapes.
 */
#ifndef GS_FIELD_H
#define GS_FIELD_H

#include "parse/gs_dialect.h"

/*
 * Writes the value of a field that has GS_FIELD_SPECIAL (other fields are their own values), as
 * bytes without a terminator; returns how many they are.  "value" has room for as many bytes as the
 * field has, and may be the field itself.  "escaped_bytes" becomes true if escapes made bytes that
 * are not ASCII, or 0: the server verifies its encoding then.
 *
 * In text format a field that is the null marker must be recognised before: the marker is compared
 * with the field as it stands.
 */
extern size_t gs_field_value(const gs_dialect *dialect, const char *field, size_t bytes,
							 char *value, bool *escaped_bytes);

#endif							/* GS_FIELD_H */
