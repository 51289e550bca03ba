# auto_explain: plans with our nodes are well formed in all formats, and have our properties.
PRELOAD=auto_explain
SETTINGS=("auto_explain.log_min_duration = 0" "auto_explain.log_analyze = on" "auto_explain.log_buffers = on" "auto_explain.log_wal = on"
	"auto_explain.log_verbose = on" "auto_explain.log_nested_statements = on" "log_line_prefix = '%m [%p] '")

# Sorts of all kinds: plain, collected by workers, sorted together, late, spilled, handed over, nested, cut short.
statements()
{
	cat <<-'SQL'
		SET gpusort.force = on;
		SET max_parallel_workers_per_gather = 0;
		SELECT count(*) FROM (SELECT * FROM t ORDER BY k DESC, s OFFSET 0) q;
		SELECT s FROM t ORDER BY s COLLATE "en-x-icu" LIMIT 20000;
		SELECT k, rank() OVER (PARTITION BY k % 10 ORDER BY s) FROM t OFFSET 20000;
		SET work_mem = '64kB';
		SET gpusort.pool_quota = 1;
		SELECT count(*) FROM (SELECT k, s FROM t ORDER BY s OFFSET 0) q;
		RESET work_mem;
		RESET gpusort.pool_quota;
		SET gpusort.inject_fault = codec;
		SELECT count(*) FROM (SELECT k, s FROM t ORDER BY s OFFSET 0) q;
		RESET gpusort.inject_fault;
		SELECT count(outer_one((k % 2)::int)) FROM t WHERE k <= 2;
		BEGIN;
		DECLARE c CURSOR FOR SELECT * FROM t ORDER BY s;
		FETCH 10 FROM c;
		CLOSE c;
		COMMIT;
		SET gpusort.late_rows = on;
		SELECT md5(string_agg(q::text, ' ')) FROM (SELECT *, ctid FROM t ORDER BY k % 1000, s LIMIT 10000) q;
		RESET gpusort.late_rows;
		SET max_parallel_workers_per_gather = 2;
		SET parallel_setup_cost = 0;
		SET parallel_tuple_cost = 0;
		SET min_parallel_table_scan_size = 0;
		SET gpusort.cost_gather = 0;
		SELECT * FROM t ORDER BY k, s OFFSET 20000;
		SELECT k, row_number() OVER (PARTITION BY k % 7 ORDER BY s) FROM t OFFSET 20000;
		SET enable_hashjoin = off;
		SET enable_nestloop = off;
		SELECT count(*) FROM t a JOIN t b USING (s);
		SELECT set_config('enable_mergejoin', CASE current_setting('gpusort.enabled') WHEN 'on' THEN 'off' ELSE 'on' END, false);
		SELECT count(*) FROM t a JOIN t b USING (k);
	SQL
}

