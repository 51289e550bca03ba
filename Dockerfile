# A PostgreSQL server that preloads gpusort:
#
#	docker build --pull --build-arg PG_MAJOR=18 -t gpusort:18 .
#	docker run --name sorts -e POSTGRES_PASSWORD=secret -d gpusort:18
#
# Sorts are done on the CPU: what a GPU needs is in docs/installing.md.

# hadolint global ignore=DL3006,DL3008
ARG PG_MAJOR=18
ARG DEBIAN_CODENAME=bookworm
FROM postgres:$PG_MAJOR-$DEBIAN_CODENAME

ARG PG_MAJOR

COPY . /tmp/gpusort

RUN apt-get update && \
	apt-mark hold locales && \
	apt-get install -y --no-install-recommends build-essential libicu-dev postgresql-server-dev-$PG_MAJOR && \
	make -C /tmp/gpusort clean && \
	make -C /tmp/gpusort -j"$(nproc)" WITH_CUDA=0 && \
	make -C /tmp/gpusort install WITH_CUDA=0 && \
	mkdir /usr/share/doc/gpusort && \
	cp -r /tmp/gpusort/LICENSE /tmp/gpusort/README.md /tmp/gpusort/docs /usr/share/doc/gpusort && \
	rm -r /tmp/gpusort && \
	apt-get purge -y --auto-remove -o APT::AutoRemove::RecommendsImportant=false \
		-o APT::AutoRemove::SuggestsImportant=false build-essential libicu-dev postgresql-server-dev-$PG_MAJOR && \
	apt-mark unhold locales && \
	rm -rf /var/lib/apt/lists/*

# initdb makes postgresql.conf of it
RUN echo "shared_preload_libraries = 'gpusort'" >>/usr/share/postgresql/postgresql.conf.sample
