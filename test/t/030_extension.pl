# The extension's life: installed, upgraded from each older version, gone back from, dropped; and a server
# whose library is not preloaded any more, or is gone.
# Runs alone: takes files of the installation away for a while.
use strict;
use warnings;

use File::Path qw(make_path);
use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main');
my $newest = $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'gpusort'");
my @older = split /\n/, $node->safe_psql('postgres',
	"SELECT version FROM pg_available_extension_versions WHERE name = 'gpusort' AND version <> '$newest' ORDER BY 1");

# All that belongs to the extension, with whatever may differ: definitions, columns, rights, comments.
sub members
{
	my ($database) = @_;

	return $node->safe_psql($database, q(
		SELECT o.type, o.identity,
			CASE WHEN d.classid = 'pg_proc'::regclass THEN pg_get_functiondef(d.objid)
				WHEN d.classid = 'pg_class'::regclass THEN pg_get_viewdef(d.objid) END,
			(SELECT proacl::text FROM pg_proc WHERE oid = d.objid AND d.classid = 'pg_proc'::regclass),
			(SELECT concat_ws(' ', relkind, relacl::text, reloptions::text) FROM pg_class
				WHERE oid = d.objid AND d.classid = 'pg_class'::regclass),
			(SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attacl::text, col_description(attrelid, attnum)),
					', ' ORDER BY attnum)
				FROM pg_attribute WHERE attrelid = d.objid AND d.classid = 'pg_class'::regclass AND attnum > 0 AND NOT attisdropped),
			(SELECT string_agg(concat(i.privtype, i.initprivs), ' ' ORDER BY i.objsubid) FROM pg_init_privs i
				WHERE i.objoid = d.objid AND i.classoid = d.classid),
			obj_description(d.objid, d.classid::regclass::text)
		FROM pg_depend d, pg_identify_object(d.classid, d.objid, d.objsubid) o
		WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
			AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'gpusort')
		ORDER BY 1, 2));
}

sub version_in
{
	my ($database) = @_;

	return $node->safe_psql($database, "SELECT extversion FROM pg_extension WHERE extname = 'gpusort'");
}

# All functions can be looked up in the library, those of older versions, too.
sub functions_are_there
{
	my ($database, $when) = @_;

	is($node->safe_psql($database, q(SELECT count(*) > 5 FROM pg_proc, pg_get_functiondef(oid) d WHERE probin LIKE '%gpusort')),
		't', "$when: has functions");
	my ($rc, $out, $err) = $node->psql($database, q(
		DO $$
		DECLARE f record;
		BEGIN
			FOR f IN SELECT p.* FROM pg_proc p WHERE probin LIKE '%gpusort' LOOP
				EXECUTE format('CREATE FUNCTION pg_temp.looked_up() RETURNS text LANGUAGE C AS %L, %L', f.probin, f.prosrc);
				DROP FUNCTION pg_temp.looked_up();
			END LOOP;
		END $$));
	is($err, '', "$when: the library has them");
}

# Upgrades, one by one and at once.
ok(@older > 0, 'there are older versions');
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION gpusort');
is(version_in('fresh'), $newest, 'CREATE EXTENSION installs the newest version');
my $fresh = members('fresh');
like($fresh, qr/gpusort_version\(\)/, 'the listing has functions');
functions_are_there('fresh', $newest);
for my $version (@older)
{
	my $database = "from_$version";

	$node->safe_psql('postgres', qq(CREATE DATABASE "$database"));
	$node->safe_psql($database, "CREATE EXTENSION gpusort VERSION '$version'");
	is(version_in($database), $version, "$version can be installed");
	functions_are_there($database, $version);
	my $before = members($database);
	$node->safe_psql($database, 'ALTER EXTENSION gpusort UPDATE');
	is(version_in($database), $newest, "$version is updated to $newest");
	is(members($database), $fresh, "... and has what $newest has");
	functions_are_there($database, "$newest from $version");
	is($node->safe_psql($database, 'SELECT gpusort_version()'), $newest, '... which works');

	# The way back: there is no script for it.
	my ($rc, $out, $err) = $node->psql($database, "ALTER EXTENSION gpusort UPDATE TO '$version'");
	like($err, qr/has no update path/, "no script back to $version");
	$node->safe_psql($database, "DROP EXTENSION gpusort; CREATE EXTENSION gpusort VERSION '$version'");
	is(members($database), $before, "$version can be installed again");
}

# What users have made of the functions stands in the way of DROP, and of nothing else.
$node->safe_psql('fresh', 'CREATE VIEW mine AS SELECT gpusort_version() AS v');
my ($rc, $out, $err) = $node->psql('fresh', 'DROP EXTENSION gpusort');
like($err, qr/view mine depends on function gpusort_version/, 'DROP EXTENSION keeps what others use');
$node->safe_psql('fresh', 'DROP EXTENSION gpusort CASCADE');
is(members('fresh'), '', 'DROP EXTENSION CASCADE leaves nothing');

# A database with indexes and a materialized view that gpusort has sorted, and a session with plans of it.
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE TABLE t AS SELECT hashint4(i) AS k, md5(i::text) AS s FROM generate_series(1, 20000) i;
	CREATE INDEX t_k ON t (k);
	CREATE UNIQUE INDEX t_s ON t (s COLLATE "C") INCLUDE (k);
	CREATE MATERIALIZED VIEW m AS SELECT k, s FROM t ORDER BY s;
	CREATE FUNCTION sorted() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t ORDER BY k, s';
	ANALYZE));
