# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make help lists the targets.

CC	?= cc
CLANG	?= clang
BPFTOOL	?= $(firstword $(shell command -v bpftool) /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
PREFIX	?= /usr/local
SBINDIR	?= $(PREFIX)/sbin
BINDIR	?= $(PREFIX)/bin
DATADIR	?= $(PREFIX)/share/cgnet
MANDIR	?= $(PREFIX)/share/man
BASHDIR	?= $(PREFIX)/share/bash-completion/completions
ZSHDIR	?= $(PREFIX)/share/zsh/site-functions
UNITDIR	?= $(PREFIX)/lib/systemd/system
INITDIR	?= $(patsubst /usr/etc,/etc,$(PREFIX)/etc)/init.d
# What the units and the init script load.
POLICY	?= /etc/cgnet.conf

VERSION	:= 0.1.0
TOOLS	:= $(CLANG) $(BPFTOOL) $(PKG_CONFIG)
LIBS	:= libbpf libcgroup libconfuse libmnl json-c libmd libevent_core libcap-ng libseccomp libcares
LIBDEB	:= libbpf-dev libcgroup-dev libconfuse-dev libmnl-dev libjson-c-dev libmd-dev libevent-dev \
	   libcap-ng-dev libseccomp-dev libc-ares-dev
# What the generator of cgnet-run's filters needs.
GENLIBS	:= libseccomp

# SAN=1 builds everything with ASan and UBSan, in a directory of its own.
ifdef SAN
BUILD	:= build-san
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
RUN_LDFLAGS :=
else
BUILD	:= build
# cgnet-run is started for every session: a static binary spares the loader's time.
RUN_LDFLAGS := -static-pie
endif

WARN	:= -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	   -Wformat=2 -Wpointer-arith -Wwrite-strings
CFLAGS	?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(SANFLAGS) -D_GNU_SOURCE -DCGNET_VERSION='"$(VERSION)"' \
	     -fPIE -fstack-protector-strong -Iinclude -Isrc/lib -Ibpf -I$(BUILD) -MMD -MP
ifndef SAN
ALL_CFLAGS += -D_FORTIFY_SOURCE=2
endif
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBS) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(LIBS) 2>/dev/null)

MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
BPF_CFLAGS = -target bpf -O2 -g -Wall -Wextra -Werror -Iinclude -Ivmlinux \
	     $(addprefix -I/usr/include/,$(MULTIARCH))

