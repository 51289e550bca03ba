-- Domains over every type, arrays and rows of them: what is done with a value is what its base type's operator
-- class does, and what is stored of it is its own, bit by bit, in whatever way rows come and go.
SET client_min_messages = warning;
SET default_toast_compression = pglz;
CREATE SCHEMA gpusort_domains;
SET search_path = gpusort_domains, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET gpusort.min_rows = 0;
SET gpusort.force = on;
SET jit = off;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);

-- The rows that a query makes, in a table: with PostgreSQL's ways and with ours, whose plan must match.  Both have the
-- column id, by which rows are compared bit by bit, and places where the query is ordered.
CREATE FUNCTION same_rows(query text, pattern text, VARIADIC settings text[] DEFAULT '{}') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	place text := CASE WHEN query ~ 'ORDER BY [^)]*$' THEN 'row_number() OVER ()' ELSE '0' END;
	before text[] := ARRAY(SELECT current_setting(split_part(s, '=', 1)) FROM unnest(settings) s);
	plan text;
	problem text;
BEGIN
	SET LOCAL gpusort.enabled = off;
	EXECUTE format('CREATE TEMP TABLE theirs AS SELECT %s AS place, q.* FROM (%s) q', place, query);
	SET LOCAL gpusort.enabled = on;
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), split_part(settings[i], '=', 2), true);
	END LOOP;
	plan := (SELECT string_agg(line, E'\n') FROM plan_lines(query) line);
	EXECUTE format('CREATE TEMP TABLE ours AS SELECT %s AS place, q.* FROM (%s) q', place, query);
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), before[i], true);
	END LOOP;
	IF plan !~ pattern THEN
		problem := E'planned otherwise:\n' || plan;
	ELSE
		SELECT count(*) || ' rows differ: ' || min(concat_ws(' is not ', o::text, t::text)) INTO problem
		FROM ours o FULL JOIN theirs t USING (id) WHERE o *= t IS NOT TRUE HAVING count(*) > 0;
	END IF;
	IF problem IS NULL AND (SELECT count(*) FROM ours) IS DISTINCT FROM (SELECT count(*) FROM theirs) THEN
		problem := 'another number of rows';
	END IF;
	DROP TABLE ours, theirs;
	RETURN QUERY SELECT query || ': ' || problem WHERE problem IS NOT NULL;
END $$;

-- What COPY writes of the table, and what comes of it when it is read.
CREATE FUNCTION copied(options text, ours bool) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('data_directory') || '/domains';
BEGIN
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY t TO %L %s', file, options);
	TRUNCATE loaded;
	EXECUTE format('COPY loaded FROM %L %s', file, options);
	RETURN pg_read_binary_file(file);
