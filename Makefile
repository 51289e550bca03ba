# gpusort: a PostgreSQL extension that takes over large sorts.
#
#   make                    build gpusort.so and gpusortd for the server of PG_CONFIG
#   make install            install them there
#   make check              manual, layout, unit, regression, isolation and TAP tests; some fuzzing and proofs
#   make check TEST=name    one test of any kind, or a part (test/lib/catalogue.sh)
#   make check-server       what needs a server of it
#   make installcheck       the regression tests on a running server that preloads gpusort
#   make check-core         PostgreSQL's own regression suites, every sort and build forced through gpusort
#   make check-core WAYS='daemon small-pool'  ... in other ways (test/core/run.sh)
#   make check-contrib      the suites of contrib, likewise
#   make check-core UPDATE=1  the same, and rewrite the list of expected differences
#   make check-all          check and check-core
#   make check-neighbours   beside other extensions, pg_dump and replication (test/README.md); TEST=name for one
#   make check-packages     PGXN's archive, packages of Debian, RPM and Dockerfile (test/README.md); TEST=name for one
#   make release-check      all of these on all servers, before a version goes out (CONTRIBUTING.md)
#   make dist               the archive for PGXN
#   make proof              servers built and run in special ways (test/README.md); TEST=name for one
#   make demo               sorts with and without gpusort, side by side
#   make bench              benchmarks
#   make fuzz SECONDS=60    differential fuzzing for so many seconds
#   make help               this list
#
# Variables: PG_CONFIG=/path/to/pg_config, WERROR=1 (every warning is an error),
# NVCC=/path/to/nvcc, WITH_CUDA=0 (gpusortd without GPUs), GS_CUDA_ARCH=-arch=sm_90
# (GPUs of one kind only; compiling for all takes minutes), SANITIZE=address,undefined,
# COPT=flags for all of it, DAEMON_LDLIBS=what gpusortd alone is linked with.
# The check, proof, demo, bench and fuzz targets are scripts under test/: they install
# what they need from Debian if allowed to, run on a private copy of the server,
# and work before there is a pg_config, so PGXS is not read for them.  make -j may be used
# for what is compiled.

PG_CONFIG ?= pg_config

# The version: gpusort.control tells it, and nothing else
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'$$/\1/p" gpusort.control)

script_goals = check check-server check-core check-all check-contrib check-neighbours proof demo bench fuzz \
	check-packages dist release-check help
goals := $(or $(MAKECMDGOALS),all)

ifeq ($(filter-out $(script_goals),$(goals)),)

.PHONY: $(script_goals)
.NOTPARALLEL:

help:
	@sed -n '/^#   make /s/^# //p' Makefile
export PG_CONFIG WERROR SANITIZE SEED $(foreach v,NVCC WITH_CUDA GS_CUDA_ARCH,$(if $($v),$v))

check:
	@test/check.sh $(TEST)
check-server:
	@test/check.sh server_state exports regress isolation daemon tap fuzz
check-core:
	@test/core/run.sh $(if $(UPDATE),--update) $(WAYS:%=--with %)
check-contrib:
	@test/core/run.sh --contrib $(if $(UPDATE),--update) $(WAYS:%=--with %)
check-all: check check-core
check-neighbours:
	@test/neighbours/run.sh $(TEST)
check-packages:
	@test/packages/run.sh $(TEST)
proof:
	@test/proof/run.sh $(TEST)
dist:
	@packaging/dist.sh
release-check:
	@test/release.sh $(TEST)
demo:
	@test/demo.sh
bench:
	@test/bench/run.sh
fuzz:
	@test/fuzz/run.sh $(SECONDS)

else ifneq ($(filter $(script_goals),$(goals)),)

# Goals of both kinds: one make for each, in the order given.
.PHONY: $(goals)
.NOTPARALLEL:
$(goals):
	@$(MAKE) --no-print-directory $@

else ifeq ($(shell command -v $(PG_CONFIG)),)

$(error $(PG_CONFIG) not found: install postgresql-server-dev-NN or set PG_CONFIG=/path/to/pg_config)

else ifeq ($(wildcard $(shell $(PG_CONFIG) --includedir-server)/postgres.h),)

# pg_config may be that of a client's headers (libpq-dev).
$(error $(PG_CONFIG) is of $(shell $(PG_CONFIG) --version), whose server headers are not installed: \
install postgresql-server-dev-NN (postgresqlNN-devel), or set PG_CONFIG=/path/to/pg_config of a server)

else

EXTENSION = gpusort
MODULE_big = gpusort
DATA = $(wildcard gpusort--*.sql) src/cost/gpusort_calibrate.sql
PGFILEDESC = "gpusort - faster sorts"