# count_plans FORMAT: "plans, of which so many have our node", if all can be parsed
count_plans()
{
	perl -MJSON::PP -e '
		my ($format) = @ARGV;
		local $/;
		my $log = <STDIN>;
		my ($plans, $ours) = (0, 0);
		# a plan is what is indented by a tab behind the line that announces it
		while ($log =~ /^[^\n]*duration: [\d.]+ ms  plan:\n((?:\t[^\n]*\n)+)/mg)
		{
			my $text = $1 =~ s/^\t//mgr;
			if ($format eq "json") { exists decode_json($text)->{Plan} or die "no plan: $text" }
			elsif ($format eq "yaml")
			{
				# what PostgreSQL writes of YAML: strings in quotes, or one more step to the right
				my ($depth, $opens) = (0, 0);
				for (split /\n/, $text)
				{
					m{^((?:  )*)(- )?(?:([\w ()-]+): ?)?("(?:[^"\\]|\\.)*"|[-\w.]+)?\s*$} or die "no YAML: $_";
					my $new = length($1) / 2 + ($2 ? 1 : 0);
					$new <= $depth + ($opens ? 2 : 0) or die "too deep: $_";
					($depth, $opens) = ($new, !defined $4);
				}
				$text =~ /^Plan: ?\n +Node Type: "/m or die "no plan: $text";
			}
			elsif ($format eq "xml")
			{
				my @open;
				for ($text =~ m{<([^<>]+)>}g)
				{
					next if m{/$};
					if (m{^/(.*)}) { (pop @open // "") eq $1 or die "wrong end $1: $text" }
					else { push @open, s/ .*//sr }
				}
				die "not closed: $text" if @open;
				die "no XML: $text" if $text =~ s{<[^<>]+>}{}gr =~ /[<>]/;
			}
			else { $text =~ /^Query Text: / && $text =~ /cost=/ or die "no plan: $text" }
			$plans++;
			$ours++ if $text =~ /GpuSort/;
		}
		print "$plans|$ours\n"' "$1"
}

# logged: what the server has logged since END
logged()
{
	tail -c +$((END + 1)) "$WORK/$SERVER.log"
}

# check_formats LABEL: all kinds of sorts in all formats, on the server that was started last, SERVER
check_formats()
{
	local format counts runner

	sql <<-'SQL'
		CREATE TABLE t AS SELECT i AS k, md5(i::text) COLLATE "C" AS s, repeat('<&">''', 3) AS filler FROM generate_series(1, 20000) i;
		VACUUM ANALYZE t;
		CREATE FUNCTION outer_one(n int) RETURNS int8 LANGUAGE plpgsql AS
		$$ BEGIN RETURN (SELECT sum(k) FROM (SELECT k FROM t WHERE k % 2 = n ORDER BY s OFFSET 5) q); END $$;
	SQL
	for format in text json xml yaml; do
		for runner in with without; do
			END=$(stat -c %s "$WORK/$SERVER.log")
			statements | PGOPTIONS="-c auto_explain.log_format=$format" $runner >"$WORK/$SERVER.$runner.out" || tally "$NEIGHBOUR: statements" 0 1
			counts=$(logged | count_plans $format 2>&1)
			if [ $runner = with ]; then
				is "$1, $format: sorts of all kinds" "$(logged | grep -oE 'GpuSort (Collect|Shared|Join)|Handed.Over|by TID|Spilled' | tr - ' ' | sort -u)" \
					$'GpuSort Collect\nGpuSort Join\nGpuSort Shared\nHanded Over\nSpilled\nby TID'
				is "$1, $format: plans and ours" "$(awk -F '|' '{print ($1 >= 14 && $2 >= 13) ? "enough" : $0}' <<<"$counts")" enough
			else
				is "$1, $format: without gpusort" "${counts#*|}" 0
			fi
		done
	done
}

# check_reasons LABEL: from PostgreSQL 19 on auto_explain takes options of extensions, and so logs whose each sort is
check_reasons()
{
	[ "$PG_MAJOR" -ge 19 ] || return 0
	END=$(stat -c %s "$WORK/$SERVER.log")
	PGOPTIONS="-c auto_explain.log_extension_options=gpusort" with -c 'SELECT * FROM t WHERE k < 10 ORDER BY s' \
		-c 'SET gpusort.force = on' -c 'SELECT count(*) FROM (SELECT * FROM t ORDER BY s OFFSET 0) q' >/dev/null
	is "$1: a sort that is left" "$(logged | grep -oE 'Left To PostgreSQL: .*')" 'Left To PostgreSQL: fewer rows estimated than gpusort.min_rows'
	is "$1: whose sorts are what for" "$(logged | grep -oE 'Sort For: .*' | sort | uniq -c | xargs)" '2 Sort For: order by'
	END=$(stat -c %s "$WORK/$SERVER.log")
	with -c 'SELECT * FROM t WHERE k < 10 ORDER BY s' >/dev/null
	is "$1: only if asked for" "$(logged | grep -cE 'Left To PostgreSQL|Sort For')" 0
}

check_neighbour()
{
	local END SERVER=$NEIGHBOUR

	check_formats 'loaded before'
	check_reasons 'loaded before'
	SERVER=${NEIGHBOUR}_last
	REVERSED=yes start_server $SERVER "${SETTINGS[@]}"
	check_formats 'loaded after'
	check_reasons 'loaded after'
	is "the other order" "$(with -c 'SHOW shared_preload_libraries')" 'gpusort, auto_explain'
	stop_server $SERVER
}