is($node->safe_psql('postgres', 'SET gpusort.force = on; CREATE INDEX t_ks ON t (k, s); SELECT built FROM gpusort_index_builds()'),
	'1', 'an index is built');
my $sums = q(SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM sorted()) x;
	SET enable_seqscan = off; SET enable_sort = off;
	SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM t ORDER BY k) x;
	SELECT md5(string_agg(s, ',')) FROM (SELECT s FROM t ORDER BY s COLLATE "C") x;
	SELECT md5(string_agg(s, ',')) FROM m;
	SELECT bt_index_parent_check(c.oid, true) FROM pg_class c WHERE relname LIKE 't\_%' AND relkind = 'i');
my $with = $node->safe_psql('postgres', $sums);
$node->safe_psql('postgres', $_)
	for 'ALTER SYSTEM SET gpusort.min_rows = 3000', 'ALTER ROLE CURRENT_USER SET gpusort.pool_quota = 20';

# Not preloaded any more: settings of it in files and roles are kept and mean nothing, functions load it.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is($node->safe_psql('postgres', $sums), $with, 'not preloaded: indexes are read, answers are the same');
unlike(plan_of($node, 'SELECT * FROM t ORDER BY s'), qr/GpuSort/, 'not preloaded: sorts are PostgreSQL\'s');
is($node->safe_psql('postgres', 'SELECT gpusort_version()'), $newest, 'not preloaded: functions load the library');
like($node->safe_psql('postgres', 'SELECT state FROM gpusort_service()'), qr/\S/, 'not preloaded: there is a state of the service');

# The file is gone.
my $library = $node->config_data('--pkglibdir') . '/gpusort.so';
rename $library, "$library.gone" or BAIL_OUT("cannot rename $library: $!");
END { rename "$library.gone", $library if defined $library && -f "$library.gone" }
$node->restart;
is($node->safe_psql('postgres', $sums), $with, 'library gone: indexes are read, answers are the same');
($rc, $out, $err) = $node->psql('postgres', 'SELECT gpusort_version()');
like($err, qr/could not access file "(\$libdir\/)?gpusort"/, 'library gone: a function says which file it lacks');
$node->safe_psql('postgres', q(INSERT INTO t SELECT i, i::text FROM generate_series(1, 100) i; REINDEX TABLE t; VACUUM t;
	REFRESH MATERIALIZED VIEW m));
$node->safe_psql('postgres', 'DROP EXTENSION gpusort');
is(members('postgres'), '', 'library gone: the extension can be dropped');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_proc WHERE proname LIKE 'gpusort%')), '0', '... with its functions');

# A server that is to preload it does not start, and says why.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpusort'");
$node->stop;
ok(!$node->start(fail_ok => 1), 'library gone: a server that is to preload it does not start');
like(slurp_file($node->logfile), qr/FATAL: .*could not access file "gpusort"/, '... and says what it lacks');
rename "$library.gone", $library or BAIL_OUT("cannot rename $library: $!");
$node->start;
like(plan_of($node, 'SELECT * FROM t ORDER BY s', 'gpusort.force' => 'on'), qr/GpuSort/, 'library back: it sorts');
is($node->safe_psql('postgres', 'SHOW gpusort.min_rows'), '3000', '... and has its settings');
is($node->safe_psql('postgres', 'SHOW gpusort.pool_quota'), '20', '... and roles have theirs');
$node->stop;

# The files lie elsewhere, as in an image that is mounted beside the server's; from 18 on those of the extension, too.
my $elsewhere = $node->basedir . '/elsewhere';
my $scripts = $node->config_data('--sharedir') . '/extension';
my $control = "$scripts/gpusort.control";
make_path("$elsewhere/lib", "$elsewhere/share/extension");
system_or_bail('cp', '-p', $library, $node->config_data('--pkglibdir') . '/gpusortd', "$elsewhere/lib/");
system_or_bail('cp', '-p', glob("$scripts/gpusort*"), "$elsewhere/share/extension/");
$node->append_conf('postgresql.conf', "dynamic_library_path = '$elsewhere/lib:\$libdir'\ngpusort.daemon = 'host:1'");
rename $library, "$library.gone" or BAIL_OUT("cannot rename $library: $!");
if ($node->pg_version >= 18)
{
	$node->append_conf('postgresql.conf', "extension_control_path = '$elsewhere/share:\$system'");
	rename $control, "$control.gone" or BAIL_OUT("cannot rename $control: $!");
}
END { rename "$control.gone", $control if defined $control && -f "$control.gone" }
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION gpusort');
is($node->safe_psql('postgres', 'SELECT gpusort_version()'), $newest, 'files elsewhere: the extension is found');
$node->poll_query_until('postgres', "SELECT state = 'up' FROM gpusort_service()") or die "gpusortd does not come\n";
is(readlink('/proc/' . $node->safe_psql('postgres', 'SELECT pid FROM gpusort_service()') . '/exe'), "$elsewhere/lib/gpusortd",
	'... gpusortd is the one beside the library');
like(plan_of($node, 'SELECT * FROM t ORDER BY s', 'gpusort.force' => 'on'), qr/GpuSort/, '... it sorts');
same_answer($node, 'SELECT * FROM t ORDER BY s, k', '... and answers are the same');
$node->stop;
done_testing();