# The engine on devices, real and simulated, is gpusortd's alone.
WINGS = keys runs protocol team memory service stats sort cost plan exec join leaves table btree index cluster load bulk into parse engine engine/host
SRCS = $(wildcard src/*.c $(WINGS:%=src/%/*.c))
OBJS = $(SRCS:.c=.o)

# make installcheck: against a running server into which gpusort is installed, and which
# preloads it: most tests want its pool
REGRESS = setup $(filter-out setup,$(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql))))
REGRESS_OPTS = --load-extension=gpusort

pg_version := $(shell $(PG_CONFIG) --version)
pg_includedir := $(shell $(PG_CONFIG) --includedir-server)

# -isystem: warnings inside the server's headers are not ours.
PG_CPPFLAGS = -isystem $(pg_includedir) -Isrc -MMD -MP -DGPUSORT_VERSION='"$(EXTVERSION)"'
# The server's headers may be of a younger C than gnu11: its compiler's own is taken.
PG_CFLAGS = $(or $(filter -O%,$(COPT)),-O2) -fvisibility=hidden
SHLIB_LINK = -lm
ifdef SANITIZE
SANITIZER_FLAGS = -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
PG_CFLAGS += $(SANITIZER_FLAGS)
SHLIB_LINK += $(SANITIZER_FLAGS)
endif

# PostgreSQL 15 leaves PGDLLEXPORT empty, which hidden visibility would hide.
PG_CPPFLAGS += -DPGDLLEXPORT='__attribute__((visibility("default")))'

ifdef WERROR
PG_CFLAGS += -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers -Werror
endif

# No bitcode: neither clang nor LLVM is needed to build or to install.
override with_llvm = no

EXTRA_CLEAN = $(SRCS:.c=.d) .build_flags tmp_check tmp_source tmp_release test/unit/build build gpusortd

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Names of ICU's functions end with its version, and the server has loaded its own ICU: with the
# headers of another one, the library would be built, and the server would not start.
icu_of = $$(nm -D $(1) 2>/dev/null | sed -nE 's/.* U ucol_[A-Za-z]+_([0-9]+).*/\1/p' | sort -u | head -n 1)
.PHONY: check-icu
all: check-icu
check-icu: $(shlib)
	@ours=$(call icu_of,$(shlib)); servers=$(call icu_of,'$(bindir)/postgres'); \
	if [ "$${servers:-$$ours}" != "$$ours" ] && [ -n "$$ours" ]; then \
		echo "gpusort is compiled with ICU $$ours, $(bindir)/postgres with ICU $$servers: install the headers of that (libicu-dev)" >&2; \
		rm -f $(shlib); exit 1; \
	fi

.PHONY: is-preloaded
installcheck: is-preloaded
is-preloaded:
	@'$(bindir)/psql' -XAt -d postgres -c 'SHOW shared_preload_libraries' | grep -qw gpusort || \
		{ echo "installcheck: gpusort must be in the server's shared_preload_libraries" >&2; exit 1; }

# Another server or other flags: everything is compiled again.
build_flags = $(pg_version) $(pg_includedir) $(CC) $(CPPFLAGS) $(CFLAGS)
ifneq ($(build_flags),$(file <.build_flags))
.PHONY: .build_flags
endif
.build_flags:
	@echo '$(subst ','\'',$(build_flags))' >$@
$(OBJS): .build_flags Makefile

-include $(SRCS:.c=.d)

# gpusortd: no PostgreSQL in it, so nothing of PGXS but where to put it.
DAEMON_WINGS = daemon protocol engine engine/device engine/simulated parse
DAEMON_SRCS = $(wildcard $(DAEMON_WINGS:%=src/%/*.c))
DAEMON_OBJS = $(DAEMON_SRCS:%.c=build/gpusortd/%.o)
DAEMON_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-format-truncation $(if $(WERROR),-Werror) $(COPT) $(SANITIZER_FLAGS)
DAEMON_CPPFLAGS = -Isrc -Icuda -MMD -MP -DGPUSORT_VERSION='"$(EXTVERSION)"'

# On GPUs it sorts if there is a CUDA compiler.
NVCC ?= $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))
WITH_CUDA ?= $(if $(NVCC),1,0)
ifeq ($(WITH_CUDA),1)
GS_CUDA_DIR = cuda
GS_SRC_DIR = src
GS_CUDA_BUILD = build/cuda
include cuda/cuda.mk
$(GS_CUDA_OBJECTS): build/.cuda_flags
DAEMON_CPPFLAGS += -DGS_WITH_CUDA
endif
cuda_flags = $(WITH_CUDA) $(GS_CUDA_NVCCFLAGS)
ifneq ($(cuda_flags),$(file <build/.cuda_flags))
.PHONY: build/.cuda_flags
endif
build/.cuda_flags:
	@mkdir -p build
	@echo '$(cuda_flags)' >$@

all: gpusortd

gpusortd: $(DAEMON_OBJS) $(GS_CUDA_LIB)
	$(CC) $(COPT) $(SANITIZER_FLAGS) -o $@ $^ $(GS_CUDA_LDLIBS) $(DAEMON_LDLIBS) -lm -pthread

build/gpusortd/%.o: %.c .build_flags build/.cuda_flags Makefile
	@mkdir -p $(@D)
	$(CC) $(DAEMON_CFLAGS) $(DAEMON_CPPFLAGS) -c -o $@ $<

-include $(DAEMON_OBJS:.o=.d)

.PHONY: install-gpusortd uninstall-gpusortd
install: install-gpusortd
install-gpusortd: gpusortd installdirs
	$(INSTALL_PROGRAM) gpusortd '$(DESTDIR)$(pkglibdir)/gpusortd'
uninstall: uninstall-gpusortd
uninstall-gpusortd:
	rm -f '$(DESTDIR)$(pkglibdir)/gpusortd'

endif
