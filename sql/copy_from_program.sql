-- COPY FROM PROGRAM: whether it fails when the program does.  PostgreSQL forgives one that dies by SIGPIPE, or whose shell says so (141), if an
-- end marker has come before the end of its output.
SET client_min_messages = warning;
SET gpusort.force = on;
CREATE TABLE program_lines (n numeric);

-- What comes of a COPY by gpusort or by PostgreSQL: how many rows, or the error.
CREATE FUNCTION program_outcome(program text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text;
	detail text;
	context text;
BEGIN
	TRUNCATE program_lines;
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY program_lines FROM PROGRAM %L', program);
	RETURN (SELECT format('%s rows', count(*)) FROM program_lines);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s; %s; %s', replace(message, program, '...'), detail, regexp_replace(context, '(^|\n)SQL statement.*', ''));
END $$;

-- All outputs with all ends.
CREATE FUNCTION program_outcomes(OUT output text, OUT ending text, OUT outcome text) RETURNS SETOF record LANGUAGE plpgsql AS $outcomes$
DECLARE
	ours text;
BEGIN
	FOREACH output IN ARRAY ARRAY['true', 'echo 1', 'printf 1', 'seq -f %0200.0f 6000', 'printf ''\\.\n''', 'seq -f %0200.0f 6000; printf ''\\.\n''', 'seq -f %0200.0f 6000; printf ''\\.\n''; seq -f %0200.0f 6000',
		'seq -f %0200.0f 6000; echo x', 'seq -f %0200.0f 6000; printf ''\\.'''] LOOP
		FOREACH ending IN ARRAY ARRAY['exit 0', 'exit 3', 'exit 141', 'kill -PIPE $$'] LOOP
			outcome := program_outcome(output || '; ' || ending, false);
			ours := program_outcome(output || '; ' || ending, true);
			IF ours <> outcome THEN
				outcome := format('DIFFERENT: %s is not %s', ours, outcome);
			END IF;
			outcome := regexp_replace(outcome, '^end-of-copy marker .*?;', 'end-of-copy marker ...;');
			RETURN NEXT;
		END LOOP;
	END LOOP;
END $outcomes$;

-- the long ones are more than a chunk, which several processes load, or one
SELECT * FROM program_outcomes();
SET max_parallel_maintenance_workers = 0;
SELECT output, ending, outcome FROM program_outcomes() WHERE outcome LIKE 'DIFFERENT%';
RESET max_parallel_maintenance_workers;

-- It is gpusort that loads these.
SET client_min_messages = debug1;
COPY program_lines FROM PROGRAM 'seq 1000';
COPY program_lines FROM PROGRAM 'seq 1000; printf ''\\.\n''';
SET client_min_messages = warning;
DROP FUNCTION program_outcomes, program_outcome;
DROP TABLE program_lines;
