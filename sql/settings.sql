-- The settings that users see: type, default, range, and who may change them when, as
-- docs/settings.md has them (test/docs.sh compares the two).
LOAD 'gpusort';
\pset format unaligned
\pset tuples_only on
SELECT format('| `%s` | %s | `%s` | %s | %s |', name, vartype,
	CASE WHEN boot_val::text = '-1' THEN boot_val ELSE current_setting(name) END,
	CASE WHEN vartype = 'enum' THEN array_to_string(enumvals, ', ')
		WHEN max_val::float8 > 1e300 THEN min_val || ' or more'
		WHEN min_val IS NOT NULL THEN concat_ws(' ', min_val, 'to', max_val, unit) END,
	CASE context WHEN 'user' THEN 'session' WHEN 'superuser' THEN 'superuser'
		WHEN 'sighup' THEN 'reload' WHEN 'postmaster' THEN 'restart' ELSE context END)
FROM pg_settings
WHERE name LIKE 'gpusort.%'
ORDER BY name COLLATE "C";

-- Every one says what it is for.
SELECT name FROM pg_settings WHERE name LIKE 'gpusort.%' AND coalesce(short_desc, '') = '';