END $$;
CREATE FUNCTION same_copies(options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	IF copied(options, true) IS DISTINCT FROM copied(options, false) THEN
		RETURN NEXT options || ': another file';
	END IF;
	PERFORM copied(options, true);
	RETURN QUERY SELECT format('%s: %s has become %s', options, t, l) FROM t FULL JOIN loaded l USING (id)
		WHERE t *= l IS NOT TRUE LIMIT 2;
	PERFORM bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'loaded'::regclass;
END $$;

-- A copy of the table in the order of an index: where rows don't lie as they are sorted, or are other ones.
CREATE FUNCTION same_clustered() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE clustered AS SELECT * FROM t;
	CREATE INDEX clustered_key ON clustered (c, id);
	CLUSTER clustered USING clustered_key;
	RETURN QUERY SELECT format('%s is where %s should be', l, s)
		FROM (SELECT row_number() OVER (ORDER BY ctid) AS place, q AS l FROM clustered q) l
		FULL JOIN (SELECT row_number() OVER (ORDER BY c, id) AS place, q AS s FROM t q) s USING (place)
		WHERE l *= s IS NOT TRUE LIMIT 2;
	DROP TABLE clustered;
END $$;

-- Two indexes joined by their pages, or not, where these are the only ones.
CREATE FUNCTION same_index_join(columns text, condition text, pattern text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX t_joined ON t (%s)', columns);
	EXECUTE format('CREATE INDEX u_joined ON u (%s)', columns);
	ANALYZE t, u;
	RETURN QUERY SELECT format('(%s) %s', columns, line)
		FROM same_rows(format('SELECT t.id, t.k, u.k AS other FROM t JOIN u ON %s', condition), pattern, 'enable_seqscan=off', 'enable_hashjoin=off',
					   'enable_mergejoin=off', 'enable_nestloop=off') line;
	DROP INDEX t_joined, u_joined;
END $$;

-- A type's values, some of them frequent, and nulls: k is of a domain over a domain, c of the first one, a of arrays, r of
-- rows.  Is the type sorted, are indexes joined by it, and do they keep it as it is?  What is wrong comes back.
CREATE FUNCTION check_type(type text, expression text, sorts bool, joins bool, keeps bool) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	columns text;
BEGIN
	EXECUTE format('CREATE DOMAIN inner_domain AS %s', type);
	CREATE DOMAIN outer_domain AS inner_domain CHECK (VALUE IS NULL OR VALUE::text <> 'nothing');
	CREATE TYPE domain_row AS (a int, k outer_domain);
	CREATE TABLE t (id int, k outer_domain, c inner_domain, a outer_domain[], r domain_row);
	EXECUTE format($sql$
		INSERT INTO t SELECT id, k, k, ARRAY[k, NULL, k], ROW(id, k)::domain_row
		FROM (SELECT id, (%1$s)::%2$s::outer_domain AS k
			  FROM (SELECT id, CASE WHEN id %% 10 > 0 THEN random('domains', id, 89)::int END AS n FROM generate_series(1, 400) id) n) k
		$sql$, expression, type);
	CREATE TABLE u AS SELECT * FROM t WHERE id % 3 > 0;
	CREATE TABLE loaded (LIKE t);
	IF sorts THEN
		CREATE INDEX ON loaded (k, id);
	END IF;
	ANALYZE t, u;
	RETURN QUERY SELECT same_rows('SELECT *, id % 7 AS v FROM t ORDER BY v, id', 'GpuSort');
	RETURN QUERY SELECT same_rows('SELECT t.id, t.k, u.a, u.r FROM t JOIN u USING (id)', 'GpuSort Join', 'enable_hashjoin=off',
		'enable_mergejoin=off', 'enable_nestloop=off');
	RETURN QUERY SELECT same_copies(options) FROM unnest(ARRAY['(FORMAT text)', '(FORMAT csv)', '(FORMAT binary)']) options;
	RETURN QUERY SELECT same_index_join('id) INCLUDE (k', 't.id = u.id', 'GpuSort Index Join');
	IF sorts THEN
		RETURN QUERY SELECT same_rows(query, 'GpuSort', 'enable_hashagg=off') FROM unnest(ARRAY[
			'SELECT * FROM t ORDER BY k DESC, id',
			'SELECT id, c, a, r FROM t ORDER BY c NULLS FIRST, id',
			'SELECT row_number() OVER () AS id, k FROM (SELECT k FROM t ORDER BY k) q',
			'SELECT row_number() OVER () AS id, k, c FROM (SELECT k, c FROM t ORDER BY k, c DESC) q',
			'SELECT id % 5 AS id, percentile_disc(0.4) WITHIN GROUP (ORDER BY k) AS p, mode() WITHIN GROUP (ORDER BY k) AS m, count(*)
				FROM t GROUP BY id % 5',
			'SELECT id % 5 AS id, percentile_disc(ARRAY[0.1, 0.7]) WITHIN GROUP (ORDER BY c) AS p FROM t GROUP BY id % 5',
			'SELECT id % 5 AS id, count(DISTINCT c), count(DISTINCT k) AS k FROM t GROUP BY id % 5']) query;
		FOREACH columns IN ARRAY ARRAY['c DESC, id', 'id, k NULLS FIRST', 'id) INCLUDE (k, c'] LOOP
			RETURN QUERY SELECT line FROM check_index('CREATE INDEX %s ON t (' || columns || ')') line WHERE line !~ ': ok ';
		END LOOP;
		RETURN QUERY SELECT same_index_join('id, k', 't.id = u.id', CASE WHEN keeps THEN 'GpuSort Index Join' ELSE '^(?!.*Index Join)' END);
		RETURN QUERY SELECT same_clustered();
	END IF;
	IF joins THEN
		RETURN QUERY SELECT same_index_join('k, id', 't.k = u.k AND t.id = u.id', 'GpuSort Index Join');
	END IF;
	DROP TABLE t, u, loaded;
	DROP TYPE domain_row;
	DROP DOMAIN outer_domain;
	DROP DOMAIN inner_domain;
END $$;

-- What can be joined by the words of its keys
SELECT type, check_type(type, expression, true, true, true) AS problem
FROM (VALUES ('int2', 'n - 50'), ('int4', 'n * 1000000'), ('int8', 'n * 10000000000 - 50'), ('oid', 'n * 20000000'), ('bool', 'n > 40'),
	('"char"', 'chr(33 + n)'), ('float4', '(''{NaN,-Infinity,0,7.1,-3}''::text[])[1 + n % 5]'), ('float8', '(''{NaN,-Infinity,0,7.1,-3}''::text[])[1 + n % 5]'),
	('money', 'n::numeric'), ('date', '''2000-01-01''::date + n'), ('time', '''00:00''::time + n * interval ''17 s'''),
	('timestamp', '''2000-01-01''::timestamp + n * interval ''17 s'''), ('timestamptz(0)', '''2000-01-01''::timestamptz + n * interval ''17 s'''),
	('pg_lsn', '(''0/'' || to_hex(n))'), ('xid8', 'n::text')) types(type, expression);

-- ... and what can be sorted
SELECT type, check_type(type, expression, true, false, true) AS problem
FROM (VALUES ('numeric', '(''{NaN,1.0,2.00,7.1,-3}''::text[])[1 + n % 5]'), ('numeric(6, 2)', 'n / 7.0'), ('timetz', '''00:00+01''::timetz + n * interval ''17 s'''),
	('interval', 'n * interval ''1 day 1 s'''), ('tid', '''('' || n || '',1)'''), ('uuid', 'md5(n::text)'), ('macaddr', '''08:00:2b:01:02:'' || 10 + n'),
	('macaddr8', '''08:00:2b:01:02:03:04:'' || 10 + n'), ('inet', '''10.0.0.'' || n || ''/'' || 8 + n % 24'), ('cidr', '''10.0.'' || n || ''.0/24'''),
	('bit(10)', 'n::bit(10)'), ('varbit', 'substr(n::bit(10)::text, 4)'), ('bytea', 'decode(md5(n::text), ''hex'')'),
	('mood', '(enum_range(NULL::mood))[1 + n % 3]::text'), ('text COLLATE "C"', 'md5(n::text)'), ('text COLLATE "en-x-icu"', 'md5(n::text)'),
	('varchar(9) COLLATE "C"', '''v'' || n'), ('bpchar(9) COLLATE "C"', '''c'' || n')) types(type, expression);

-- ... and what is only carried along
SELECT type, check_type(type, expression, false, false, true) AS problem
FROM (VALUES ('json', 'json_build_object(''n'', n)'), ('jsonb', 'jsonb_build_object(''n'', n)'), ('point', 'point(n, -n)'), ('int4range', 'int4range(n, n + 3)'),
	('int4multirange', 'int4multirange(int4range(n, n + 3))'), ('tsvector', '(''a'' || n)'), ('pair', 'ROW(n, ''p'' || n)::pair')) types(type, expression);

-- Names, of which indexes keep short strings.
SELECT type, check_type(type, expression, true, false, false) AS problem
FROM (VALUES ('name', '''n'' || n'), ('name COLLATE "en-x-icu"', 'repeat(''n'', 60) || n')) types(type, expression);

-- What is stored decides, not what the type is called: an operator class of one's own keeps all of a name, as columns that
-- are only included do, also in arrays; those of patterns keep the strings that they get.
CREATE DOMAIN title AS name;
CREATE DOMAIN padded AS bpchar(9);
CREATE DOMAIN label AS text;
CREATE OPERATOR CLASS whole_name_ops FOR TYPE name USING btree AS
	OPERATOR 1 < , OPERATOR 2 <= , OPERATOR 3 = , OPERATOR 4 >= , OPERATOR 5 > , FUNCTION 1 btnamecmp(name, name);
CREATE TABLE t AS SELECT id, ('k' || id)::title AS k, ARRAY['k' || id, 'l']::title[] AS a, ('p' || id % 9)::padded AS p, ('l' || id)::label AS l
FROM generate_series(1, 400) id;
CREATE TABLE u AS SELECT * FROM t WHERE id % 3 > 0;
SELECT kept, columns, same_index_join(columns, 't.id = u.id', CASE WHEN kept THEN 'GpuSort Index Join' ELSE '^(?!.*Index Join)' END) AS problem
FROM (VALUES (true, 'id) INCLUDE (k'), (false, 'id, k'), (true, 'id, k whole_name_ops'), (false, 'id, k whole_name_ops, (k::name)'),
	(false, 'id, (k::name)) INCLUDE (k'), (true, 'id, a, k whole_name_ops'), (true, 'id, p bpchar_pattern_ops, l text_pattern_ops) INCLUDE (k')) v(kept, columns);
SELECT check_index(format('CREATE INDEX %%s ON t (%s)', columns))
FROM unnest(ARRAY['k, id', 'p bpchar_pattern_ops, id', 'l text_pattern_ops DESC', 'p, k', 'k DESC) INCLUDE (a']) columns;
DROP TABLE t, u;

-- Memory of the server is not stored for a name's end, in a table either.
CREATE TABLE t AS SELECT id AS k, ('v' || id)::title AS n FROM generate_series(1, 3000) id;
CREATE TABLE u AS SELECT k FROM t;
CREATE INDEX ON t (k, n);
CREATE INDEX ON u (k);
VACUUM ANALYZE t, u;
SET enable_seqscan = off;
SELECT count(*) FROM t JOIN u USING (k) WHERE record_image_eq(row(n), row(n::text::name::title));
CREATE TABLE made AS SELECT k, n FROM t JOIN u USING (k);
SELECT count(*) FROM made WHERE record_image_eq(row(n), row(n::text::name::title));
DROP SCHEMA gpusort_domains CASCADE;