lib_src	  := $(wildcard src/lib/*.c)
cgnetd_src := $(wildcard src/cgnetd/*.c)
gen_src	  := src/cgnet-run/seccomp_gen.c
run_src	  := $(filter-out $(gen_src),$(wildcard src/cgnet-run/*.c))
unit_src  := $(wildcard tests/unit/*.c)
# What of the service is tested without it.
unit_more := $(addprefix src/cgnetd/,grants.c peer.c quota.c)
live_src  := $(wildcard tests/live/*.c)
bench_src := $(wildcard tests/bench/*.c)
fuzz_src  := $(wildcard tests/fuzz/*.c)
obj = $(patsubst %.c,$(BUILD)/%.o,$(1))

# V=1 shows the commands.
Q	:= $(if $(V),,@)
say	= $(if $(V),,@echo '$(1)' $(patsubst $(BUILD)/%,%,$@))

.PHONY: all man check live matrix fuzz bench lint format install uninstall clean help deps FORCE
all: $(BUILD)/cgnetd $(BUILD)/cgnet-run

help:
	@echo 'make            builds build/cgnetd and build/cgnet-run (SAN=1: in build-san, with ASan and UBSan)'
	@echo 'make man        builds the manual pages in build/man; needs scdoc'
	@echo 'make check      unit tests; needs no privilege'
	@echo 'make live       live tests: real connects in a network namespace; needs root'
	@echo 'make matrix     attacks a session in every way known; writes build/matrix.md; needs root'
	@echo 'make fuzz       builds the fuzzers; ci/fuzz runs them for a bounded time'
	@echo 'make bench      builds the benchmarks; ci/bench runs them'
	@echo 'make lint       clang-format, clang-tidy, cppcheck, shellcheck, and ci/manual'
	@echo 'make format     rewrites the sources with clang-format'
	@echo 'make install    to $$DESTDIR$$PREFIX (PREFIX=/usr/local)'
	@echo 'make uninstall  removes what install put there'
	@echo 'make clean      removes build and build-san'

# One line names all that is missing, before the first compiler error would.
$(BUILD)/deps.ok: Makefile
	@missing=; \
	for t in $(TOOLS); do command -v $$t >/dev/null || missing="$$missing $$t"; done; \
	set -- $(LIBDEB); \
	for l in $(LIBS); do $(PKG_CONFIG) --exists $$l 2>/dev/null || missing="$$missing $$1"; shift; done; \
	if [ -n "$$missing" ]; then echo "missing:$$missing (sudo ci/deps installs all)" >&2; exit 1; fi
	@mkdir -p $(@D) && touch $@

$(BUILD)/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h include/*.h vmlinux/*.h) $(BUILD)/deps.ok
	$(call say,BPF )
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,GEN )
	$(Q)$(BPFTOOL) gen skeleton $< name $* > $@.tmp && mv $@.tmp $@

skeletons := $(patsubst bpf/%.bpf.c,$(BUILD)/%.skel.h,$(wildcard bpf/*.bpf.c))

# Whatever includes a skeleton waits for it; dependency files take over after the first build.
$(call obj,$(cgnetd_src)): | $(skeletons)

$(BUILD)/%.o: %.c $(BUILD)/deps.ok
	$(call say,CC  )
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -c $< -o $@

$(BUILD)/libcgnet.a: $(call obj,$(lib_src))
	$(call say,AR  )
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/cgnetd: $(call obj,$(cgnetd_src)) $(BUILD)/libcgnet.a
	$(call say,LINK)
	$(Q)$(CC) $(SANFLAGS) -pie $(LDFLAGS) $^ $(PKG_LIBS) -o $@

# The seccomp filters of cgnet-run, which so needs no library for them.
$(BUILD)/seccomp_gen: $(call obj,$(gen_src))
	$(call say,LINK)
	$(Q)$(CC) $(SANFLAGS) -pie $(LDFLAGS) $^ $$($(PKG_CONFIG) --libs $(GENLIBS)) -o $@

$(BUILD)/seccomp_filter.h: $(BUILD)/seccomp_gen
	$(call say,GEN )
	$(Q)$< > $@.tmp && mv $@.tmp $@

$(call obj,$(run_src) tests/unit/test_filter.c): | $(BUILD)/seccomp_filter.h

# Of the library it takes files that need nothing but libc.
$(BUILD)/cgnet-run: $(call obj,$(run_src)) $(BUILD)/libcgnet.a
	$(call say,LINK)
	$(Q)$(CC) $(SANFLAGS) $(RUN_LDFLAGS) $(LDFLAGS) $^ -o $@

$(call obj,$(unit_src)): ALL_CFLAGS += -iquote src/cgnetd
$(BUILD)/unit: $(call obj,$(unit_src) $(unit_more)) $(BUILD)/libcgnet.a
	$(call say,LINK)
	$(Q)$(CC) $(SANFLAGS) -pie $(LDFLAGS) $^ $(PKG_LIBS) -lcunit -o $@

# Each file under tests/live and tests/bench is a program of its own.
$(BUILD)/tests/live/% $(BUILD)/tests/bench/%: $(BUILD)/libcgnet.a
live_bin := $(patsubst %.c,$(BUILD)/%,$(live_src))
bench_bin := $(patsubst %.c,$(BUILD)/%,$(bench_src))
$(live_bin) $(bench_bin): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libcgnet.a
	$(call say,LINK)
	$(Q)$(CC) $(SANFLAGS) -pie $(LDFLAGS) $^ $(PKG_LIBS) -o $@

# The matrix's attacks, and what they meet; two of them without a C library, or below 4 GiB.
matrix_dir := $(BUILD)/tests/matrix
matrix_bin := $(addprefix $(matrix_dir)/,attack outside bare int80)
attack_src := $(filter-out %/bare.c %/int80.c $(wildcard tests/matrix/outside*.c), \
	      $(wildcard tests/matrix/*.c))
$(matrix_dir)/attack: $(call obj,$(attack_src))
$(matrix_dir)/outside: $(call obj,$(wildcard tests/matrix/outside*.c))
$(matrix_dir)/attack $(matrix_dir)/outside:
	$(call say,LINK)
	$(Q)$(CC) $(SANFLAGS) -pie $(LDFLAGS) $^ -o $@

$(matrix_dir)/bare: tests/matrix/bare.c
	$(call say,CC  )
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -ffreestanding -fno-stack-protector -fno-pie -no-pie -nostdlib \
		-static $< -o $@

$(matrix_dir)/int80: tests/matrix/int80.c tests/live/sock.h
	$(call say,CC  )
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -D_GNU_SOURCE -fno-pie -no-pie -static $< -o $@

# The fuzzers are built with clang from the library's sources.
fuzz_bin := $(patsubst %.c,$(BUILD)/%,$(fuzz_src))
$(fuzz_bin): $(BUILD)/%: %.c $(lib_src) $(wildcard src/lib/*.h include/*.h) $(BUILD)/deps.ok
	$(call say,FUZZ)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=gnu11 -O1 -g -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -Iinclude -Isrc/lib -Ibpf $(PKG_CFLAGS) $< $(lib_src) \
		$(PKG_LIBS) -o $@

check: $(BUILD)/unit
	$(BUILD)/unit

live: all $(live_bin)
	tests/live/run

matrix: all $(live_bin) $(matrix_bin)
	CGNET_BUILD=$(abspath $(BUILD)) tests/matrix/run

fuzz: $(fuzz_bin)

bench: all $(bench_bin)

lint: all
	ci/lint

format:
	clang-format -i $$(git ls-files '*.c' '*.h' ':!vmlinux')

pages := $(patsubst src/man/%.scd,$(BUILD)/man/%,$(wildcard src/man/*.scd))
man: $(pages)

# Made anew each time: what stands in them depends on PREFIX and the like.
fill = sed 's|@VERSION@|$(VERSION)|; s|@DATADIR@|$(DATADIR)|; s|@SBINDIR@|$(SBINDIR)|; s|@POLICY@|$(POLICY)|'

$(BUILD)/service/%: src/service/% FORCE
	$(call say,GEN )
	@mkdir -p $(@D)
	$(Q)$(fill) $< > $@.tmp && mv $@.tmp $@

$(BUILD)/man/%: src/man/%.scd FORCE
	@command -v scdoc >/dev/null || { echo 'missing: scdoc (sudo ci/deps installs all)' >&2; exit 1; }
	$(call say,MAN )
	@mkdir -p $(@D)
	$(Q)$(fill) $< | scdoc > $@.tmp && mv $@.tmp $@

installed = $(SBINDIR)/cgnetd $(BINDIR)/cgnet-run $(MANDIR)/man8/cgnetd.8 $(MANDIR)/man1/cgnet-run.1 \
	$(MANDIR)/man5/cgnet.conf.5 $(BASHDIR)/cgnetd $(BASHDIR)/cgnet-run $(ZSHDIR)/_cgnet \
	$(UNITDIR)/cgnetd.service $(UNITDIR)/cgnet-classes.service $(INITDIR)/cgnetd

install: all man $(addprefix $(BUILD)/service/,cgnetd.service cgnet-classes.service cgnetd.openrc)
	install -D -m 0755 $(BUILD)/cgnetd $(DESTDIR)$(SBINDIR)/cgnetd
	install -D -m 0755 $(BUILD)/cgnet-run $(DESTDIR)$(BINDIR)/cgnet-run
	install -D -m 0644 $(BUILD)/man/cgnetd.8 $(DESTDIR)$(MANDIR)/man8/cgnetd.8
	install -D -m 0644 $(BUILD)/man/cgnet-run.1 $(DESTDIR)$(MANDIR)/man1/cgnet-run.1
	install -D -m 0644 $(BUILD)/man/cgnet.conf.5 $(DESTDIR)$(MANDIR)/man5/cgnet.conf.5
	install -D -m 0644 src/completion/cgnet.bash $(DESTDIR)$(BASHDIR)/cgnetd
	ln -sf cgnetd $(DESTDIR)$(BASHDIR)/cgnet-run
	install -D -m 0644 src/completion/_cgnet $(DESTDIR)$(ZSHDIR)/_cgnet
	install -D -m 0644 $(BUILD)/service/cgnetd.service $(DESTDIR)$(UNITDIR)/cgnetd.service
	install -D -m 0644 $(BUILD)/service/cgnet-classes.service $(DESTDIR)$(UNITDIR)/cgnet-classes.service
	install -D -m 0755 $(BUILD)/service/cgnetd.openrc $(DESTDIR)$(INITDIR)/cgnetd
	install -d $(DESTDIR)$(DATADIR)/policies
	install -m 0644 policies/*.conf $(DESTDIR)$(DATADIR)/policies/

uninstall:
	rm -f $(addprefix $(DESTDIR),$(installed))
	rm -rf $(DESTDIR)$(DATADIR)

clean:
	rm -rf build build-san

-include $(wildcard $(BUILD)/src/*/*.d $(BUILD)/tests/*/*.d)
