-- Network addresses.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

-- By family, network, netmask length, address.
CREATE TABLE t_inet (id int, k inet);
INSERT INTO t_inet SELECT 0, unnest('{0.0.0.0/0,0.0.0.0,1.2.3.4/0,255.255.255.255/0,255.255.255.255,
	10.0.0.0/8,10.0.0.0/16,10.1.0.0/16,10.1.2.3/8,10.1.2.3/16,10.1.2.3,10.1.2.3,10.1.2.3/31,10.1.2.2/31,
	127.255.255.255/1,128.0.0.0/1,255.255.255.255/6,255.255.255.254/6,255.255.255.255/7,255.255.255.254/7,
	::,::/0,::1,1::/16,1::1/16,ffff::/1,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,
	ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/0,ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/0,
	2001:db8::/32,2001:db8::1/63,2001:db8::1/64,2001:db8::1/65,2001:db8:0:0:8000::/64,
	2001:db8:0:0:8000::/65,2001:db8:0:0:8000::1/65,2001:db8:0:0:8000::/33,2001:db8:0:0:4000::1/33,2001:db8::fffe/127,2001:db8::ffff/127,
	::ffff:1.2.3.4,::ffff:1.2.3.4/96,NULL,NULL}'::inet[]);
INSERT INTO t_inet SELECT i, format('%s.%s.%s.%s/%s', random('a', i, 3) * 127, random('b', i, 256),
									random('c', i, 2), random('d', i, 256), random('m', i, 33))::inet
	FROM generate_series(1, 3000) i;
INSERT INTO t_inet SELECT i, (regexp_replace(md5((i % 20)::text), '(....)(?=.)', '\1:', 'g') || '/' ||
							  random('m6', i, 129))::inet
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_inet');

CREATE TABLE t_cidr (id int, k cidr);
INSERT INTO t_cidr SELECT id, network(k) FROM t_inet;
SELECT check_directions('t_cidr');

CREATE TABLE t_macaddr (id int, k macaddr);
INSERT INTO t_macaddr SELECT 0, unnest('{00:00:00:00:00:00,00:00:00:00:00:01,00:00:00:80:00:00,7f:ff:ff:ff:ff:ff,
	80:00:00:00:00:00,ff:ff:ff:ff:ff:ff,ff:ff:ff:ff:ff:ff,NULL,NULL}'::macaddr[]);
INSERT INTO t_macaddr SELECT i, substr(md5((i % 2500)::text), 1, 12)::macaddr FROM generate_series(1, 3000) i;
SELECT check_directions('t_macaddr');

CREATE TABLE t_macaddr8 (id int, k macaddr8);
INSERT INTO t_macaddr8 SELECT 0, unnest('{00:00:00:00:00:00:00:00,00:00:00:00:80:00:00:01,00:00:00:80:00:00:00:00,
	7f:ff:ff:ff:ff:ff:ff:ff,80:00:00:00:00:00:00:00,ff:ff:ff:ff:ff:ff:ff:ff,NULL,NULL}'::macaddr8[]);
INSERT INTO t_macaddr8 SELECT i, substr(md5((i % 2500)::text), 1, 16)::macaddr8 FROM generate_series(1, 3000) i;
SELECT check_directions('t_macaddr8');
