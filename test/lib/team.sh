# team.sh
#		Sourced after common.sh and cluster.sh, where sorts are forced upon several processes.
#
#	tally_team		count whether the cluster started last has one sort by several: the plan of a query without
#					workers tells so.  (A worker may come when all is done, so it is asked for up to ten times.)

tally_team()
{
	local plan n

	sql -c "CREATE TABLE team_rows AS SELECT hashint8(g) h FROM generate_series(1, 2000) g"
	for ((n = 0; n < 10; n++)); do
		plan=$(sql -At -c "SET gpusort.force = on" -c "SET max_parallel_workers_per_gather = 0" \
			-c "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM team_rows ORDER BY h")
		! grep -q 'Processes: [23]' <<<"$plan" || break
	done
	[ $n -lt 10 ] || echo "$plan"
	tally "several processes sort" $((n < 10)) $((n == 10))
}
