# PostGIS: its core suite, with everything forced through gpusort, gives what it gives without gpusort, whatever it
# expects; rows ordered by what its functions return; its indexes. Its source is Debian's. Rasters, which take GDAL, and
# topologies are left out.
PACKAGES="postgis-3 postgis-3-scripts"
PROGRAMS="proj-data $(libraries_of "postgresql-$PG_MAJOR-postgis-3" geos-c proj protobuf-c json-c | xargs)"
# the server loads them
export LD_LIBRARY_PATH=$WORK/programs/usr/lib/$(uname -m)-linux-gnu PROJ_DATA=$WORK/programs/usr/share/proj

# What may differ: the name of a scan, and which of points at the same distance comes first (on a grid the neighbours to
# the left and to the right are; below, their distances are compared).
regardless()
{
	sed -E 's/^(\|=\| no idx\|)Custom Scan,Seq Scan$/\1Seq Scan/; s/^(#3g\|1000\|)[tf]$/\1/'
}

# run_test NAME TEST SETTINGS: as PostGIS's run_test.pl does it; what it prints
run_test()
{
	PGDATABASE=postgis_$1 PGOPTIONS="-c extra_float_digits=0 -c lc_messages=C $3" timeout 600 "${BECOME[@]}" env -C "$WORK/postgis/regress/core" \
		"$BINDIR/psql" -tXAq -v VERBOSITY=terse -v "tmpfile='$WORK/postgis.tmp/$1'" -v regdir="$WORK/postgis/regress" -v schema=public. \
		-v scriptdir="$(echo "$SHAREDIR"/contrib/postgis-*)" -f "$2.sql" 2>&1 | sed -E 's/^psql.*(NOTICE|WARNING|ERROR):/\1:/' | regardless
}

# as_expected TEST OUTPUT: what run_test.pl makes of an output that is good
as_expected()
{
	sed -E 's/Infinity|Inf|1\.#INF/inf/g; s/[eE]([+-])0+([0-9]+)/e\1\2/g; s/Self-intersection .*/Self-intersection/; s/^ROLLBACK/COMMIT/; /^[[:space:]]*$/d' <<<"$2" |
		cmp -s - <(grep -v '^[[:space:]]*$' "$WORK/postgis/regress/core/$1_expected" | regardless)
}

check_suite()
{
	local name test without forced good=0 good_forced=0 n=0

	for name in without forced; do
		sql -c "CREATE DATABASE postgis_$name TEMPLATE template0"
		PGDATABASE=postgis_$name sql -c 'CREATE EXTENSION postgis'
	done
	mkdir -p "$WORK/postgis.tmp"
	give_to_server "$WORK/postgis" "$WORK/postgis.tmp"
	# hulls that take minutes have nothing sorted
	for test in $(cd "$WORK/postgis/regress/core" && ls -- *_expected | sed 's/_expected$//' | grep -vx 'concave_hull\|concave_hull_hard'); do
		without=$(run_test without "$test" '-c gpusort.enabled=off')
		forced=$(run_test forced "$test" '-c gpusort.force=on -c gpusort.verify=on -c gpusort.min_rows=0')
		is "$test" "$forced" "$without"
		n=$((n + 1))
		! as_expected "$test" "$without" || good=$((good + 1))
		! as_expected "$test" "$forced" || good_forced=$((good_forced + 1))
	done
	say "$good of $n tests are as PostGIS expects, without gpusort"
	is "as PostGIS expects" "$good_forced" "$good"
	tally "$NEIGHBOUR: there are tests" $((good > 80)) $((good <= 80))
}

check_neighbour()
{
	local query

	# what update-alternatives does where packages are installed
	cp "$SHAREDIR/extension/postgis-3.control" "$SHAREDIR/extension/postgis.control"
	sql -c 'CREATE EXTENSION postgis' || { tally "$NEIGHBOUR: CREATE EXTENSION" 0 1; return; }
	fetch_source postgis || { tally "$NEIGHBOUR: source" 0 1; return; }
	check_suite
	holds "its tests sort by gpusort" "SELECT sum(sorts) > 100 FROM pg_stat_gpusort WHERE datname = 'postgis_forced'"
	holds "... and not without" "SELECT count(*) = 0 FROM pg_stat_gpusort WHERE datname = 'postgis_without'"

	sql -c 'CREATE TABLE places AS SELECT i AS id, ST_Point(hashint4(i) % 1000, hashint4(-i) % 1000, 3857) AS g FROM generate_series(1, 5000) i' \
		-c 'ANALYZE places'
	for query in 'id FROM places ORDER BY g <-> ST_Point(1, 2, 3857), id' 'id, ST_AsText(g) FROM places ORDER BY g, id' \
		'id FROM places ORDER BY ST_X(g), ST_Y(g) DESC, id' 'id FROM places ORDER BY ST_GeoHash(ST_Transform(g, 4326)) COLLATE "C", id' \
		'count(DISTINCT g), count(DISTINCT ST_X(g)) FROM places' 'ST_X(g), count(*), ST_AsText(ST_Extent(g)) FROM places GROUP BY 1 ORDER BY 1' \
		'id, ST_ClusterKMeans(g, 5) OVER (PARTITION BY id % 3 ORDER BY id) FROM places WHERE id < 300 ORDER BY id' \
		'ST_AsText(ST_MakeLine(g ORDER BY ST_X(g), id)) FROM places GROUP BY id % 7 ORDER BY min(id)' \
		'a.id, ARRAY(SELECT a.g <-> b.g FROM places b ORDER BY a.g <-> b.g LIMIT 9), ARRAY(SELECT ST_Distance(a.g, b.g) FROM places b ORDER BY 1 LIMIT 9)
			FROM places a WHERE id <= 20 ORDER BY 1' \
		'a.id, b.id FROM places a JOIN places b ON ST_DWithin(a.g, b.g, 50) WHERE a.id <= 200 ORDER BY ST_Distance(a.g, b.g), a.id, b.id'; do
		same "$query" "SELECT $query"
	done
	holds "sorted by gpusort" "SELECT sum(sorts) >= 6 FROM pg_stat_gpusort WHERE datname = 'postgres'"
	query='EXPLAIN (COSTS OFF) SELECT id FROM places ORDER BY g <-> ST_Point(1, 2, 3857) LIMIT 5'
	sql -c 'CREATE INDEX places_g ON places USING gist (g)' -c 'CREATE INDEX places_b ON places (g)' -c 'CREATE INDEX places_x ON places (ST_X(g))'
	is "its index is used" "$(with -c "$query")" "$(without -c "$query")"
	is "... indeed" "$(with -c "$query" | grep -c 'Index Scan using places_g')" 1
	is "indexes by its functions" "$(built places_x) of $(check_indexes '^places_')" '1 of 2 valid'
	sql -c 'DROP DATABASE postgis_without' -c 'DROP DATABASE postgis_forced'
}
